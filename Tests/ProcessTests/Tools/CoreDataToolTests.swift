import Foundation
import Testing

/// `strata coredata`, on the stores of StrataCoreDataTests.
struct CoreDataToolTests {
    /// A store in a folder of its own.
    private static func copy(_ name: String) throws -> String {
        let source = StrataTool.file(ofPackage: "Tests/StrataCoreDataTests/Samples/\(name)")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let target = folder.appendingPathComponent("Store.sqlite")
        try FileManager.default.copyItem(at: source, to: target)
        return target.path
    }

    @Test func infoPrintsEntitiesAndVersions() throws {
        let path = try Self.copy("CoreDataPlus-SampleModel_V1.sqlite")
        let run = try StrataTool.run("coredata", "info", path)
        #expect(run.status == 0)
        #expect(run.output.contains("ExpensiveSportCar") && run.output.contains("its hashes match"))
        #expect(run.output.contains("integrity ok"))
        let json = try StrataTool.run("coredata", "info", path, "--json", "--quick").json()
        #expect(json["frameworkVersion"] as? Int == 1044 && json["modelOrigin"] as? String == "cache")
        let entities = try #require(json["entities"] as? [[String: Any]])
        #expect(entities.map { $0["count"] as? Int } == [115, 5, 5, 20])
        #expect(try StrataTool.run("coredata", "info", "/nowhere.sqlite").status == 1)
    }

    @Test func checkNamesBrokenRules() throws {
        let path = try Self.copy("CoreDataPlus-SampleModel_V1.sqlite")
        let run = try StrataTool.run("coredata", "check", path)
        #expect(run.status == 0 && run.output.contains("keeps all rules"))
        let json = try StrataTool.run("coredata", "check", path, "--json").json()
        #expect((json["problems"] as? [Any])?.isEmpty == true)
        #expect(try StrataTool.run("coredata", "check", "/nowhere.sqlite").status == 1)

        let text = path + ".txt"
        try Data(repeating: 65, count: 2000).write(to: URL(fileURLWithPath: text))
        #expect(try StrataTool.run("coredata", "check", text).errors.contains("not a"))
    }

    @Test func exportWritesAStore() throws {
        let path = try Self.copy("CoreDataPlus-SampleModel_V2.sqlite")
        let target = path + ".strata"
        let run = try StrataTool.run("coredata", "export", path, "--to", target)
        #expect(run.status == 0, "\(run.output)\(run.errors)")
        #expect(run.output.contains("LuxuryCar") && run.output.contains("115"))
        #expect(run.errors.contains("100%"))
        let info = try StrataTool.run("store", "info", target)
        #expect(info.status == 0 && info.output.contains("LuxuryCar"))
        let again = try StrataTool.run("coredata", "export", path, "--to", target)
        #expect(again.status == 2 && again.errors.contains("exists already"))
        let json = try StrataTool.run("coredata", "export", path, "--to", target + "2", "--json").json()
        #expect(json["isComplete"] as? Bool == true)
        #expect(
            try StrataTool.run(
                "coredata", "export", path, "--to", target + "3", "--model", "/nowhere.momd"
            ).status == 2
        )
    }

    @Test func createMakesAnEmptyStore() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(
            UUID().uuidString + ".sqlite"
        ).path
        let model = StrataTool.file(ofPackage: "Tests/StrataCoreDataTests/Samples/SampleModel.xcdatamodeld").path
        let run = try StrataTool.run(
            "coredata", "create", path, "--model", model, "--version", "SampleModel2")
        #expect(run.status == 0, "\(run.errors)")
        let json = try StrataTool.run("coredata", "info", path, "--model", model, "--json").json()
        #expect(
            json["modelVersion"] as? String == "SampleModel2"
                && json["hasMatchingHashes"] as? Bool == true)
        #expect(try StrataTool.run("coredata", "create", path, "--model", model).status == 1)
    }
}
