import Foundation
import MigrationWorld
import Strata
import Testing

/// Stages with code of their own.
@Suite struct StageTests {
    let file: VersionedFile

    init() throws { file = try VersionedFile() }

    private func fill(_ count: Int) throws {
        try file.open(try PeopleVersions.first()) { context throws in
            for number in 0..<count { try context.make("Person", ["name": "First\(number) Last\(number % 3)"]) }
        }
    }

    private func options(_ stages: MigrationStage...) -> SQLiteStore.Options {
        var options = VersionedFile.options(["Person.name": .accept])
        options.migration.stages = stages
        return options
    }

    @Test("A stage sees old and new objects side by side, in batches, and what comes after it is inferred")
    func sideBySide() throws {
        try fill(50)
        try file.open(try PeopleVersions.third(), options(try PeopleVersions.split())) { context throws in
            #expect(try context.texts("Human", "given") == (0..<50).map { "First\($0)" })
            #expect(
                try context.linked("City", "people", "lastName").map { Set($0) } == [["Last0"], ["Last1"], ["Last2"]])
        }
        try file.checkSoundness()
        try file.open(try PeopleVersions.third()) { context throws in #expect(try context.all("Human").count == 50) }
    }

    @Test("Each of several stages fetches from its own versions, and so does the app after them")
    func severalStages() throws {
        func people(_ more: String...) throws -> ManagedObjectModel {
            try version {
                Entity("Person") {
                    Attribute("name", .string)
                    for name in more { Attribute(name, .string).optional() }
                }
            }
        }
        let versions = [try people(), try people("note"), try people("note", "title")]
        try file.open(versions[0]) { context throws in
            for number in 0..<30 { try context.make("Person", ["name": "p\(number)"]) }
        }
        func stage(_ number: Int, _ property: String) -> MigrationStage {
            .custom(from: versions[number], to: versions[number + 1]) { migration in
                for person in try migration.new.fetch(FetchRequest<ManagedObject>(entity: "Person")) {
                    person[property] = "\(property) of \(person["name"] ?? "")"
                }
                try migration.new.save()
                migration.new.reset()
                let request = FetchRequest<ManagedObject>(
                    entity: "Person", where: try FetchPredicate(format: "\(property) == %@", "\(property) of p7"))
                #expect(try migration.new.fetch(request).map { $0["name"] as? String } == ["p7"])
            }
        }
        var options = options(stage(0, "note"), stage(1, "title"))
        options.migration.versions = versions
        try file.open(versions[2], options) { context throws in
            let people = try context.all("Person")
            #expect(people.count == 30)
            #expect(people.allSatisfy { $0["note"] as? String == "note of \($0["name"] ?? "")" })
            #expect(people.allSatisfy { $0["title"] as? String == "title of \($0["name"] ?? "")" })
        }
        try file.checkSoundness()
    }

    @Test("A stage that throws leaves the file as it was")
    func failing() throws {
        struct Failure: Error {}
        try fill(20)
        let before = try Data(contentsOf: URL(fileURLWithPath: file.path))
        let stage = MigrationStage.custom(from: try PeopleVersions.first(), to: try PeopleVersions.second()) {
            migration in
            var seen = 0
            try migration.forEach("Person", batchSize: 5) { old, new in
                new?["firstName"] = "x"
                seen += 1
                if seen == 12 { throw Failure() }
            }
        }
        let error = #expect(throws: PersistenceError.self) {
            try file.open(try PeopleVersions.second(), options(stage)) { _ in }
        }
        guard case .store(.migrationFailed(_, _, let reason))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("Failure"))
        try file.open(try PeopleVersions.first()) { context throws in
            #expect(try context.texts("Person", "name").first == "First0 Last0")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)).count == before.count)
    }

    @Test("A stage gives values of a type for which there is no conversion, and a missing one is an error")
    func withoutConversion() throws {
        let before = try version { Entity("Place") { Attribute("value", .geoPoint) } }
        let after = try version { Entity("Place") { Attribute("value", .date) } }
        try file.open(before) { context throws in
            for number in 0..<3 {
                try context.make("Place", ["value": GeoPoint(latitude: Double(number), longitude: 0)])
            }
        }
        func stage(_ count: Double) -> MigrationStage {
            .custom(from: before, to: after) { migration in
                try migration.forEach("Place") { old, new in
                    let latitude = (old["value"] as? GeoPoint)?.latitude ?? -1
                    if latitude < count { new?["value"] = Date(timeIntervalSinceReferenceDate: latitude) }
                }
            }
        }
        // A stage without code gives none.
        let empty = options(MigrationStage(from: before, to: after))
        #expect(throws: PersistenceError.self) { try file.open(after, empty) { _ in } }
        let error = #expect(throws: PersistenceError.self) { try file.open(after, options(stage(2))) { _ in } }
        guard case .store(.migrationFailed(_, _, let reason))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("1 objects have no Place.value"))
        try file.open(before) { context throws in #expect(try context.all("Place").count == 3) }
        try file.open(after, options(stage(3))) { context throws in
            let values = try context.all("Place").map { ($0["value"] as? Date)?.timeIntervalSinceReferenceDate ?? -1 }
            #expect(values == [0, 1, 2])
        }
        try file.checkSoundness()
    }

    @Test("A file that is older than the first stage goes through it, if the versions are known")
    func olderFile() throws {
        let oldest = try version { Entity("Person") { Attribute("fullName", .string) } }
        let named = try version { Entity("Person") { Attribute("name", .string).renamed(from: "fullName") } }
        try file.open(oldest) { try $0.make("Person", ["fullName": "Ada Lovelace"]) }
        let stage = MigrationStage.custom(from: named, to: try PeopleVersions.second()) { migration in
            try migration.forEach("Person") { old, new in new?["lastName"] = old["name"] }
        }
        var options = options(stage)
        let error = #expect(throws: PersistenceError.self) {
            try file.open(try PeopleVersions.second(), options) { _ in }
        }
        guard case .store(.migrationFailed)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        options.migration.versions = [oldest, named, try PeopleVersions.second()]
        try file.open(try PeopleVersions.second(), options) { context throws in
            #expect(try context.texts("Person", "lastName") == ["Ada Lovelace"])
        }
    }
}
