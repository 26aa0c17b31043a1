import Foundation
import Strata
import StrataRemote
import StrataStore
import Testing

/// Answers to reads that are applied while a write is on its way.
@Suite struct OverlappingAnswerTests {
    @Test(
        "The answer to a write does not set back what a read told that was asked for before it",
        arguments: [true, false])
    func readBefore(isOnline: Bool) async throws {
        let backend = Interceptor()
        backend.shelf.putCity("1", "Lima", population: 1)
        let (store, context) = try Atlas.offline(backend) { if isOnline { $0.savePolicy = .networkThenCache } }
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        let request = Gate()
        let fetch = Guarded<Task<Int, any Error>?>(nil)
        backend.intercept { [shelf = backend.shelf] (operation) async throws(RemoteError) in
            if case .query = operation {
                await request.pass()
                return nil
            }
            guard operation.written != nil else { return nil }
            let answer = try await shelf.perform(operation, options: RequestOptions())
            // Others change the object; the request of the fetch arrives after that, and is answered first.
            shelf.putCity("1", "Callao", population: 2)
            request.open()
            _ = try? await fetch.withLock { $0 }?.value
            return answer
        }
        let container = try PersistentContainer(store: store)
        fetch.withLock {
            $0 = Task { try await container.newContext().fetch(cities(nil, .network)).count }
        }
        await request.reached()
        city["name"] = "Callao"
        try await context.save(options: nil)
        if !isOnline { try await store.sync.push() }
        backend.intercept(nil)
        let there = try #require(try await container.newContext().fetch(cities()).first)
        #expect(there["name"] as? String == "Callao")
        #expect(there["population"] as? Int64 == 2)
    }

    @Test("An object that a pull told while its deletion was on its way is asked for again")
    func madeAgain() async throws {
        let backend = Interceptor()
        backend.shelf.putCity("1", "Lima")
        let (store, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        try await store.sync.pull()
        backend.intercept { [shelf = backend.shelf] (operation) async throws(RemoteError) in
            guard operation.written != nil else { return nil }
            let answer = try await shelf.perform(operation, options: RequestOptions())
            // The server is restored from its backup.
            shelf.putCity("1", "Lima")
            _ = try? await store.sync.pull()
            return answer
        }
        context.delete(try #require(try await context.fetch(cities()).first))
        try await context.save(options: nil)
        backend.intercept(nil)
        try await store.sync.pull()
        #expect(try await context.fetch(cities()).map(\.name) == ["Lima"])
    }

    @Test(
        "A new object that a pull reports as deleted before its save has ended does not stay", arguments: [true, false])
    func deletedDuringCreation(keepsKeys: Bool) async throws {
        let backend = Interceptor(.conditional()) { $0.features.formUnion([.incrementalPull, .deletions]) }
        let (store, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        let id = keepsKeys ? "1" : "server-1"
        let (isDeleted, isTold) = (Guarded(false), Guarded(false))
        backend.intercept { [shelf = backend.shelf] (operation) async throws(RemoteError) in
            if case .pull(let pull) = operation {
                let isNews = pull.entity.name == "City" && isDeleted.withLock { $0 } && !isTold.withLock { $0 }
                if isNews { isTold.withLock { $0 = true } }
                let deleted = isNews ? [RemoteIdentity(entity: "City", id: id)] : []
                return .page(RemotePage(records: [], deleted: deleted, next: isNews ? "2" : "1"))
            }
            guard case .create(let entity, var writes) = operation else { return nil }
            writes[0].id = id
            let answer = try await shelf.perform(.create(entity: entity, writes), options: RequestOptions())
            shelf.take("City", id)
            isDeleted.withLock { $0 = true }
            _ = try? await store.sync.pull()
            return answer
        }
        try await store.sync.pull()
        try Atlas.city("1", "Lima", context)
        try await context.save(options: nil)
        try await store.sync.pull()
        #expect(isTold.withLock { $0 })
        #expect(try await context.count(cities()) == 0)
    }

    @Test("An object that a pull reports as deleted while a save sends its refused change does not stay")
    func deletedDuringChange() async throws {
        let backend = Interceptor(.conditional()) { $0.features.formUnion([.incrementalPull, .deletions]) }
        backend.shelf.putCity("1", "Lima")
        let (store, context) = try Atlas.offline(backend)
        let lima = try #require(backend.shelf.record("City", "1"))
        _ = try store.mirror.apply(RemotePage(records: [lima]), ticket: store.mirror.ticket())
        let city = try #require(try await context.fetch(cities()).first)
        backend.refuseWrites()
        city["name"] = "Callao"
        try await context.save()
        _ = try? await store.sync.push()
        #expect(try store.sync.failedChanges().count == 1)
        let isTold = Guarded(false)
        backend.intercept { [shelf = backend.shelf] (operation) async throws(RemoteError) in
            if case .pull = operation { return .page(RemotePage(records: [], next: "1")) }
            guard operation.written != nil else { return nil }
            let answer = try await shelf.perform(operation, options: RequestOptions())
            shelf.take("City", "1")
            let page = RemotePage(records: [], deleted: [lima.identity])
            _ = try? store.mirror.apply(page, ticket: store.mirror.ticket())
            isTold.withLock { $0 = true }
            return answer
        }
        try await store.sync.pull()
        city["population"] = 5
        try await context.save(options: RemoteOptions.network)
        try await store.sync.pull()
        #expect(isTold.withLock { $0 })
        #expect(try await context.count(cities()) == 0)
    }

    @Test("A pull reports a new object that goes with the server's one of its key")
    func dropped() async throws {
        let backend = Interceptor(.conditional()) { $0.features.formUnion([.incrementalPull, .deletions]) }
        let (store, context) = try Atlas.offline(backend)
        try Atlas.city("1", "Lima", context)
        try await context.save()
        backend.intercept { (operation) throws(RemoteError) in
            throw RemoteError(.timeout, domain: "Test", message: "no answer")
        }
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        backend.intercept { (operation) throws(RemoteError) in
            guard case .pull(let pull) = operation else { return nil }
            let deleted = pull.entity.name == "City" ? [RemoteIdentity(entity: "City", id: "1")] : []
            return .page(RemotePage(records: [], deleted: deleted, next: "1"))
        }
        let report = try await store.sync.pull()
        #expect(
            report.results == [
                SyncResult(identity: RemoteIdentity(entity: "City", id: "1"), kind: .insert, action: .deletedHere)
            ])
        #expect(try await context.count(cities()) == 0)
    }

    @MainActor
    @Test(
        "What others have changed is in conflict with a change that was made here while a save was under way",
        arguments: [MergePolicy.error, .objectWinsByProperty])
    func changedMeanwhile(policy: MergePolicy) async throws {
        let backend = Interceptor()
        backend.shelf.put("Tag", "t", ["label": .value(.string("tag"))])
        backend.shelf.putCity("1", "Lima", population: 1, tags: ["t"])
        let (store, _) = try Atlas.offline(backend)
        try await store.sync.pull()
        let context = try PersistentContainer(store: store).newContext()
        context.mergePolicy = policy
        let city = try #require(try await context.fetch(cities()).first)
        // The answer to a change of members tells what others have changed.
        city["tags"] = Set<ManagedObject>()
        try await context.save(options: nil)
        backend.shelf.putCity("1", "Lima", population: 7, tags: ["t"])
        city["name"] = "Callao"
        let gate = Gate()
        backend.intercept { (operation) async throws(RemoteError) in
            if case .relate = operation { await gate.pass() }
            return nil
        }
        let save = Task { @MainActor in try await context.save(options: RemoteOptions.network) }
        await gate.reached()
        city["population"] = Int64(9)
        gate.open()
        try await save.value
        func population() -> RemoteValue? { backend.shelf.record("City", "1")?.values["population"] }
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Callao")))
        #expect(population() == .value(.integer(7)))
        guard policy == .error else {
            try await context.save(options: RemoteOptions.network)
            return #expect(population() == .value(.integer(9)))
        }
        let error = await #expect(throws: PersistenceError.self) {
            try await context.save(options: RemoteOptions.network)
        }
        guard case .conflicts? = error else { throw try #require(error) }
        #expect(population() == .value(.integer(7)))
        context.rollback()
        try context.refresh(city)
        #expect(city["population"] as? Int64 == 7)
        #expect(city.name == "Callao")
    }

    @MainActor
    @Test("An object that two contexts delete, one of them by the server, is told when others make it again")
    func deletedTwice() async throws {
        let backend = Interceptor()
        backend.shelf.putCity("1", "Lima")
        let (store, here) = try Atlas.offline(backend)
        try await store.sync.pull()
        let online = try PersistentContainer(store: store).newContext()
        online.delete(try #require(try await online.fetch(cities()).first))
        here.delete(try #require(try await here.fetch(cities()).first))
        let gate = Gate()
        backend.intercept { (operation) async throws(RemoteError) in
            if case .delete = operation { await gate.pass() }
            return nil
        }
        let save = Task { @MainActor in try await online.save(options: RemoteOptions.network) }
        await gate.reached()
        try await here.save(options: nil)
        gate.open()
        try await save.value
        #expect(try store.sync.pendingCount() == 0)
        backend.shelf.putCity("1", "Again")
        try await store.sync.pull()
        here.reset()
        #expect(try await here.fetch(cities()).map(\.name) == ["Again"])
    }
}
