import Foundation
import Strata
import StrataRemote

extension BackendSuite {
    static let synchronization: [Check] = [
        Check("what one client saves another one gets") { trial in
            let clients = [try SyncTrialClient(trial, seed: 1), try SyncTrialClient(trial, seed: 2)]
            try clients[0].insert("a", text: "1")
            try clients[0].insert("b", text: "2")
            for client in clients { try await client.synchronize() }
            try clients[1].update("a", text: "3")
            try clients[1].delete("b")
            for client in clients.reversed() { try await client.synchronize() }
            for client in clients { try await client.expect(["a": "3"]) }
        },
        Check("what is made offline and changed there arrives as it is at the end") { trial in
            let client = try SyncTrialClient(trial, seed: 1)
            try client.insert("a", text: "1")
            try client.update("a", text: "2")
            try client.insert("b", text: "1")
            try client.delete("b")
            try client.insert("c", text: nil)
            try await client.synchronize()
            try await client.expect(["a": "2", "c": nil])
        },
        Check("more objects arrive than fit into one request or page") { trial in
            let page = min(trial.backend.capabilities.maximumPage ?? 50, 300)
            let count = max(60, page + 1)
            let clients = [try SyncTrialClient(trial, seed: 1), try SyncTrialClient(trial, seed: 2)]
            var expected: [String: String?] = [:]
            for number in 0..<count {
                try clients[0].insert("n\(number)", text: "\(number)")
                expected["n\(number)"] = "\(number)"
            }
            for client in clients { try await client.synchronize() }
            for client in clients { try await client.expect(expected) }
        },
        Check("over a bad network all clients end with what the server has", keys: .chosenOrRepeatable) { trial in
            for seed in UInt64(1)...3 { try await overBadNetwork(trial, seed: seed) }
        },
    ]

    private static func overBadNetwork(_ trial: BackendTrial, seed: UInt64) async throws {
        let clients = [try SyncTrialClient(trial, seed: seed), try SyncTrialClient(trial, seed: seed &+ 1000)]
        for client in clients {
            client.network.rates = .init(lostRequests: 0.15, lostAnswers: 0.15, duplicates: 0.1)
        }
        /// The last text that was saved of each object; each has one client that changes it.
        var kept: [String: String] = [:]
        for round in 0..<8 {
            for (number, client) in clients.enumerated() {
                let id = "s\(seed)-\(number)-\(round)"
                try client.insert(id, text: "made by \(number)")
                kept[id] = "made by \(number)"
                if round > 1, kept["s\(seed)-\(number)-\(round - 2)"] != nil {
                    try client.update("s\(seed)-\(number)-\(round - 2)", text: "changed in \(round)")
                    kept["s\(seed)-\(number)-\(round - 2)"] = "changed in \(round)"
                }
                if round % 3 == 2 {
                    try client.delete("s\(seed)-\(number)-\(round - 1)")
                    kept["s\(seed)-\(number)-\(round - 1)"] = nil
                }
                // It may fail; what waits is sent the next time.
                _ = try? await client.store.sync.synchronize()
            }
        }
        for client in clients { client.network.rates = .init() }
        for _ in 0..<3 {
            for client in clients { try await client.synchronize() }
        }
        let server = try await trial.allNotes.filter { $0.id.hasPrefix("s\(seed)-") }
        try trial.expect(
            server.count == kept.count, "seed \(seed): the server has \(server.count) of \(kept.count) objects")
        for record in server {
            try trial.expect(
                BackendTrial.text(record) == kept[record.id],
                "seed \(seed): \(record.id) is \(BackendTrial.text(record) ?? "nil") instead of \(kept[record.id] ?? "gone")"
            )
        }
        for client in clients {
            let failed = try client.store.sync.failedChanges()
            try trial.expect(failed.isEmpty, "seed \(seed): \(failed.map { "\($0.identity): \($0.error)" }) failed")
            let notes = try client.notes()
            for record in server {
                let text = notes[record.id].map { $0 ?? "nil" } ?? "missing"
                try trial.expect(
                    text == BackendTrial.text(record) ?? "nil",
                    "seed \(seed): \(record.id) is \(text) at a client and \(BackendTrial.text(record) ?? "nil") at the server"
                )
            }
        }
    }
}

/// A store with a mirror in memory and a network of its own.
private final class SyncTrialClient {
    let network: FaultInjectingBackend
    let store: RemoteStore
    private let trial: BackendTrial
    private let container: PersistentContainer
    private let context: ManagedObjectContext

    init(_ trial: BackendTrial, seed: UInt64) throws {
        self.trial = trial
        network = FaultInjectingBackend(trial.backend, seed: seed)
        var options = RemoteStore.Options()
        options.fetchPolicy = .cacheOnly
        options.savePolicy = .cacheOnly
        options.sync.retries = 8
        options.sync.firstDelay = 0
        options.sync.longestDelay = 0
        store = try RemoteStore.open(
            model: trial.model, backend: network, location: .memory(name: nil), options: options)
        container = try PersistentContainer(store: store)
        context = container.newContext()
    }

    deinit { container.close() }

    func synchronize() async throws { try await store.sync.synchronize() }

    func insert(_ id: String, text: String?) throws {
        let note = try context.insert(entityNamed: "Note")
        try note.setValue(id, forKey: "noteId")
        try note.setValue(text, forKey: "text")
        try context.save()
    }

    func update(_ id: String, text: String) throws {
        guard let note = try find(id) else { return }
        try note.setValue(text, forKey: "text")
        try context.save()
    }

    func delete(_ id: String) throws {
        guard let note = try find(id) else { return }
        context.delete(note)
        try context.save()
    }

    private func find(_ id: String) throws -> ManagedObject? {
        try context.fetchFirst(
            FetchRequest(entity: "Note", where: .comparison(.keyPath(["noteId"]), .equal, .constant(.string(id)), [])))
    }

    /// The texts of all notes, by primary key.
    func notes() throws -> [String: String?] {
        var result: [String: String?] = [:]
        for note in try context.fetch(FetchRequest<ManagedObject>(entity: "Note")) {
            guard let id = try note.value(forKey: "noteId") as? String else { continue }
            result.updateValue(try note.value(forKey: "text") as? String, forKey: id)
        }
        return result
    }

    /// What server and client must have.
    func expect(_ expected: [String: String?]) async throws {
        let failed = try store.sync.failedChanges()
        try trial.expect(failed.isEmpty, "\(failed.map { "\($0.identity): \($0.error)" }) failed")
        let here = try notes()
        try trial.expect(here == expected, "a client has \(Self.text(here)) instead of \(Self.text(expected))")
        var there: [String: String?] = [:]
        for record in try await trial.allNotes { there.updateValue(BackendTrial.text(record), forKey: record.id) }
        try trial.expect(there == expected, "the server has \(Self.text(there)) instead of \(Self.text(expected))")
    }

    private static func text(_ notes: [String: String?]) -> String {
        let list = notes.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value ?? "nil")" }
        return list.count > 12 ? "\(list.count) notes" : "[\(list.joined(separator: ", "))]"
    }
}
