import Foundation
import Strata
import StrataRemote
import StrataRemoteTesting
import Testing

/// Deletions that follow a change whose answer was lost.
@Suite struct LostDeletionTests {
    /// What is deleted, and how.
    enum Way: Sendable, CaseIterable {
        case queued, online, withItsOwner
    }

    @Test(
        "A deletion that follows a change whose answer was lost succeeds, even together with what the object refers to",
        arguments: Way.allCases, [false, true])
    func deletions(_ way: Way, withOthers: Bool) async throws {
        let (gateway, store, context) = try open()
        let ann = Customer(context, "Ann")
        let order = Order(context, "tea", ann)
        try await context.save()
        try await store.sync.synchronize()
        if withOthers { _ = Order(context, "coffee") }
        order.amount = 99
        try await context.save()
        gateway.trouble = .losesAnswers
        switch way {
        case .queued:
            await #expect(throws: SyncError.self) { try await store.sync.push() }
            context.delete(order)
            try await context.save()
        case .online:
            context.delete(order)
            try await context.save(options: RemoteOptions(savePolicy: .networkElseQueue))
        case .withItsOwner:
            context.delete(ann)
            try await context.save(options: RemoteOptions(savePolicy: .networkElseQueue))
        }
        gateway.trouble = .none
        let report = try await store.sync.synchronize()
        #expect(report.results.allSatisfy { $0.action != .serverWon }, "\(report.results)")
        #expect(gateway.server.records.allSatisfy { $0.values["title"] != .value(.string("tea")) })
        #expect(try await context.count(FetchRequest<Order>()) == (withOthers ? 1 : 0))
    }

    /// What goes before a deletion; the server carries it out whatever others have changed.
    enum Passing: CaseIterable { case members, operation }

    @Test(
        "Somebody else's change that the answer to an earlier change tells is in conflict with a deletion",
        arguments: Passing.allCases, [false, true])
    func toldBefore(_ passing: Passing, isOnline: Bool) async throws {
        let backend = Interceptor {
            $0.features.insert(.idempotencyTokens)
            if passing == .operation { $0.features.insert(.increments) }
        }
        backend.shelf.putCity("1", "Lima", tags: [])
        backend.shelf.put("Tag", "old", ["label": .value(.string("old"))])
        let (store, _) = try Atlas.offline(backend) { $0.savePolicy = isOnline ? .networkThenCache : .cacheOnly }
        try await store.sync.pull()
        // It does not see what the answer brings.
        let context = try PersistentContainer(store: store).newContext()
        context.mergePolicy = .error
        let city = try #require(try await context.fetch(cities()).first)
        switch passing {
        case .members: city["tags"] = Set(try await context.fetch(FetchRequest<ManagedObject>(entity: "Tag")))
        case .operation: try city.increment("population", by: 1)
        }
        try await context.save(options: RemoteOptions.cache)
        var values = try #require(backend.shelf.record("City", "1")).values
        values["name"] = .value(.string("Changed"))
        backend.shelf.put("City", "1", values)
        try await store.sync.push()
        context.delete(city)
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Changed")))
        context.rollback()
        try context.refresh(city)
        #expect(city.name == "Changed")
    }

    @Test("Somebody else's change wins over such a deletion")
    func others() async throws {
        let (gateway, store, context) = try open()
        let ann = Customer(context, "Ann")
        let order = Order(context, "tea", ann)
        try await context.save()
        try await store.sync.synchronize()
        let other = try open(gateway.server).2
        let theirs = try #require(try await other.fetch(FetchRequest<Order>().options(RemoteOptions.network)).first)
        theirs.customer = Customer(other, "Bob")
        try await other.save(options: RemoteOptions.network)
        context.delete(ann)
        try await context.save()
        try await store.sync.synchronize()
        #expect(gateway.server.records.contains { $0.values["title"] == .value(.string("tea")) })
        _ = order
    }

    @Test(
        "A change after a creation that is sent again is kept, even if what the creation referred to is deleted by then",
        arguments: [Gateway.Trouble.unreachable, .losesAnswers])
    func changeBehindCreation(_ trouble: Gateway.Trouble) async throws {
        let (gateway, store, context) = try open()
        let ann = Customer(context, "Ann")
        try await context.save()
        try await store.sync.synchronize()
        let order = Order(context, "tea", ann)
        try await context.save()
        gateway.trouble = trouble
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        gateway.trouble = .none
        let bob = Customer(context, "Bob")
        order.customer = bob
        context.delete(ann)
        try await context.save()
        try await store.sync.synchronize()
        let told = gateway.server.records.first { $0.values["title"] == .value(.string("tea")) }
        #expect(told?.values["customer"] == .reference(bob.customerId), "\(String(describing: told))")
        #expect(order.customer === bob)
    }

    private func open(
        _ server: MemoryBackend = MemoryBackend()
    ) throws -> (Gateway, RemoteStore, ManagedObjectContext) {
        let gateway = Gateway(server)
        var options = RemoteStore.Options()
        options.fetchPolicy = .cacheOnly
        options.savePolicy = .cacheOnly
        options.sync.retries = 0
        let store = try RemoteStore.open(
            model: try Shop.model.restricted(to: ["Order", "RushOrder", "Customer"]), backend: gateway,
            location: .memory(name: nil), options: options)
        let container = try PersistentContainer(store: store, classes: [Order.self, RushOrder.self, Customer.self])
        return (gateway, store, container.newContext(automaticallyMergesChanges: true))
    }

    @Test("A change goes with its object if others have deleted all that is known of the server", arguments: [3, 8])
    func everythingDeleted(count: Int) async throws {
        let backend = MemoryBackend()
        let (store, context) = try Atlas.offline(backend)
        let (other, others) = try Atlas.offline(backend)
        for number in 0..<count { try Atlas.city("\(number)", "Lima", others) }
        try await others.save()
        try await other.sync.push()
        try await store.sync.pull()
        context.processPendingChanges()
        try #require(try await context.fetch(cities()).first)["name"] = "Callao"
        try await context.save()
        for city in try await others.fetch(cities()) { others.delete(city) }
        try await others.save()
        try await other.sync.push()
        let report = try await store.sync.synchronize()
        #expect(report.results.map(\.action) == [.deletedHere])
        #expect(try store.sync.pendingCount() == 0)
        context.processPendingChanges()
        #expect(try await context.fetch(cities()).isEmpty)
    }

    @MainActor
    @Test(
        "An object whose deletion a pull tells while its change is saved is gone",
        arguments: [MemoryBackend.allFeatures, [.conditionalWrites], [.conditionalWrites, .incrementalPull]])
    func deletedWhileSaved(features: RemoteCapabilities.Features) async throws {
        let server = TallyServer(features)
        let (client, other) = (try TallyClient(server), try TallyClient(server))
        try await client.create()
        try await client.store.sync.synchronize()
        try await other.store.sync.synchronize()
        let context = try PersistentContainer(store: client.store).newContext()
        try #require(try await context.find(entity: "Tally", "1"))["name"] = "mine"
        let gate = Gate()
        server.answerGate = gate
        let save = Task { @MainActor in try await context.save(options: RemoteOptions(savePolicy: .networkThenCache)) }
        await gate.reached()
        server.answerGate = nil
        try await other.store.sync.pull()
        other.context.delete(try other.tally())
        try other.save()
        try await other.store.sync.push()
        #expect(server.value("name") == nil)
        try await client.store.sync.pull()
        gate.open()
        _ = await save.result
        try await client.store.sync.pull()
        let reader = try PersistentContainer(store: client.store).newContext()
        #expect(try await reader.find(entity: "Tally", "1") == nil)
    }
}
