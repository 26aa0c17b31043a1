import Foundation
import Strata
import StrataRemote

extension BackendSuite {
    static let assignedKeys: [Check] = [
        Check("a new object gets a key of the server's, by which it is found", needs: .assignsIDs) { trial in
            var keys: Set<String> = []
            for number in 1...3 {
                let record = try await named(trial, number, text: "\(number)")
                try trial.expect(keys.insert(record.id).inserted, "two objects have the key \(record.id)")
                let text = try await trial.text(record.id)
                try trial.expect(
                    text == "\(number)", "the object of the key \(record.id) has the text \(text ?? "nil")")
            }
            let found = Set(try await trial.allNotes.map(\.id))
            try trial.expect(found == keys, "a query finds \(found.sorted()), the creations gave \(keys.sorted())")
        },
        Check("changes, references and deletions go by the server's keys", needs: .assignsIDs) { trial in
            let made = try await trial.done(
                .create(entity: trial.folder, [RemoteWrite(id: trial.newKey(1))]), "the creation of a folder")
            guard let folder = made?.id else { throw untold }
            let kept = try await named(trial, 2, text: "1", ["folder": .reference(folder)]).id
            let other = try await named(trial, 3, text: "1").id
            try await trial.update(kept, text: "2")
            try await trial.delete(other)
            let record = try await trial.read(kept)
            try trial.expect(
                record.values["folder"] == .reference(folder),
                "a reference to \(folder) is \(String(describing: record.values["folder"]))")
            try trial.expect(BackendTrial.text(record) == "2", "the change of \(kept) is lost")
            let rest = try await trial.allNotes.map(\.id)
            try trial.expect(rest == [kept], "after the deletion of \(other) there are \(rest)")
        },
        Check("a creation that comes twice has one key", needs: [.assignsIDs, .idempotencyTokens]) { trial in
            let token = UUID()
            let first = try await named(trial, 1, text: "1", token: token).id
            let second = try await named(trial, 1, text: "1", token: token).id
            try trial.expect(first == second, "one creation gave the keys \(first) and \(second)")
        },
        Check("what is made offline has the server's keys after a synchronization", needs: .assignsIDs) { trial in
            let stores = [try store(trial), try store(trial)]
            try fill(stores[0])
            for store in stores { try await store.sync.synchronize() }
            let records = try await trial.allNotes
            try trial.expect(
                records.count == 1 && records[0].values["text"] == .value(.string("2")), "the server has \(records)")
            guard case .reference(let folder?)? = records[0].values["folder"] else {
                throw BackendTrial.Unmet(message: "the note at the server has no folder")
            }
            for store in stores {
                let found = try notes(store)
                try trial.expect(
                    found == ["\(records[0].id) in \(folder)"],
                    "the server has \(records[0].id) in \(folder), and a client after a synchronization \(found)")
            }
        },
    ]

    private static let untold = BackendTrial.Unmet(message: "the outcome of a creation does not tell the key")

    private static func named(
        _ trial: BackendTrial, _ number: Int, text: String, _ values: [String: RemoteValue] = [:], token: UUID = UUID()
    ) async throws -> RemoteRecord {
        guard let record = try await trial.create(trial.newKey(number), text: text, values, token: token) else {
            throw untold
        }
        return record
    }

    private static func store(_ trial: BackendTrial) throws -> RemoteStore {
        var options = RemoteStore.Options()
        options.savePolicy = .cacheOnly
        options.fetchPolicy = .cacheOnly
        options.pushesAutomatically = false
        return try RemoteStore.open(
            model: trial.model, backend: trial.backend, location: .memory(name: nil), options: options)
    }

    /// Makes a folder and a note in it, and changes the note.
    private static func fill(_ store: RemoteStore) throws {
        let context = try PersistentContainer(store: store).newContext()
        let folder = try context.insert(entityNamed: "Folder")
        let note = try context.insert(entityNamed: "Note")
        note["text"] = "1"
        note["folder"] = folder
        try context.save()
        note["text"] = "2"
        try context.save()
    }

    /// The keys of the notes and of their folders.
    private static func notes(_ store: RemoteStore) throws -> [String] {
        let context = try PersistentContainer(store: store).newContext()
        func key(_ object: ManagedObject?, _ field: String) -> String { object?[field].map { "\($0)" } ?? "nil" }
        return try context.fetch(FetchRequest<ManagedObject>(entity: "Note")).map { note in
            key(note, "noteId") + " in " + key(note["folder"] as? ManagedObject, "folderId")
        }
    }
}

extension BackendTrial {
    /// A key as a new object has it before the server gives it another.
    fileprivate func newKey(_ number: Int) -> String {
        note.primaryKeyField.flatMap { note.attribute(named: $0) }?.type == .integer64 ? "-\(number)" : "new-\(number)"
    }
}
