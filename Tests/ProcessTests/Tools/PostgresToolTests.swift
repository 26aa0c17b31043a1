import Foundation
import Strata
import StrataModelFiles
import Testing

#if Postgres
    import PostgresFixture
    import StrataModelExport

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

        @Test("The doctor checks tables, model and server of a database, and prints no password")
        func doctor() throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            try fill()
            let url = try PostgresServer.shared.newDatabase()
            #expect(try StrataTool.run("store", "copy", file, url).status == 0)
            func findings(_ arguments: String...) throws -> (status: Int32, severities: [String: String], text: String)
            {
                let run = try StrataTool.run(["doctor", "--json"] + arguments)
                let list = try #require(try run.json()["findings"] as? [[String: Any]])
                let own = list.filter { ($0["subject"] as? String)?.hasPrefix("store postgres") == true }
                let pairs = own.map { ($0["check"] as? String ?? "", $0["severity"] as? String ?? "") }
                return (run.status, Dictionary(pairs) { $1 }, run.output)
            }
            let yaml = folder.appending(path: "Notes.strata.yaml").path
            try Data(ModelFile(model: model).yaml().utf8).write(to: URL(filePath: yaml))
            let secret = url.replacing("strata@", with: "strata:topsecret@")
            let sound = try findings(secret, "--model", yaml)
            #expect(sound.status == 0)
            #expect(
                sound.severities == ["format": "ok", "integrity": "ok", "model": "ok", "size": "ok", "sessions": "ok"])
            #expect(!sound.text.contains("topsecret"))

            let other = "model: Notes\nentities: {Note: {attributes: {title: string}}}"
            try Data(other.utf8).write(to: URL(filePath: yaml))
            let blocked = try findings(url, "--model", yaml, "--quick")
            #expect(blocked.status == 1 && blocked.severities["model"] == "error")
            #expect(blocked.severities["integrity"] == nil)

            try PostgresServer.shared.run("ALTER TABLE note DROP COLUMN text", in: url)
            let damaged = try findings(url)
            #expect(damaged.status == 1 && damaged.severities["integrity"] == "error")
            #expect(damaged.text.contains("the column text of note is missing"))
            let empty = try findings(try PostgresServer.shared.newDatabase())
            #expect(empty.status == 1 && empty.severities == ["open": "error"])
        }

        @Test("A plan and a trial change nothing, a loss needs an answer, and then the database is migrated")
        func migrating() throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            try fill()
            let url = try PostgresServer.shared.newDatabase()
            #expect(try StrataTool.run("store", "copy", file, url).status == 0)
            let later = folder.appending(path: "Notes.strata.yaml")
            let text = """
                model: Notes
                entities:
                  Note:
                    attributes:
                      title: string
                      pages: {type: integer64, default: 3}
                      scan: {type: binary, optional: true, externalStorage: true}
                    relationships: {tags: {toMany: Tag, inverse: notes}}
                  Tag:
                    attributes: {name: {type: string, unique: true}}
                    relationships: {notes: {toMany: Note, inverse: tags}}
                """
            try Data(text.utf8).write(to: later)
            let migrate = ["migrate", url, "--model", later.path]

            let plan = try StrataTool.run(migrate)
            #expect(plan.status == 1 && plan.output.contains("Note.pages") && plan.errors.contains("Note.text"))
            let accepted = migrate + ["--accept", "Note.text"]
            let trial = try StrataTool.run(accepted + ["--dry-run"])
            #expect(trial.status == 0 && trial.output.contains("taken back"), "\(trial.errors)")
            #expect(try StrataTool.run(migrate).output == plan.output)
            #expect(try StrataTool.run(accepted + ["--keep-original", "--apply"]).status == 1)
            let done = try StrataTool.run(accepted + ["--apply"])
            #expect(done.status == 0 && done.output.contains("migrated in"), "\(done.errors)")
            #expect(done.errors.contains("100%"))
            #expect(try StrataTool.run(migrate).output == "nothing to do\n")

            let back = folder.appending(path: "back.sqlite").path
            #expect(try StrataTool.run("store", "copy", url, back).status == 0)
            let container = try PersistentContainer(
                model: try ModelFile.read(path: later.path).model(), at: .file(path: back))
            defer { container.close() }
            let notes = try container.newContext().fetch(FetchRequest<ManagedObject>(entity: "Note"))
            #expect(notes.count == 20 && notes.allSatisfy { $0["pages"] as? Int64 == 3 })
        }
    }
#else
    @Suite("The strata tool without PostgreSQL") struct PostgresToolTests {
        @Test("It says how to build it with PostgreSQL")
        func missing() throws {
            let url = "postgres://app@db.example.com/app"
            for arguments in [
                ["store", "info", url], ["store", "copy", url, "/nonexistent/a.sqlite"],
                ["migrate", url, "--model", "Models/Gazetteer.strata.yaml"],
            ] {
                let run = try StrataTool.run(arguments)
                #expect(run.status == 1)
                #expect(run.errors.contains("--traits CommandLine,Postgres"))
            }
            let doctor = try StrataTool.run("doctor", url)
            #expect(doctor.status == 1 && doctor.output.contains("--traits CommandLine,Postgres"))
        }
    }
#endif
