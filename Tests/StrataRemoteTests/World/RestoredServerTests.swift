import Foundation
import StrataTesting
import Testing

/// Servers go back to a backup, and do not tell clients what they have lost. Nothing stays in a mirror that the server does not
/// have.
@Suite struct RestoredServerTests {
    /// A store with a mirror in memory, and the network between it and the server.
    private final class Client {
        let network: FaultInjectingBackend
        let store: RemoteStore
        private let container: PersistentContainer
        private let context: ManagedObjectContext

        init(_ server: MemoryBackend) throws {
            let model = try ManagedObjectModel(name: "Notes") {
                Entity("Note") {
                    Attribute("noteId", .string)
                    Attribute("text", .string, optional: true)
                }
            }
            network = FaultInjectingBackend(server, seed: 1)
            var options = RemoteStore.Options()
            options.fetchPolicy = .cacheOnly
            options.savePolicy = .cacheOnly
            options.sync.retries = 0
            options.sync.pageSize = 2
            store = try RemoteStore.open(model: model, backend: network, location: .memory(name: nil), options: options)
            container = try PersistentContainer(store: store)
            context = container.newContext()
        }

        deinit { container.close() }

        func insert(_ ids: String...) throws {
            for id in ids {
                let note = try context.insert(entityNamed: "Note")
                try note.setValue(id, forKey: "noteId")
            }
            try context.save()
        }

        func ids() throws -> [String] {
            try context.fetch(FetchRequest<ManagedObject>(entity: "Note")).compactMap {
                try $0.value(forKey: "noteId") as? String
            }
            .sorted()
        }

        func synchronize() async throws { try await store.sync.synchronize() }
    }

    @Test func whatWasSentBeforeTheFirstPullIsFoundGone() async throws {
        let server = MemoryBackend()
        let client = try Client(server)
        let backup = server.backUp()
        try client.insert("a")
        try await client.store.sync.push()
        server.restore(backup)
        try await client.store.sync.pull()
        #expect(try client.ids() == [])
    }

    @Test func whatWasKnownBeforeACutOffIsFoundGone() async throws {
        let server = MemoryBackend()
        let (writer, reader) = (try Client(server), try Client(server))
        try writer.insert("a", "b", "c", "d", "e")
        try await writer.synchronize()
        let backup = server.backUp()
        try writer.insert("lost")
        try await writer.synchronize()
        try await reader.synchronize()
        #expect(try reader.ids() == ["a", "b", "c", "d", "e", "lost"])
        server.restore(backup)
        // The pull begins anew and is cut off behind its first page, again and again.
        var rest = 4
        while rest > 0 {
            rest -= 1
            reader.network.rates = .init(lostAnswers: 0.5)
            _ = try? await reader.store.sync.pull()
        }
        reader.network.rates = .init()
        try await reader.store.sync.pull()
        #expect(try reader.ids() == ["a", "b", "c", "d", "e"])
    }

    @Test func whatIsStillThereStays() async throws {
        let server = MemoryBackend()
        let client = try Client(server)
        try client.insert("a", "b", "c")
        try await client.synchronize()
        server.restore(server.backUp())
        try client.insert("d")
        try await client.synchronize()
        #expect(try client.ids() == ["a", "b", "c", "d"])
        #expect(Set(server.records.map(\.id)) == ["a", "b", "c", "d"])
    }

    @Test func aCreationThatWasPurgedBeforeItsAnswerComesBack() async throws {
        let server = MemoryBackend()
        let client = try Client(server)
        try client.insert("a")
        client.network.rates = .init(lostAnswers: 1)
        await #expect(throws: SyncError.self) { try await client.store.sync.push() }
        client.network.rates = .init()
        try await client.store.sync.pull()
        try client.store.sync.purge([RemoteIdentity(entity: "Note", id: "a")])
        try await client.synchronize()
        #expect(try client.ids() == ["a"])
    }
}
