import Foundation
import Strata
import Testing

/// The `strata` tool as its users meet it: arguments in, text and exit code out.
@Suite struct StrataToolTests {
    private static let gazetteer = StrataTool.file(ofPackage: "Models/Gazetteer.strata.yaml").path

    private static func temporary(_ name: String) -> String {
        FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString)-\(name)").path
    }

    @Test func checkAcceptsAModelAndNamesItsHash() throws {
        let run = try StrataTool.run("model", "check", Self.gazetteer)
        #expect(run.status == 0 && run.errors.isEmpty)
        #expect(run.output.contains("Gazetteer, 3 entities, version hash "))
    }

    @Test func checkPrintsAllFaultsWithTheirPlaces() throws {
        let path = Self.temporary("bad.strata.yaml")
        defer { try? FileManager.default.removeItem(atPath: path) }
        try """
        entities:
          Book:
            attributes:
              title: strin
            relationships:
              author: {to: Nobody}
        """.write(toFile: path, atomically: true, encoding: .utf8)
        let run = try StrataTool.run("model", "check", path)
        #expect(run.status == 1 && run.output.isEmpty)
        #expect(run.errors.contains("\(path):4:"))
        #expect(run.errors.contains("\(path):6:"))
        #expect(run.errors.split(separator: "\n").allSatisfy { $0.contains(": error: ") })
    }

    @Test func showGivesTextAndJSON() throws {
        let text = try StrataTool.run("model", "show", Self.gazetteer)
        #expect(text.status == 0 && text.output.contains("neighbours") && text.output.contains("delete deny"))
        let json = try StrataTool.run("model", "show", "--json", Self.gazetteer)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        let entities = try #require(object["entities"] as? [[String: Any]])
        #expect(entities.compactMap { $0["name"] as? String } == ["Continent", "Country", "City"])
        #expect(entities[2]["primaryKey"] as? String == "cityId")
    }

    @Test func showListsFetchedPropertiesAndFetches() throws {
        let path = Self.temporary("fetched.strata.yaml")
        defer { try? FileManager.default.removeItem(atPath: path) }
        let yaml = """
            entities:
              Note:
                attributes: {rank: integer64}
                fetched: {greater: {entity: Note, where: rank > $FETCH_SOURCE.rank, sort: [-rank], limit: 3}}
            fetches:
              top: {entity: Note, where: rank > $least}
            """
        try Data(yaml.utf8).write(to: URL(fileURLWithPath: path))
        let text = try StrataTool.run("model", "show", path)
        #expect(text.output.contains("where rank > $FETCH_SOURCE.rank, sorted by -rank, limit 3"))
        #expect(text.output.contains("where rank > $least"))
        let json = try StrataTool.run("model", "show", "--json", path)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        let entity = try #require((object["entities"] as? [[String: Any]])?.first)
        let fetched = try #require((entity["fetched"] as? [[String: Any]])?.first)
        #expect(fetched["name"] as? String == "greater" && fetched["entity"] as? String == "Note")
        #expect((object["fetches"] as? [[String: Any]])?.first?["condition"] as? String == "rank > $least")
        #expect(try StrataTool.run("model", "check", path).status == 0)
    }

    @Test(arguments: [("svg", "<svg"), ("mermaid", "erDiagram"), ("dot", "digraph")])
    func diagramDrawsInEachForm(format: String, beginning: String) throws {
        let run = try StrataTool.run("model", "diagram", Self.gazetteer, "--format", format)
        #expect(run.status == 0 && run.output.contains(beginning) && run.output.contains("Country"))
    }

    @Test func diagramIntoAMissingFolderIsOneLine() throws {
        let run = try StrataTool.run("model", "diagram", Self.gazetteer, "--output", "/no/such/folder/x.svg")
        #expect(run.status == 1 && run.errors.split(separator: "\n").count == 1)
    }

    @Test func infoCountsObjectsAndChecksTheFile() throws {
        let path = Self.temporary("info.sqlite")
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        var thing = Entity(name: "Thing", location: nil)
        thing.attributes = [Attribute("name", .string)]
        let model = try ManagedObjectModel(name: "Things", entities: [thing])
        let container = try PersistentContainer(model: model, at: .file(path: path))
        let context = container.newContext()
        for number in 0..<5 { try context.insert(entityNamed: "Thing")["name"] = "\(number)" }
        try context.save()
        container.close()

        let text = try StrataTool.run("store", "info", path)
        #expect(text.status == 0 && text.output.contains("Things") && text.output.contains("integrity ok"))
        let json = try StrataTool.run("store", "info", "--json", path)
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
        #expect((object["entities"] as? [[String: Any]])?.first?["count"] as? Int == 5)
        #expect(object["isSound"] as? Bool == true)
        #expect(object["versionHash"] as? String == model.versionHash)
    }

    @Test func aBackupIsAStoreAndReplacesNothing() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tool-backup-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (path, target) = (folder.appending(path: "a.sqlite").path, folder.appending(path: "b.sqlite").path)
        let model = try ManagedObjectModel(name: "Tool") { Entity("Thing") { Attribute("name", .string) } }
        let container = try PersistentContainer(model: model, at: .file(path: path))
        let context = container.newContext()
        try context.insert(entityNamed: "Thing")["name"] = "one"
        try context.save()
        let first = try StrataTool.run("store", "backup", path, target)
        #expect(first.status == 0 && first.output.hasPrefix("\(target): "))
        #expect(try StrataTool.run("store", "info", target).output.contains("Thing"))
        let second = try StrataTool.run("store", "backup", path, target)
        #expect(second.status == 1 && second.errors.contains("there is a file already"))
    }

    @Test func infoOfSomethingElseIsOneLine() throws {
        for path in [Self.gazetteer, "/no/such/file.sqlite", "/"] {
            let run = try StrataTool.run("store", "info", path)
            #expect(run.status == 1 && run.output.isEmpty)
            #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
        }
    }

    @Test func helpAndWrongArguments() throws {
        let help = try StrataTool.run("--help")
        #expect(help.status == 0 && help.output.contains("model") && help.output.contains("store"))
        #expect(try StrataTool.run("modle").status == 64)
    }
}
