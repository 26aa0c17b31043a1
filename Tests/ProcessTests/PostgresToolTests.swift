import Foundation
import Strata
import Testing

#if Postgres
    import PostgresFixture

    @Suite("The strata tool on PostgreSQL", .needsPostgres)
    struct PostgresToolTests {
        private let model: ManagedObjectModel
        private let folder: URL
        private var file: String { folder.appending(path: "app.sqlite").path }

        init() throws {
            model = try ManagedObjectModel(name: "Notes") {
                Entity("Note") {
                    Attribute("title", .string)
                    Attribute("text", .string, optional: true)
                    Attribute("scan", .binary, optional: true).externalStorage()
                    Relationship("tags", to: "Tag", .toMany, inverse: "notes")
                }
                Entity("Tag") {
                    Attribute("name", .string).unique()
                    Relationship("notes", to: "Note", .toMany, inverse: "tags")
                }
            }
            folder = FileManager.default.temporaryDirectory.appending(path: "strata-tool-\(UUID())")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }

        private func fill() throws {
            let container = try PersistentContainer(model: model, at: .file(path: file))
            defer { container.close() }
            let context = container.newContext()
            let tag = try context.insert(entityNamed: "Tag")
            try tag.setValue("red", forKey: "name")
            for number in 0..<20 {
                let note = try context.insert(entityNamed: "Note")
                try note.setValue("Note \(number)", forKey: "title")
                try note.setValue(Set([tag]), forKey: "tags")
            }
            try context.save()
        }

        @Test("A store is copied there and back without its model, and looked into")
        func copy() throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            try fill()
            let url = try PostgresServer.shared.newDatabase()
            let there = try StrataTool.run("store", "copy", file, url, "--json")
            #expect(there.status == 0, "\(there.errors)")
            let back = folder.appending(path: "back.sqlite").path
            let again = try StrataTool.run("store", "copy", url, back, "--json")
            #expect(again.status == 0, "\(again.errors)")
            func parts(_ run: StrataTool.Run) throws -> [String] {
                let report = try run.json()
                return try ["entities", "relationships"].flatMap { key in
                    try #require(report[key] as? [[String: Any]]).map {
                        "\($0["name"] ?? "") \($0["count"] ?? "") \($0["checksum"] ?? "")"
                    }
                }
            }
            #expect(try parts(there) == parts(again))
            #expect(
                try parts(there).map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
                    == ["Note 20", "Tag 1", "Note.tags 20"])
            let copied = try PersistentContainer(model: model, at: .file(path: back))
            defer { copied.close() }
            #expect(try copied.newContext().count(FetchRequest<ManagedObject>(entity: "Note")) == 20)
            let original = try PersistentContainer(model: model, at: .file(path: file))
            #expect(copied.store.identifier == original.store.identifier)
            original.close()

            let info = try StrataTool.run("store", "info", url, "--json")
            #expect(info.status == 0, "\(info.errors)")
            #expect(try info.json()["isSound"] as? Bool == true)
            #expect(try info.json()["model"] as? String == "Notes")
            #expect(try StrataTool.run("store", "info", url).output.contains("integrity ok"))

            // Neither of the targets is empty any more.
            let full = try StrataTool.run("store", "copy", file, url)
            #expect(full.status == 1 && full.errors.contains("empty"))
            let exists = try StrataTool.run("store", "copy", url, back)
            #expect(exists.status == 1 && exists.errors.contains("exists"))
            let nothing = try StrataTool.run("store", "copy", try PostgresServer.shared.newDatabase(), back + "2")
            #expect(nothing.status == 1 && nothing.errors.contains("no store"))
            #expect(!FileManager.default.fileExists(atPath: back + "2"))
        }
    }
#else
    @Suite("The strata tool without PostgreSQL") struct PostgresToolTests {
        @Test("It says how to build it with PostgreSQL")
        func missing() throws {
            let url = "postgres://app@db.example.com/app"
            for arguments in [["store", "info", url], ["store", "copy", url, "/nonexistent/a.sqlite"]] {
                let run = try StrataTool.run(arguments)
                #expect(run.status == 1)
                #expect(run.errors.contains("--traits CommandLine,Postgres"))
            }
        }
    }
#endif
