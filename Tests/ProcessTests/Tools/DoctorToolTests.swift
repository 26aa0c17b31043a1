import ChildProcesses
import Foundation
import Strata
import Testing

/// `strata doctor`: what it finds in sound and unsound stores, models, configurations and in the environment.
@Suite struct DoctorToolTests {
    let folder: URL
    var model: String { folder.appending(path: "App.strata.yaml").path }
    var store: String { folder.appending(path: "app.sqlite").path }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "strata-doctor-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    private func writeModel(_ attributes: String) throws {
        try write("model: App\nentities:\n  City:\n    attributes: {\(attributes)}\n", to: model)
    }

    private func fill(_ count: Int = 1) throws {
        let first = try ManagedObjectModel(name: "App") {
            Entity("City") {
                Attribute("name", .string)
                Attribute("nickname", .string).optional()
            }
        }
        let container = try PersistentContainer(model: first, at: .file(path: store))
        let context = container.newContext()
        for number in 0..<count {
            let city = try context.insert(entityNamed: "City")
            city["name"] = "Lima \(number) " + String(repeating: "x", count: 200)
            city["nickname"] = "L"
        }
        try context.save()
        container.close()
    }

    /// The findings of a run by the names of their checks.
    private func findings(_ run: StrataTool.Run) throws -> [String: [String: Any]] {
        let list = try #require(try run.json()["findings"] as? [[String: Any]])
        return Dictionary(list.compactMap { item in (item["check"] as? String).map { ($0, item) } }) { first, _ in first
        }
    }

    private func severity(_ check: String, _ arguments: String...) throws -> String? {
        try findings(try StrataTool.run(["doctor", "--json"] + arguments))[check]?["severity"] as? String
    }

    @Test("Without arguments it checks the environment")
    func environment() throws {
        let run = try StrataTool.run("doctor")
        #expect(run.status == 0 && run.output.hasPrefix("environment\n"), "\(run.output)\(run.errors)")
        #expect(run.output.contains("Strata needs 3.37.0 or newer") && run.output.contains("0 errors"))
        #expect(try severity("sqlite") == "ok")
        #expect(try severity("temporaryFiles") == "ok")
    }

    @Test("A sound store that fits its model has no errors, and nothing is written")
    func soundStore() throws {
        try fill()
        try writeModel("name: string, nickname: string?")
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let run = try StrataTool.run("doctor", store, "--model", model, "--json")
        let found = try findings(run)
        #expect(run.status == 0, "\(run.output)")
        #expect(try run.json()["errors"] as? Int == 0)
        for check in ["format", "integrity", "model", "writeAheadLog", "size", "disk"] {
            #expect(found[check]?["severity"] as? String == "ok", "\(check): \(run.output)")
        }
        #expect((found["format"]?["message"] as? String)?.contains("1 object,") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        #expect(try findings(try StrataTool.run("doctor", store, "--quick", "--json"))["integrity"] == nil)
    }

    @Test("An older model is a warning, a model that would lose data an error that names the step")
    func otherModel() throws {
        try fill()
        try writeModel("name: string, nickname: string?, size: integer64?")
        let older = try StrataTool.run("doctor", store, "--model", model)
        #expect(older.status == 0 && older.output.contains("City.size") && older.output.contains("1 warning"))
        #expect(try StrataTool.run("doctor", store, "--model", model, "--strict").status == 1)
        try writeModel("name: string")
        let lossy = try StrataTool.run("doctor", store, "--model", model)
        #expect(lossy.status == 1 && lossy.output.contains("City.nickname") && lossy.output.contains("strata migrate"))
    }

    @Test("A faulty model is an error with its place, and stores are checked all the same")
    func faultyModel() throws {
        try fill()
        try writeModel("name: strin")
        let run = try StrataTool.run("doctor", store, "--model", model)
        #expect(run.status == 1 && run.output.contains("\(model):4:") && run.output.contains("did you mean 'string'?"))
        #expect(run.output.contains("the file is sound"))
    }

    @Test("A missing file, the database of another application and a text are errors; nothing is created")
    func notAStore() throws {
        #expect(try StrataTool.run("doctor", store).status == 1)
        #expect(!FileManager.default.fileExists(atPath: store))
        try write("a text that is long enough to be looked at, but not a database", to: store)
        let text = try StrataTool.run("doctor", store)
        #expect(text.status == 1 && text.output.contains("error"), "\(text.output)")
    }

    @Test("A damaged file is an error that says to restore a backup")
    func damaged() throws {
        try fill(500)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: store))
        let size = try file.seekToEnd()
        try file.seek(toOffset: size / 2 / 4096 * 4096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 8192))
        try file.close()
        let run = try StrataTool.run("doctor", store)
        #expect(run.status == 1 && run.output.contains("backup"), "\(run.output)")
    }

    @Test("A write-ahead log that outgrows its store is a warning")
    func largeLog() throws {
        try fill()
        try write("", to: store + "-wal")
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: store + "-wal"))
        try file.truncate(atOffset: 80 << 20)
        try file.close()
        #expect(try severity("writeAheadLog", store) == "warning")
    }

    @Test("A model that differs from its lock file is a warning until it is recorded")
    func lockFile() throws {
        try writeModel("name: string")
        #expect(try StrataTool.run("model", "commit", model).status == 0)
        #expect(try severity("lock", "--model", model) == "ok")
        try writeModel("name: string, size: integer64?")
        #expect(try severity("lock", "--model", model) == "warning")
        try writeModel("size: integer64?")
        let run = try StrataTool.run("doctor", "--model", model)
        #expect(run.output.contains("loses data") && run.output.contains("renamedFrom"), "\(run.output)")
    }

    @Test("A server configuration that is missing is an error")
    func missingConfiguration() throws {
        let run = try StrataTool.run("doctor", "--config", folder.appending(path: "server.yaml").path)
        #expect(run.status == 1 && run.output.contains("there is no file at"))
    }

    @Test(
        "A server configuration is accepted or refused as strata-server says", .enabled(if: DoctorToolTests.hasServer))
    func configuration() throws {
        let path = folder.appending(path: "server.yaml").path
        try write("listen: {host: 127.0.0.1}\n", to: path)
        let accepted = try StrataTool.run("doctor", "--config", path)
        #expect(accepted.status == 0 && accepted.output.contains("strata-server accepts it"), "\(accepted.output)")
        try write("hosst: 127.0.0.1\n", to: path)
        let refused = try StrataTool.run("doctor", "--config", path)
        #expect(refused.status == 1 && refused.output.contains("hosst"), "\(refused.output)")
    }

    private static var hasServer: Bool { (try? TestExecutable.named("strata-server")) != nil }
}
