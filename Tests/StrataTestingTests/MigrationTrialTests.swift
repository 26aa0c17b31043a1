import Foundation
import Strata
import StrataTesting
import Testing

/// Trials of migrations find what is wrong, and let through what is right.
@Suite struct MigrationTrialTests {
    private func version(_ content: [Attribute]) throws -> ManagedObjectModel {
        var person = Entity(name: "Person", location: nil)
        person.attributes = content
        return try ManagedObjectModel(name: "Contacts", entities: [person])
    }

    private func versions() throws -> [ManagedObjectModel] {
        [
            try version([Attribute("name", .string)]),
            try version([Attribute("name", .string), Attribute("initials", .string).optional()]),
            try version([
                Attribute("firstName", .string).optional(), Attribute("lastName", .string).optional(),
                Attribute("initials", .string).optional(),
            ]),
        ]
    }

    private func stages(_ versions: [ManagedObjectModel]) -> [MigrationStage] {
        [
            .deferred("initials", from: versions[0], to: versions[1], forEach: "Person") { person in
                let words = (person["name"] as? String ?? "").split(separator: " ")
                person["initials"] = words.compactMap(\.first).map(String.init).joined()
            },
            .custom(from: versions[1], to: versions[2]) { migration in
                try migration.forEach("Person") { old, new in
                    let words = (old["name"] as? String ?? "").split(separator: " ").map(String.init)
                    new?["firstName"] = words.first
                    new?["lastName"] = words.last
                }
            },
        ]
    }

    private func fill(_ context: ManagedObjectContext) throws {
        for name in ["Ada Lovelace", "Grace Hopper"] { try context.insert(entityNamed: "Person")["name"] = name }
    }

    private func failure(_ body: () async throws -> Void) async -> MigrationTrialError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? MigrationTrialError
        }
    }

    @Test("Stages and deferred steps are run on a copy of a store that the trial makes")
    func making() async throws {
        let versions = try versions()
        let trial = MigrationTrial(versions: versions, stages: stages(versions), answers: ["Person.name": .accept])
        for version in 0...1 {
            var names: [String] = []
            try await trial.run(version: version, making: fill) { migrated in
                let people = try await migrated.container.newContext().fetch(
                    FetchRequest<ManagedObject>(entity: "Person"))
                names = people.map { "\($0["firstName"] ?? "") \($0["lastName"] ?? "") \($0["initials"] ?? "nil")" }
                #expect(migrated.report.plans.count == 2 - version)
            }
            let initials = version == 0 ? ["AL", "GH"] : ["nil", "nil"]
            #expect(names.sorted() == ["Ada Lovelace \(initials[0])", "Grace Hopper \(initials[1])"])
        }
    }

    @Test("A fixture is only read, with its values in files")
    func fixture() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "trial-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "a.sqlite").path
        let before = try version([Attribute("photo", .binary).externalStorage()])
        let after = try version([Attribute("image", .binary).renamed(from: "photo")])
        let photo = Data(repeating: 7, count: 300_000)
        let container = try PersistentContainer(model: before, at: .file(path: path))
        let context = container.newContext()
        try context.insert(entityNamed: "Person")["photo"] = photo
        try await context.save()
        container.close()
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))

        try await MigrationTrial(versions: [before, after]).run(fixture: path) { migrated in
            let person = try #require(
                try await migrated.container.newContext().fetch(FetchRequest<ManagedObject>(entity: "Person")).first)
            #expect(person["image"] as? Data == photo)
        }
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() == files)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == bytes)
        let unknown = await failure { try await MigrationTrial(versions: [after]).run(fixture: path) { _ in } }
        guard case .unknownVersion(path, _)? = unknown else {
            Issue.record("\(String(describing: unknown))")
            return
        }
    }

    @Test("A step whose result depends on the way is found")
    func wayMatters() async throws {
        let first = try version([Attribute("name", .string)])
        let second = try version([Attribute("name", .string), Attribute("token", .uuid, default: .newUUID)])
        var trial = MigrationTrial(versions: [first, second])
        let found = await failure { try await trial.run(making: fill) { _ in } }
        guard case .stepwiseDiffers(let lines)? = found else {
            Issue.record("\(String(describing: found))")
            return
        }
        #expect(lines.count == 4 && lines.allSatisfy { $0.contains("token") })
        trial.ignoredProperties = ["Person.token"]
        try await trial.run(making: fill) { _ in }
    }

    @Test("Failed assertions, refused migrations and missing versions end the run with their errors")
    func errors() async throws {
        struct Failed: Error {}
        let versions = try versions()
        let trial = MigrationTrial(versions: Array(versions[0...1]))
        await #expect(throws: Failed.self) { try await trial.run(making: fill) { _ in throw Failed() } }
        // No answer allows that the name is lost.
        let refused = MigrationTrial(versions: versions)
        await #expect(throws: StoreError.self) { try await refused.run(making: fill) { _ in } }
        #expect(await failure { try await trial.run(version: 5, making: fill) { _ in } } == .noVersions)
        await #expect(throws: StoreError.notFound(path: "/nowhere/a.sqlite")) {
            try await trial.run(fixture: "/nowhere/a.sqlite") { _ in }
        }
    }
}
