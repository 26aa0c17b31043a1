import ChildProcesses
import Foundation
import Strata
import Testing

/// `strata migrate`, `strata model commit` and `strata model diff`, and what the build plug-in's tool makes of a lock file.
@Suite struct MigrateToolTests {
    let folder: URL
    var model: String { folder.appending(path: "App.strata.yaml").path }
    var store: String { folder.appending(path: "app.sqlite").path }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "strata-migrate-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func write(_ attributes: String) throws {
        try Data("entities:\n  City:\n    attributes: {\(attributes)}\n".utf8).write(to: URL(fileURLWithPath: model))
    }

    private func fill() throws {
        let first = try ManagedObjectModel(name: "App") {
            Entity("City") {
                Attribute("name", .string)
                Attribute("nickname", .string).optional()
            }
        }
        let container = try PersistentContainer(model: first, at: .file(path: store))
        let context = container.newContext()
        let city = try context.insert(entityNamed: "City")
        city["name"] = "Lima"
        city["nickname"] = "L"
        try context.save()
        container.close()
    }

    @Test("Versions are recorded, compared, and a loss is recorded only when it is accepted")
    func versions() throws {
        try write("name: string, nickname: string?")
        let first = try StrataTool.run("model", "commit", model)
        #expect(first.status == 0 && first.output.contains("version 1"), "\(first.errors)")
        #expect(try StrataTool.run("model", "commit", model).output.contains("already"))
        try write("name: string, nickname: string?, size: integer64?")
        #expect(try StrataTool.run("model", "commit", model).output.contains("version 2"))
        try write("name: string, size: integer64?")
        let refused = try StrataTool.run("model", "commit", model)
        #expect(refused.status == 1 && refused.errors.contains("--accept City.nickname"))
        let diff = try StrataTool.run("model", "diff", model + "@2", model)
        #expect(diff.status == 1 && diff.output.contains("City.nickname") && diff.output.contains("loses data"))
        #expect(try StrataTool.run("model", "commit", model, "--accept", "City.nickname").status == 0)
        #expect(try StrataTool.run("model", "diff", model + "@3", model).output == "nothing to do\n")
        #expect(try StrataTool.run("model", "diff", model + "@9", model).errors.contains("no version 9"))
    }

    @Test("A plan and a dry run write nothing, a loss needs an answer, and then the store is migrated")
    func migrating() throws {
        try fill()
        try write("name: string, size: {type: integer64, default: 3}")
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let plan = try StrataTool.run("migrate", store, "--model", model)
        #expect(plan.status == 1 && plan.errors.contains("City.nickname") && plan.output.contains("City.size"))
        let dry = try StrataTool.run("migrate", store, "--model", model, "--dry-run", "--accept", "City.nickname")
        #expect(dry.status == 0 && dry.output.contains("unchanged"), "\(dry.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        let done = try StrataTool.run(
            "migrate", store, "--model", model, "--apply", "--accept", "City.nickname", "--keep-original")
        #expect(done.status == 0 && done.output.contains("migrated in"), "\(done.errors)")
        #expect(done.output.contains(".before-") && done.errors.contains("100%"))
        #expect(try StrataTool.run("migrate", store, "--model", model).output == "nothing to do\n")
    }

    @Test("Deferred steps that are not finished are shown, and stop a migration that comes after them")
    func deferredSteps() throws {
        try fill()
        func version(_ more: [Attribute]) throws -> ManagedObjectModel {
            try ManagedObjectModel(name: "App") {
                Entity("City") {
                    Attribute("name", .string)
                    Attribute("nickname", .string).optional()
                    for attribute in more { attribute }
                }
            }
        }
        let later = try version([Attribute("size", .integer64).optional()])
        var options = SQLiteStore.Options()
        options.migration.stages = [
            .deferred("sizes", from: try version([]), to: later, forEach: "City") { $0["size"] = 1 }
        ]
        try PersistentContainer(model: later, at: .file(path: store), options: options).close()

        #expect(try StrataTool.run("store", "info", store).output.contains("sizes: 0 of 1 objects of City"))
        let json = try StrataTool.run("store", "info", store, "--json").output
        let report = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        let steps = try #require(report["deferredSteps"] as? [[String: Any]])
        #expect(steps.map { $0["name"] as? String } == ["sizes"] && steps.map { $0["total"] as? Int } == [1])

        try write("name: string, nickname: string?, size: integer64?, height: integer64?")
        let added = try StrataTool.run("migrate", store, "--model", model, "--apply")
        #expect(added.status == 0 && added.output.contains("to be finished by the app: sizes"), "\(added.errors)")
        try write("name: string, size: integer64?, height: integer64?")
        let refused = try StrataTool.run("migrate", store, "--model", model, "--apply", "--accept", "City.nickname")
        #expect(refused.status == 1 && refused.errors.contains("\"sizes\""), "\(refused.errors)")
    }

    @Test("Versions in the lock file that change the result are stops on the way")
    func versionsOnTheWay() throws {
        try fill()
        try write("name: string, nickname: string?")
        #expect(try StrataTool.run("model", "commit", model).status == 0)
        try write("name: string, nickname: {type: string, default: none}")
        #expect(try StrataTool.run("model", "commit", model).status == 0)
        try write("name: string, nickname: string?, size: integer64?")
        let container = try PersistentContainer(
            model: try ManagedObjectModel(name: "App") {
                Entity("City") {
                    Attribute("name", .string)
                    Attribute("nickname", .string).optional()
                }
            }, at: .file(path: store))
        let context = container.newContext()
        try context.insert(entityNamed: "City")["name"] = "Quito"
        try context.save()
        container.close()
        #expect(try StrataTool.run("migrate", store, "--model", model, "--apply").status == 0)
        let later = try ManagedObjectModel(name: "App") {
            Entity("City") {
                Attribute("name", .string)
                Attribute("nickname", .string).optional()
                Attribute("size", .integer64).optional()
            }
        }
        let migrated = try PersistentContainer(model: later, at: .file(path: store))
        let names = try migrated.newContext().fetch(FetchRequest<ManagedObject>(entity: "City")).map {
            $0["nickname"] as? String
        }
        #expect(Set(names) == ["L", "none"])
        migrated.close()
    }

    @Test("A version of the lock file is a target, too")
    func toVersion() throws {
        try fill()
        try write("name: string, nickname: string?, size: integer64?")
        #expect(try StrataTool.run("model", "commit", model).status == 0)
        try write("name: string, nickname: string?, size: integer64?, height: integer64?")
        let done = try StrataTool.run("migrate", store, "--model", model, "--to", "1", "--apply")
        #expect(
            done.status == 0 && done.output.contains("City.size") && !done.output.contains("City.height"),
            "\(done.errors)")
    }

    @Test("The generator warns of a change that is not recorded, and fails if it would lose data")
    func generator() throws {
        try write("name: string, nickname: string?")
        #expect(try StrataTool.run("model", "commit", model).status == 0)
        func generate() throws -> (status: Int32, errors: String) {
            let process = Process()
            process.executableURL = try TestExecutable.named("strata-generate")
            process.arguments = ["--model", model, "--output", folder.appending(path: "out").path]
            let pipe = Pipe.forLaunch()
            process.standardError = pipe
            try process.start()
            let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            return (process.terminationStatus, text)
        }
        #expect(try generate() == (0, ""))
        try write("name: string, nickname: string?, size: integer64?")
        let warned = try generate()
        #expect(warned.status == 0 && warned.errors.contains("warning: the model has changed since version 1"))
        try write("name: string")
        let failed = try generate()
        #expect(failed.status == 1 && failed.errors.contains("error: City.nickname"), "\(failed.errors)")
        try write("name: string, alias: {type: string?, renamedFrom: nickname}")
        #expect(try generate().status == 0)
    }
}
