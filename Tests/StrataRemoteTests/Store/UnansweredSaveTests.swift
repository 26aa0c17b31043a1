import Foundation
import Strata
import StrataRemote
import Testing

/// An online save gets no answer, and its objects are saved to the mirror then.
@Suite struct UnansweredSaveTests {
    private func open() throws -> (ShelfBackend, RemoteStore, ManagedObjectContext) {
        let backend = ShelfBackend.conditional()
        let (store, container) = try Atlas.open(backend) { $0.sync.retries = 0 }
        return (backend, store, container.newContext(automaticallyMergesChanges: true))
    }

    /// Saves online, and hears nothing of it.
    private func saveWithoutAnswer(_ context: ManagedObjectContext, _ backend: ShelfBackend) async throws {
        backend.losesAnswers = true
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.losesAnswers = false
    }

    @Test("A new object is queued as it was sent, and what others make of it comes with the next pull")
    func newObject() async throws {
        let (backend, store, context) = try open()
        let city = try Atlas.city("1", "Lima", context)
        try await saveWithoutAnswer(context, backend)
        try await context.save(options: RemoteOptions.cache)
        try await store.sync.push()
        #expect(try store.sync.pendingCount() == 0)
        #expect(try store.sync.failedChanges().isEmpty)
        backend.putCity("1", "Lima", population: 9)
        try await store.sync.pull()
        context.processPendingChanges()
        #expect(city["population"] as? Int64 == 9)
        #expect(backend.count("City") == 1)
    }

    @Test("What was changed since comes behind it, and is in no conflict with it", arguments: [false, true])
    func changedSince(isNew: Bool) async throws {
        let (backend, store, context) = try open()
        var city: ManagedObject
        if isNew {
            city = try Atlas.city("1", "first", context)
        } else {
            backend.putCity("1", "old")
            city = try #require(try await context.fetch(cities()).first)
            city["name"] = "first"
        }
        try await saveWithoutAnswer(context, backend)
        city["name"] = "second"
        city["population"] = Int64(5)
        try await context.save(options: RemoteOptions.cache)
        let report = try await store.sync.push()
        #expect(report.results.allSatisfy { $0.action == .created || $0.action == .updated })
        let record = try #require(backend.record("City", "1"))
        #expect(record.values["name"] == .value(.string("second")))
        #expect(record.values["population"] == .value(.integer(5)))
        #expect(city["name"] as? String == "second")
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test("A save that the server has never seen is done once")
    func neverArrived() async throws {
        let (backend, store, context) = try open()
        let city = try Atlas.city("1", "first", context)
        backend.down = RemoteError(.unreachable, domain: "test", message: "no connection")
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.down = nil
        city["name"] = "second"
        try await context.save(options: RemoteOptions.cache)
        try await store.sync.push()
        #expect(backend.record("City", "1")?.values["name"] == .value(.string("second")))
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test("A refusal of the repetition says nothing of the first attempt")
    func refusedRepetition() async throws {
        let backend = Interceptor()
        let (_, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        try Atlas.city("1", "Lima", context)
        try await saveWithoutAnswer(context, backend.shelf)
        backend.intercept { operation throws(RemoteError) in
            guard case .create = operation else { return nil }
            return .outcomes([.failed(RemoteError(.notFound, domain: "test", message: "a proxy", status: 404))])
        }
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect(backend.shelf.count("City") == 1)
    }

    @Test("What is given up is seen again once the store has forgotten it", arguments: 0..<3)
    func givenUp(way: Int) async throws {
        let (backend, store, context) = try open()
        try Atlas.city("1", "Lima", context)
        try await saveWithoutAnswer(context, backend)
        context.rollback()
        try await store.sync.pull()
        #expect(try await context.fetch(cities(nil, .cache)).isEmpty)
        switch way {
        case 0: try store.sync.reset()
        case 1: try store.sync.purge(try #require(store.model.entity(named: "City")))
        default: try store.sync.purge([RemoteIdentity(entity: "City", id: "1")])
        }
        try await store.sync.pull()
        #expect(try await context.fetch(cities(nil, .cache)).map(\.name) == ["Lima"])
    }

    @Test("A delete behind a change without an answer holds")
    func deletedSince() async throws {
        let (backend, store, context) = try open()
        backend.putCity("1", "old")
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "first"
        try await saveWithoutAnswer(context, backend)
        context.delete(city)
        try await context.save(options: RemoteOptions.cache)
        try await store.sync.push()
        #expect(backend.count("City") == 0)
        #expect(try store.sync.pendingCount() == 0)
    }
}

/// A context has nothing left to save after a save.
@Suite struct CleanContextTests {
    @Test("An object that is made and deleted again is no change after an asynchronous save")
    func madeAndDeleted() async throws {
        let (_, container) = try Atlas.open(ShelfBackend())
        let context = container.newContext()
        context.delete(try Atlas.city("1", "Lima", context))
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        let city = try Atlas.city("2", "Quito", context)
        context.delete(try Atlas.city("3", "Cusco", context))
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect(!city.hasChanges)
    }

    @Test("A relationship that is set to the members it has is no change after an asynchronous save")
    func sameMembers() async throws {
        let (_, container) = try Atlas.open(ShelfBackend())
        let context = container.newContext()
        let city = try Atlas.city("1", "Lima", context)
        let tag = try context.insert(entityNamed: "Tag")
        tag["tagId"] = "t"
        city["tags"] = [tag]
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        city["tags"] = [] as [ManagedObject]
        city["tags"] = [tag]
        try await context.save(options: nil)
        #expect(!context.hasChanges)
    }
}
