import Foundation
import Strata
import StrataRemote
import StrataStore
import StrataRemoteTesting
import Testing

/// Objects that are deleted here before the server has said which keys it has given them.
@Suite struct DeletedBirthTests {
    /// A server that assigns keys, and what happens between a creation and its answer.
    private final class Server: RemoteBackend {
        let base = MemoryBackend(features: MemoryBackend.allFeatures.union(.assignsIDs))
        let afterCreation = Guarded<(@Sendable () throws(RemoteError) -> Void)?>(nil)

        var name: String { base.name }
        var capabilities: RemoteCapabilities { base.capabilities }
        func check(_ operation: RemoteOperation) throws(RemoteError) { try base.check(operation) }

        func perform(
            _ operation: RemoteOperation, options: RequestOptions
        ) async throws(RemoteError) -> RemoteAnswer {
            let answer = try await base.perform(operation, options: options)
            if case .create = operation, let hook = afterCreation.withLock({ $0 }) { try hook() }
            return answer
        }
    }

    private static func model(_ key: AttributeType) throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Notes") {
            Entity("Note", primaryKey: "noteId") {
                Attribute("noteId", key, optional: true)
                Attribute("text", .string, optional: true)
            }
        }
    }

    /// A store with a new object that the server does not have yet.
    private static func open(_ server: Server, _ key: AttributeType) async throws -> (RemoteStore, PersistentContainer)
    {
        var options = RemoteStore.Options()
        (options.fetchPolicy, options.savePolicy, options.pushesAutomatically) = (.cacheOnly, .cacheOnly, false)
        options.sync.retries = 0
        let store = try RemoteStore.open(
            model: model(key), backend: server, location: .memory(name: nil), options: options)
        let container = try PersistentContainer(store: store)
        let context = container.newContext()
        try context.insert(entityNamed: "Note")["text"] = "a"
        try await context.save()
        return (store, container)
    }

    /// After a synchronization the object is gone, here and at the server, and stays so.
    private static func expectGone(
        _ server: Server, _ store: RemoteStore, _ container: PersistentContainer
    ) async throws {
        let report = try await store.sync.synchronize()
        #expect(report.failures.isEmpty, "\(report.failures)")
        try await store.sync.synchronize()
        #expect(server.base.records.isEmpty)
        #expect(try await container.newContext().count(FetchRequest<ManagedObject>(entity: "Note")) == 0)
        #expect(try store.sync.pendingCount() == 0)
    }

    private static func deleteAll(_ container: PersistentContainer) throws {
        let context = container.newContext()
        for note in try context.fetch(FetchRequest<ManagedObject>(entity: "Note")) { context.delete(note) }
        try context.save()
    }

    @Test(
        "An object that is deleted while its creation is under way is deleted at the server",
        arguments: [AttributeType.string, .integer64])
    func deletedMeanwhile(key: AttributeType) async throws {
        let server = Server()
        let (store, container) = try await Self.open(server, key)
        server.afterCreation.withLock {
            $0 = { try? Self.deleteAll(container) }
        }
        try await Self.expectGone(server, store, container)
    }

    @Test(
        "An object that is deleted after the answer to its creation was lost is deleted at the server",
        arguments: [AttributeType.string, .integer64])
    func deletedAfterwards(key: AttributeType) async throws {
        let server = Server()
        let (store, container) = try await Self.open(server, key)
        server.afterCreation.withLock {
            $0 = { () throws(RemoteError) in throw RemoteError(.timeout, domain: "Test", message: "no answer") }
        }
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        #expect(server.base.records.count == 1)
        try Self.deleteAll(container)
        server.afterCreation.withLock { $0 = nil }
        try await Self.expectGone(server, store, container)
    }

    /// The fate of a new object whose creation is not known here yet.
    enum Fate: CaseIterable { case stays, isDeleted, isChangedAndDeleted }

    @Test(
        "A new object that others delete before its creation is known is not made again without a word",
        arguments: Fate.allCases)
    func deletedByOthers(fate: Fate) async throws {
        let backend = Interceptor { $0.features.insert(.idempotencyTokens) }
        let (store, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        let country = try context.insert(entityNamed: "Country")
        country["countryId"] = "pe"
        let city = try Atlas.city("1", "Lima", context)
        city["country"] = country
        let made = Guarded<RemoteRecord?>(nil)
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard case .create(let entity, var writes) = operation else { return nil }
            guard entity.name == "City" else {
                // The server names countries itself, and does not say so before.
                writes[0].id = "server-pe"
                return try await shelf.perform(.create(entity: entity, writes), options: RequestOptions())
            }
            // It carries out a creation once.
            if let record = made.withLock({ $0 }) { return .outcomes([.done(record)]) }
            writes[0].values["country"] = .reference("server-pe")
            _ = try await shelf.perform(.create(entity: entity, writes), options: RequestOptions())
            made.withLock { $0 = shelf.record("City", "1") }
            throw RemoteError(.timeout, domain: "test", message: "no answer")
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        #expect(country["countryId"] as? String == "server-pe")
        if fate == .isChangedAndDeleted {
            made.withLock { $0?.values["name"] = .value(.string("Quito")) }
            city["name"] = "Callao"
        }
        if fate == .stays {
            try await context.save(options: nil)
            #expect(backend.shelf.record("City", "1")?.values["country"] == .reference("server-pe"))
            return
        }
        backend.shelf.take("City", "1")
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        try await store.sync.pull()
        await #expect {
            try await context.save(options: nil)
        } throws: {
            if case PersistenceError.conflicts = $0 { true } else { false }
        }
        #expect(backend.shelf.record("City", "1") == nil)
    }
}
