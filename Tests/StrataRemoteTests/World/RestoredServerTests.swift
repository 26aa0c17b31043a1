import Foundation
import StrataStore
import StrataRemoteTesting
import Testing

/// Servers go back to a backup, and do not tell clients what they have lost. Nothing stays in a mirror that the server does not
/// have.
@Suite struct RestoredServerTests {
    /// A store with a mirror in memory, and the network between it and the server.
    private final class Client {
        let network: FaultInjectingBackend
        let store: RemoteStore
        let container: PersistentContainer
        private let context: ManagedObjectContext

        init(_ server: some RemoteBackend) throws {
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

        func insertOnline(_ id: String) async throws {
            let note = try context.insert(entityNamed: "Note")
            try note.setValue(id, forKey: "noteId")
            try await context.save(options: RemoteOptions(savePolicy: .networkThenCache))
        }

        func changeOnline(_ id: String, _ text: String) async throws {
            let all = try await context.fetch(FetchRequest<ManagedObject>(entity: "Note"))
            let note = try #require(try all.first { try $0.value(forKey: "noteId") as? String == id })
            try note.setValue(text, forKey: "text")
            try await context.save(options: RemoteOptions(savePolicy: .networkThenCache))
        }

        func texts() throws -> [String] {
            try container.newContext().fetch(FetchRequest<ManagedObject>(entity: "Note")).compactMap {
                try $0.value(forKey: "text") as? String
            }
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
        // The pull starts over and is cut off after its first page, again and again.
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

    /// A server that lets a test do something before it looks at the next pull, and before it answers the next write.
    private final class PausingServer: RemoteBackend {
        let memory = MemoryBackend()
        private let work = Guarded<(@Sendable () async throws -> Void)?>(nil)
        private let late = Guarded<(@Sendable () async throws -> Void)?>(nil)

        var name: String { memory.name }
        var capabilities: RemoteCapabilities { memory.capabilities }
        func check(_ operation: RemoteOperation) throws(RemoteError) { try memory.check(operation) }

        func beforeAnswer(_ body: @escaping @Sendable () async throws -> Void) { late.withLock { $0 = body } }

        func beforePull(_ body: @escaping @Sendable () async throws -> Void) { work.withLock { $0 = body } }

        func perform(
            _ operation: RemoteOperation, options: RequestOptions
        ) async throws(RemoteError) -> RemoteAnswer {
            let body: (@Sendable () async throws -> Void)? =
                if case .pull = operation {
                    work.withLock { work in
                        defer { work = nil }
                        return work
                    }
                } else { nil }
            do {
                try await body?()
            } catch {
                Issue.record(error)
            }
            let answer = try await memory.perform(operation, options: options)
            guard operation.written != nil else { return answer }
            do {
                try await late.withLock { late in
                    defer { late = nil }
                    return late
                }?()
            } catch {
                Issue.record(error)
            }
            return answer
        }
    }

    @Test func whatASaveBroughtWhileAPullBeganAnewIsFoundGone() async throws {
        let server = PausingServer()
        let client = try Client(server)
        let backup = server.memory.backUp()
        server.beforePull { [container = client.container] in
            let context = container.newContext()
            let note = try context.insert(entityNamed: "Note")
            try note.setValue("a", forKey: "noteId")
            try await context.save(options: RemoteOptions(savePolicy: .networkThenCache))
            #expect(server.memory.records.map(\.id) == ["a"])
            server.memory.restore(backup)
        }
        try await client.synchronize()
        #expect(try client.ids() == [])
    }

    @Test func whatASaveBringsBehindAPullThatBeganAnewIsFoundGone() async throws {
        let server = PausingServer()
        let client = try Client(server)
        let backup = server.memory.backUp()
        server.beforeAnswer { [sync = client.store.sync] in
            server.memory.restore(backup)
            try await sync.pull()
        }
        try await client.insertOnline("a")
        #expect(server.memory.records.isEmpty)
        try await client.synchronize()
        #expect(try client.ids() == [])
    }

    @Test func aSaveThatAnswersLateDoesNotHideWhatOthersMadeOfItMeanwhile() async throws {
        let server = PausingServer()
        let (client, other) = (try Client(server), try Client(server.memory))
        try await client.insertOnline("a")
        try await client.synchronize()
        server.beforeAnswer { [sync = client.store.sync, container = other.container, others = other.store.sync] in
            try await others.pull()
            let context = container.newContext()
            let note = try #require(try await context.fetch(FetchRequest<ManagedObject>(entity: "Note")).first)
            try note.setValue("theirs", forKey: "text")
            try await context.save(options: RemoteOptions(savePolicy: .networkThenCache))
            try await sync.pull()
        }
        try await client.changeOnline("a", "ours")
        try await client.synchronize()
        #expect(try client.texts() == ["theirs"])
    }
}
