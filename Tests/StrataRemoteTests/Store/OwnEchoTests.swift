import Foundation
import Strata
import StrataRemote
import Testing

/// What a server fills in when it acknowledges a save is not a conflict for the context that saved, even if that merges
/// nothing by itself.
@Suite struct OwnEchoTests {
    private func open() async throws -> (ShelfBackend, RemoteStore, ManagedObjectContext, ManagedObject) {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "old")
        let (store, container) = try Atlas.open(backend)
        let context = container.newContext()
        let city = try #require(try await context.fetch(cities()).first)
        return (backend, store, context, city)
    }

    @Test("A save that was queued goes before the next one online, and is no conflict for it")
    func queuedThenOnline() async throws {
        let (backend, _, context, city) = try await open()
        city["name"] = "queued"
        try await context.save(options: RemoteOptions.cache)
        city["population"] = Int64(5)
        try await context.save(options: nil)
        let record = try #require(backend.record("City", "1"))
        #expect(record.values["name"] == .value(.string("queued")))
        #expect(record.values["population"] == .value(.integer(5)))
        // What the server filled in is here, and the object can go on.
        #expect(record.values["revision"] == .value(.integer((city["revision"] as? Int64) ?? -1)))
        city["name"] = "again"
        try await context.save(options: nil)
        #expect(backend.record("City", "1")?.values["name"] == .value(.string("again")))
    }

    @Test("Saves offline, with a push between them, are in no conflict either; nor is a delete")
    func offline() async throws {
        let (backend, store, context, city) = try await open()
        for number in 1...3 {
            city["population"] = Int64(number)
            try await context.save(options: RemoteOptions.cache)
            try await store.sync.push()
        }
        #expect(backend.record("City", "1")?.values["population"] == .value(.integer(3)))
        let new = try context.insert(entityNamed: "City")
        new["name"] = "new"
        try await context.save(options: RemoteOptions.cache)
        try await store.sync.push()
        new["name"] = "newer"
        try await context.save(options: RemoteOptions.cache)
        try await store.sync.push()
        context.delete(new)
        context.delete(city)
        try await context.save(options: RemoteOptions.cache)
        try await store.sync.push()
        #expect(backend.count("City") == 0)
    }

    @Test("What another device has changed meanwhile is a conflict as before")
    func others() async throws {
        let (backend, store, context, city) = try await open()
        city["name"] = "ours"
        try await context.save(options: RemoteOptions.cache)
        try await store.sync.push()
        backend.put("City", "1", ["population": .value(.integer(9))])
        try await store.sync.pull()
        city["name"] = "ours again"
        await #expect(throws: PersistenceError.self) { try await context.save(options: RemoteOptions.cache) }
    }

    @Test("So is a change of what the server has filled in")
    func filledIn() async throws {
        let (_, store, context, city) = try await open()
        city["name"] = "ours"
        try await context.save(options: RemoteOptions.cache)
        try await store.sync.push()
        city["revision"] = Int64(77)
        await #expect(throws: PersistenceError.self) { try await context.save(options: RemoteOptions.cache) }
    }

    @Test(
        "A deletion is in conflict with what others have changed before a repeated change was answered",
        arguments: PassedOperationTests.kinds)
    func repeated(kind: OperationOutboxTests.Kind) async throws {
        let server = TallyServer(kind.features)
        let (client, other) = (try TallyClient(server), try TallyClient(server))
        try await client.create()
        try await other.store.sync.synchronize()
        let context = try PersistentContainer(store: client.store).newContext()
        let tally = try #require(try await context.find(entity: "Tally", "1"))
        tally["amount"] = Decimal(5)
        try await context.save(options: RemoteOptions.cache)
        await client.push(to: server, with: \.losesAnswers)
        try await other.change { $0["name"] = "theirs" }
        context.delete(tally)
        try await client.store.sync.push()
        await #expect(throws: PersistenceError.self) {
            try await context.save(options: RemoteOptions(savePolicy: .networkThenCache))
        }
        #expect(server.value("name") == .string("theirs"))
    }

    @Test(
        "A value that a pull has told is no conflict after the members that followed it got no answer",
        arguments: [false, true], [(true, false), (true, true), (false, false), (false, true)])
    func membersBehind(isCarriedOut: Bool, _ kind: (relates: Bool, isOnline: Bool)) async throws {
        let backend = Interceptor { if !kind.relates { $0.features.remove(.relating) } }
        backend.shelf.putCity("1", "Lima", tags: [])
        backend.shelf.put("Tag", "old", ["label": .value(.string("old"))])
        let (store, _) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        try await store.sync.pull()
        let context = try PersistentContainer(store: store).newContext()
        context.mergePolicy = .error
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "Callao"
        backend.loseAnswers(throwing: RemoteError(.timeout, domain: "test", message: "no answer"))
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        // The change of the name turns out to have been carried out; nothing is known of the members after it.
        city["tags"] = Set(try await context.fetch(FetchRequest<ManagedObject>(entity: "Tag")))
        backend.intercept { [shelf = backend.shelf] (operation) async throws(RemoteError) in
            switch operation {
            case .relate: break
            case .update(_, let write) where write.values["tags"] != nil && write.values["name"] == nil: break
            default: return nil
            }
            if isCarriedOut { _ = try await shelf.perform(operation, options: RequestOptions()) }
            throw RemoteError(.timeout, domain: "test", message: "no answer")
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.intercept(nil)
        #expect(backend.shelf.record("City", "1")?.values["tags"] == .references(isCarriedOut ? ["old"] : []))
        try await store.sync.pull()
        try await context.save(options: kind.isOnline ? nil : RemoteOptions.cache)
        try await store.sync.synchronize()
        #expect(!context.hasChanges)
        #expect(try store.sync.pendingCount() == 0)
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Callao")))
        #expect(backend.shelf.record("City", "1")?.values["tags"] == .references(["old"]))
        try context.refresh(city)
        #expect((city["tags"] as? Set<ManagedObject>)?.count == 1)
    }
}
