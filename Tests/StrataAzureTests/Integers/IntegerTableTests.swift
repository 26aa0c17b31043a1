import Foundation
import Strata
import StrataAzure
import StrataRemoteTesting
import Testing

/// Tables of Mobile Services whose ids are integers that the server assigns, through stores.
@Suite struct AzureIntegerTableTests {
    private func texts(_ context: ManagedObjectContext) throws -> [String] {
        try context.notes().map { "\($0["noteId"] ?? 0) \($0["text"] ?? "")" }
    }

    @Test("What is saved to the server has the server's ids afterwards, in references, too")
    func online() async throws {
        let devices = try NumberedDevices()
        let (_, context) = try devices.open(isOnline: true)
        let (note, folder) = try context.insertNote("1")
        try await context.save(options: nil)
        #expect(folder["folderId"] as? Int64 == 1)
        #expect(note["noteId"] as? Int64 == 1)
        let made = devices.requests(.post)
        #expect(made.map(\.path) == ["/tables/Folder", "/tables/Note"])
        #expect(made.map(\.body) == [["name": "Work"], ["folder": 1, "text": "1"]])
        note["text"] = "2"
        try await context.save(options: nil)
        #expect(devices.requests(.patch).map(\.path) == ["/tables/Note/1"])
        #expect(devices.requests(.patch).map(\.body) == [["id": 1, "text": "2"]])
        context.delete(note)
        try await context.save(options: nil)
        #expect(devices.requests(.delete).map(\.path) == ["/tables/Note/1"])
        #expect(devices.server.rows("Note").isEmpty)
        #expect(devices.server.rows("Folder").count == 1)
    }

    @Test("What is made offline gets its ids by the push; changes, references and deletions follow")
    func offline() async throws {
        let devices = try NumberedDevices()
        let (store, context) = try devices.open(isOnline: false)
        let (note, folder) = try context.insertNote("1")
        let other = try context.insert(entityNamed: "Note")
        other["text"] = "other"
        try context.saveHere()
        #expect((note["noteId"] as? Int64 ?? 0) < 0)
        note["text"] = "2"
        try context.saveHere()
        try await store.sync.push()
        let found = try context.notes()
        #expect(Set(found) == [note, other])
        #expect(Set(found.map { $0["noteId"] as? Int64 }) == [1, 2])
        #expect(devices.requests(.post).count == 3)
        let id = try #require(note["noteId"] as? Int64)
        #expect(devices.server.rows("Note")[String(id)] == ["id": .integer(id), "text": "2", "folder": 1])

        note["stars"] = Int64(5)
        context.delete(other)
        try context.saveHere()
        let report = try await store.sync.push()
        #expect(report.results.map(\.action) == [.updated, .deleted])
        #expect(devices.requests(.patch).map(\.path) == ["/tables/Note/\(id)"])
        #expect(devices.requests(.patch).map(\.body) == [["id": .integer(id), "stars": 5]])
        #expect(devices.server.rows("Note").keys.sorted() == [String(id)])
        #expect(try store.sync.pendingCount() == 0)

        let (second, reader) = try devices.open(isOnline: false)
        try await second.sync.pull()
        let read = try #require(try reader.notes().first)
        #expect(read["noteId"] as? Int64 == id && read["stars"] as? Int64 == 5)
        #expect((read["folder"] as? ManagedObject)?["folderId"] as? Int64 == folder["folderId"] as? Int64)
    }

    @Test(
        "A pull reads all pages, takes changes and new rows, and finds out what was deleted", arguments: [true, false])
    func pull(keepsDeletedRows: Bool) async throws {
        let devices = try NumberedDevices(page: 2)
        for number in 1...7 {
            let row: JSONObject = ["id": .integer(Int64(number)), "text": .string("\(number)")]
            devices.server.change("Note", String(number), row)
        }
        let (store, context) = try devices.open(isOnline: false, keepsDeletedRows: keepsDeletedRows)
        try await store.sync.pull()
        #expect(try texts(context) == ["1 1", "2 2", "3 3", "4 4", "5 5", "6 6", "7 7"])
        #expect(devices.parameters("$skip", of: "Note") == ["2", "4", "6"])
        #expect(Set(devices.parameters("$inlinecount", of: "Note")) == ["allpages"])
        devices.server.change("Note", "3", ["text": "changed"])
        devices.server.change("Note", "4", nil)
        devices.server.change("Note", "8", ["id": 8, "text": "new", "folder": 0])
        try await store.sync.pull()
        #expect(try texts(context) == ["1 1", "2 2", "3 changed", "5 5", "6 6", "7 7", "8 new"])
        // A column of numbers has 0 for no other row.
        #expect(try context.notes().last?["folder"] == nil)
    }

    @Test("With a date column of the app's own, a pull reads the rows that are newer")
    func newer() async throws {
        let devices = try NumberedDevices(page: 2)
        func row(_ number: Int64, _ text: String, second: Int) -> JSONObject {
            let time = "2020-01-01T00:00:0\(second).000Z"
            return ["id": .integer(number), "text": .string(text), "changed": .string(time)]
        }
        for number in 1...3 { devices.server.change("Note", "\(number)", row(Int64(number), "old", second: number)) }
        let (store, context) = try devices.open(isOnline: false, modified: "changed")
        try await store.sync.pull()
        #expect(try texts(context) == ["1 old", "2 old", "3 old"])
        devices.server.change("Note", "1", row(1, "new", second: 5))
        devices.server.change("Note", "2", nil)
        try await store.sync.pull()
        #expect(try texts(context) == ["1 new", "3 old"])
        let asked = devices.parameters("$filter", of: "Note").dropFirst(1)
        #expect(asked.first?.hasPrefix("(changed ge datetime'2020-01-01T00:00:0") == true, "\(asked)")
    }

    @Test("Conditions compare ids and references as numbers")
    func conditions() async throws {
        let devices = try NumberedDevices()
        let (_, context) = try devices.open(isOnline: true)
        let (note, folder) = try context.insertNote("1")
        try context.insert(entityNamed: "Note")["text"] = "other"
        try await context.save(options: nil)
        let id = try #require(note["noteId"] as? Int64)
        let conditions = [
            try FetchPredicate(format: "folder == %@", folder), try FetchPredicate(format: "noteId == %d", id),
            try FetchPredicate(format: "SELF == %@", note), try FetchPredicate(format: "SELF IN %@", [note]),
        ]
        for condition in conditions {
            var request = FetchRequest<ManagedObject>(entity: "Note")
            request.predicate = condition
            request.storeOptions = RemoteOptions(fetchPolicy: .networkOnly)
            #expect(try await context.fetch(request) == [note], "\(condition)")
        }
        #expect(
            devices.parameters("$filter", of: "Note") == [
                "(folder eq 1)", "(id eq \(id))", "(id eq \(id))", "(id eq \(id))",
            ])
    }

    @Test("Tables of both kinds refer to each other, in a circle, too", arguments: [true, false])
    func mixed(isOnline: Bool) async throws {
        let devices = try NumberedDevices()
        let (store, context) = try devices.open(isOnline: isOnline)
        let (note, _) = try context.insertNote("1")
        let person = try context.insert(entityNamed: "Person")
        person["name"] = "Ann"
        person["favorite"] = note
        note["owner"] = person
        if isOnline { try await context.save(options: nil) } else { try context.saveHere() }
        try await store.sync.synchronize()
        try await store.sync.synchronize()
        #expect(try store.sync.pendingCount() == 0)
        _ = try context.notes()
        // People keep the key that they have here from the beginning.
        let name = try #require(person["personId"] as? String)
        let id = try #require(note["noteId"] as? Int64)
        let sent = try #require(devices.server.rows("Person")[name])
        #expect(sent["favorite"] == .integer(id))
        #expect(devices.server.rows("Note")[String(id)]?["owner"] == .string(name))
        #expect(devices.server.rows("Person").count == 1 && devices.server.rows("Note").count == 1)

        // Tables with texts for ids have versions and report what has changed and what was deleted.
        #expect(devices.parameters("$filter", of: "Person").contains { $0.hasPrefix("(__updatedAt ge") })
        #expect(devices.parameters("$filter", of: "Note").isEmpty)
        person["name"] = "Bea"
        if isOnline { try await context.save(options: nil) } else { try context.saveHere() }
        try await store.sync.synchronize()
        let change = try #require(devices.server.requests.last { $0.head.method == .patch })
        #expect(change.head.headerFields[.ifMatch] != nil)

        let (second, reader) = try devices.open(isOnline: false)
        try await second.sync.pull()
        let read = try #require(try reader.notes().first)
        #expect((read["owner"] as? ManagedObject)?["name"] as? String == "Bea")
        #expect((read["owner"] as? ManagedObject)?["favorite"] as? ManagedObject == read)
    }

    @Test("A push compares values, as rows have no versions: the policy decides where others changed the same")
    func conflicts() async throws {
        let devices = try NumberedDevices()
        devices.server.change("Note", "1", ["id": 1, "text": "1", "stars": 1])
        let (store, context) = try devices.open(isOnline: false)
        try await store.sync.pull()
        let note = try #require(try context.notes().first)
        // Changes of different columns are not in conflict.
        devices.server.change("Note", "1", ["stars": 2])
        note["text"] = "2"
        try context.saveHere()
        #expect(try await store.sync.push().results.map(\.action) == [.updated])
        #expect(devices.server.rows("Note")["1"] == ["id": 1, "text": "2", "stars": 2])
        // The same one is: the default is to take the server's value, and to send the rest.
        devices.server.change("Note", "1", ["text": "theirs"])
        note["text"] = "mine"
        note["stars"] = Int64(3)
        try context.saveHere()
        let report = try await store.sync.push()
        #expect(report.results.map(\.action) == [.merged(overridden: ["text"]), .updated])
        #expect(devices.server.rows("Note")["1"] == ["id": 1, "text": "theirs", "stars": 3])
        #expect(try texts(context) == ["1 theirs"])
        // A row that others have changed is not deleted.
        devices.server.change("Note", "1", ["text": "changed"])
        context.delete(note)
        try context.saveHere()
        #expect(try await store.sync.push().results.map(\.action) == [.serverWon])
        #expect(try texts(context) == ["1 changed"])
    }

    @Test("If the client wins, its values are sent, and a row that others deleted is made again under a new id")
    func clientWins() async throws {
        let devices = try NumberedDevices()
        let (store, context) = try devices.open(isOnline: false, policy: .clientWins)
        let (note, _) = try context.insertNote("1")
        try context.saveHere()
        try await store.sync.synchronize()
        devices.server.change("Note", "1", ["text": "theirs"])
        note["text"] = "mine"
        try context.saveHere()
        try await store.sync.push()
        #expect(devices.server.rows("Note")["1"]?["text"] == "mine")
        devices.server.change("Note", "1", nil)
        note["text"] = "again"
        try context.saveHere()
        try await store.sync.push()
        #expect(devices.server.rows("Note") == ["2": ["id": 2, "text": "again", "folder": 1]])
        #expect(try texts(context) == ["2 again"])
        #expect(try context.notes() == [note])
    }

    @Test("An id of 0 is none, and one that the app has chosen is replaced: the server assigns them")
    func zero() async throws {
        let devices = try NumberedDevices()
        let (store, context) = try devices.open(isOnline: false)
        for (text, id) in [("a", Int64(0)), ("b", 0), ("c", 99)] {
            let note = try context.insert(entityNamed: "Note")
            note["noteId"] = id
            note["text"] = text
        }
        try context.saveHere()
        #expect(try context.notes().filter { ($0["noteId"] as? Int64 ?? 0) < 0 }.count == 2)
        try await store.sync.push()
        #expect(devices.requests(.post).allSatisfy { $0.body?["id"] == nil } == true)
        #expect(Set(try context.notes().map { $0["noteId"] as? Int64 }) == [1, 2, 3])
    }

    // MARK: Lost answers

    private func pushWithoutAnswer(_ devices: NumberedDevices, _ store: RemoteStore) async {
        devices.server.losesAnswers = true
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        devices.server.losesAnswers = false
    }

    @Test("A creation whose answer was lost is sent again: the first row arrives with the next pull as another object")
    func lostAnswer() async throws {
        let devices = try NumberedDevices()
        let (store, context) = try devices.open(isOnline: false)
        let note = try context.insert(entityNamed: "Note")
        note["text"] = "1"
        try context.saveHere()
        await pushWithoutAnswer(devices, store)
        #expect(devices.server.rows("Note").count == 1)
        try await store.sync.push()
        #expect(devices.server.rows("Note").keys.sorted() == ["1", "2"])
        #expect(try context.notes() == [note])
        #expect(note["noteId"] as? Int64 == 2)
        try await store.sync.pull()
        #expect(try texts(context) == ["1 1", "2 1"])
        #expect(note["noteId"] as? Int64 == 2)
        // A change and a deletion whose answers were lost are done once.
        note["text"] = "2"
        try context.saveHere()
        await pushWithoutAnswer(devices, store)
        #expect(try await store.sync.push().results.map(\.action) == [.updated])
        context.delete(note)
        try context.saveHere()
        await pushWithoutAnswer(devices, store)
        try await store.sync.push()
        #expect(try store.sync.pendingCount() == 0)
        try await store.sync.pull()
        #expect(try texts(context) == ["1 1"])
    }

    @Test("The same holds for a save to the server: the context stays as it was, and the next save repeats it")
    func lostAnswerOfSave() async throws {
        let devices = try NumberedDevices()
        let (store, context) = try devices.open(isOnline: true)
        let note = try context.insert(entityNamed: "Note")
        note["text"] = "1"
        devices.server.losesAnswers = true
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        devices.server.losesAnswers = false
        #expect(context.hasChanges)
        try await context.save(options: nil)
        #expect(note["noteId"] as? Int64 == 2)
        try await store.sync.pull()
        #expect(try texts(context) == ["1 1", "2 1"])
    }

    @Test("A script of the table that knows a column without duplicates keeps a repeated creation from making two rows")
    func uniqueColumn() async throws {
        let devices = try NumberedDevices(uniqueColumn: "mark")
        let (store, context) = try devices.open(isOnline: false)
        let note = try context.insert(entityNamed: "Note")
        note["text"] = "1"
        note["mark"] = UUID()
        try context.saveHere()
        await pushWithoutAnswer(devices, store)
        try await store.sync.synchronize()
        #expect(devices.server.rows("Note").keys.sorted() == ["1"])
        #expect(try context.notes() == [note])
        #expect(note["noteId"] as? Int64 == 1)
    }
}
