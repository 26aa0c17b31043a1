import Foundation
import Strata
import StrataRemote
import Testing

/// Objects that are deleted and made again with the same primary key while the server refuses both.
@Suite struct ReusedKeyTests {
    private let backend = Interceptor()

    /// A store that has a city of the server with a tag, has deleted the city, and has made it again. The server has refused the
    /// deletion. It has also refused the creation if that was sent; otherwise the creation waits.
    private func open(isSent: Bool) async throws -> (store: RemoteStore, context: ManagedObjectContext) {
        backend.shelf.put("Tag", "old", ["label": .value(.string("old"))])
        backend.shelf.putCity("1", "Lima", population: 1, tags: ["old"])
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        // The deletion gets no answer, so the creation cannot be joined with it.
        backend.refuseWrites(throwing: RemoteError(.timeout, domain: "Test", message: "no answer"))
        context.delete(city)
        try await context.save()
        _ = try? await store.sync.push()
        try Atlas.city("1", "Callao", context)
        try await context.save()
        #expect(try store.sync.pendingCount() == 2)
        backend.intercept { (operation) async throws(RemoteError) in
            guard operation.written != nil else { return nil }
            if !isSent, case .create = operation { throw RemoteError(.timeout, domain: "Test", message: "no answer") }
            throw RemoteError(.rejected, message: "no", status: 400)
        }
        _ = try? await store.sync.push()
        #expect(try store.sync.failedChanges().count == (isSent ? 2 : 1))
        backend.intercept(nil)
        return (store, context)
    }

    private func check(_ store: RemoteStore, _ context: ManagedObjectContext, _ name: String) async throws {
        #expect(try store.sync.pendingCount() == 0)
        #expect(try store.sync.failedChanges().isEmpty)
        context.reset()
        let found = try await context.fetch(cities())
        #expect(found.map(\.name) == [name])
        let city = try #require(found.first)
        // It is the server's object: what others have changed arrives, and so do changes from here.
        backend.shelf.putCity("1", "Changed", population: 2, tags: ["old"])
        try await store.sync.pull()
        try context.refresh(city)
        #expect(city.name == "Changed")
        city["name"] = "Mine"
        try await context.save()
        try await store.sync.push()
        #expect(try store.sync.pendingCount() == 0)
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Mine")))
        #expect((city["tags"] as? Set<ManagedObject>)?.count == 1)
        #expect(backend.shelf.count("City") == 1)
    }

    @Test("Both are dropped: the object is as the server has it", arguments: [false, true])
    func both(isReversed: Bool) async throws {
        let (store, context) = try await open(isSent: true)
        let failed = try store.sync.failedChanges()
        #expect(failed.count == 2)
        for change in isReversed ? failed.reversed() : failed { try store.sync.drop([change]) }
        try await store.sync.pull()
        try await check(store, context, "Lima")
    }

    @Test("The deletion is dropped: the new object takes the place of the old one", arguments: [false, true])
    func deletionDropped(isSent: Bool) async throws {
        let (store, context) = try await open(isSent: isSent)
        let failed = try store.sync.failedChanges()
        try store.sync.drop([try #require(failed.first)])
        context.reset()
        #expect(try await context.fetch(cities()).map(\.name) == ["Callao"])
        if isSent { try store.sync.retry(try store.sync.failedChanges()) }
        for _ in 0..<2 { try await store.sync.synchronize() }
        #expect(try store.sync.pendingCount() == 0)
        context.reset()
        let found = try await context.fetch(cities())
        #expect(found.count == 1)
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string(found.first?.name ?? "?")))
        try await check(store, context, found.first?.name ?? "?")
    }

    @Test("The creation is dropped: the deletion waits, and is sent when it is retried")
    func creationDropped() async throws {
        let (store, context) = try await open(isSent: true)
        let failed = try store.sync.failedChanges()
        try store.sync.drop([try #require(failed.last)])
        try await store.sync.pull()
        context.reset()
        #expect(try await context.fetch(cities()).isEmpty)
        try store.sync.retry(try store.sync.failedChanges())
        try await store.sync.synchronize()
        #expect(try store.sync.pendingCount() == 0)
        #expect(backend.shelf.count("City") == 0)
        #expect(try await context.fetch(cities()).isEmpty)
    }

    @Test("A refused deletion is done with once the server has the new object, or the new one is the server's")
    func settled() async throws {
        let (store, context) = try await open(isSent: false)
        // The creation meets the object that the server still has, and the server wins.
        try await store.sync.push()
        try await check(store, context, "Lima")
    }

    @Test("A server that takes the creation has carried out both", arguments: [RemoteOptions.cache, .network])
    func taken(options: RemoteOptions) async throws {
        let (store, context) = try await open(isSent: options.savePolicy == .cacheOnly)
        if options.savePolicy != .cacheOnly {
            // The creation is taken back, and comes by an online save.
            context.delete(try #require(try await context.fetch(cities()).first))
            try await context.save()
            #expect(try store.sync.failedChanges().count == 1)
            try Atlas.city("1", "Callao", context)
        }
        backend.intercept { [shelf = backend.shelf] (operation) async throws(RemoteError) in
            if case .create = operation { shelf.take("City", "1") }
            return nil
        }
        if options.savePolicy == .cacheOnly {
            try store.sync.retry([#require(try store.sync.failedChanges().last)])
            try await store.sync.push()
        } else {
            try await context.save(options: options)
        }
        backend.intercept(nil)
        let city = try #require(try await context.fetch(cities()).first)
        city["tags"] = Set(try await context.fetch(FetchRequest<ManagedObject>(entity: "Tag")))
        try await context.save()
        try await store.sync.push()
        try await check(store, context, "Callao")
    }

    @Test(
        "The new object is deleted before it was answered: the old one stays away until its deletion is retried",
        arguments: [false, true])
    func deletedAgain(isRetriedFirst: Bool) async throws {
        let (store, context) = try await open(isSent: false)
        backend.shelf.putCity("1", "Changed")
        let city = try #require(try await context.fetch(cities()).first)
        if isRetriedFirst {
            backend.intercept { (operation) async throws(RemoteError) in
                guard case .create = operation else { return nil }
                throw RemoteError(.timeout, domain: "Test", message: "no answer")
            }
            try store.sync.retry(try store.sync.failedChanges())
            await #expect(throws: SyncError.self) { try await store.sync.push() }
            backend.intercept(nil)
        }
        context.delete(city)
        try await context.save()
        if !isRetriedFirst {
            try await store.sync.pull()
            #expect(try await context.fetch(cities()).isEmpty)
            #expect(try store.sync.failedChanges().count == 1)
            try store.sync.retry(try store.sync.failedChanges())
        }
        try await store.sync.synchronize()
        #expect(try store.sync.pendingCount() == 0)
        #expect(try store.sync.failedChanges().isEmpty)
        // Others have changed the object since it was deleted, and nobody has seen that here: the server wins.
        try await check(store, context, "Changed")
    }

    @Test(
        "A deletion that the server carries out takes a refused one of the same primary key along",
        arguments: [RemoteOptions.cache, .network])
    func deletedAtLast(options: RemoteOptions) async throws {
        let (store, context) = try await open(isSent: false)
        context.delete(try #require(try await context.fetch(cities()).first))
        for _ in 0..<2 where context.hasChanges { try? await context.save(options: options) }
        #expect(!context.hasChanges)
        try await store.sync.push()
        #expect(backend.shelf.count("City") == 0)
        #expect(try store.sync.pendingCount() == 0)
        #expect(try store.sync.failedChanges().isEmpty)
        #expect(try await context.fetch(cities()).isEmpty)
    }

    @Test("A refused change of an object that was deleted and made again can be dropped")
    func changeDropped() async throws {
        backend.shelf.put("Tag", "old", ["label": .value(.string("old"))])
        backend.shelf.putCity("1", "Lima", tags: ["old"])
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "Old"
        try await context.save()
        let gate = Gate()
        backend.intercept { (operation) async throws(RemoteError) in
            guard case .update = operation else { return nil }
            await gate.pass()
            throw RemoteError(.rejected, message: "no", status: 400)
        }
        let push = Task { try await store.sync.push() }
        await gate.reached()
        context.delete(city)
        try await context.save()
        try Atlas.city("1", "New", context)
        try await context.save()
        gate.open()
        _ = await push.result
        backend.intercept(nil)
        let failed = try store.sync.failedChanges()
        #expect(!failed.isEmpty)
        try store.sync.drop(Array(failed.prefix(1)))
        #expect(try await context.count(cities()) == 1)
        try store.sync.retry(try store.sync.failedChanges())
        try await store.sync.synchronize()
        try await check(store, context, "New")
    }

    @Test("Both are purged: the object is as the server has it", arguments: [false, true])
    func purged(isSent: Bool) async throws {
        let (store, context) = try await open(isSent: isSent)
        try store.sync.purge([RemoteIdentity(entity: "City", id: "1")])
        #expect(try store.sync.failedChanges().isEmpty)
        #expect(try store.sync.pendingCount() == 0)
        try await store.sync.pull()
        try await check(store, context, "Lima")
    }

    /// A store that has a city of the server, and two contexts that have read it: the first one has deleted it, and
    /// the second one puts its changes over those of others.
    private func openTwo() async throws -> (
        store: RemoteStore, context: ManagedObjectContext, other: ManagedObjectContext, city: ManagedObject
    ) {
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        let other = try PersistentContainer(store: store).newContext()
        other.mergePolicy = .overwrite
        let city = try #require(try await other.fetch(cities()).first)
        context.delete(try #require(try await context.fetch(cities()).first))
        return (store, context, other, city)
    }

    /// What the server does with a deletion that was sent before the object was made again here.
    enum Answer: CaseIterable { case done, gone, conflict, refusal }

    @Test(
        "A context that makes a deleted object again keeps its name, whatever becomes of the deletion",
        arguments: Answer.allCases, [RemoteOptions.cache, .network])
    func remade(answer: Answer, options: RemoteOptions) async throws {
        backend.shelf.putCity("1", "Lima", population: 1)
        let (store, context, other, city) = try await openTwo()
        backend.refuseWrites(throwing: RemoteError(.timeout, domain: "Test", message: "no answer"))
        try await context.save(options: RemoteOptions(savePolicy: .networkElseQueue))
        #expect(try store.sync.pendingCount() == 1)
        backend.intercept(nil)
        switch answer {
        case .done: break
        case .gone: backend.shelf.take("City", "1")
        case .conflict: backend.shelf.putCity("1", "Changed", population: 2)
        case .refusal:
            backend.intercept { (operation) async throws(RemoteError) in
                guard case .delete = operation else { return nil }
                throw RemoteError(.rejected, message: "no", status: 400)
            }
        }
        city["name"] = "Mine"
        do { try await other.save(options: options) } catch { #expect(answer == .refusal, "\(error)") }
        _ = try? await store.sync.synchronize()
        backend.intercept(nil)
        try store.sync.drop(try store.sync.failedChanges())
        try await store.sync.synchronize()
        other.reset()
        let found = try await other.fetch(cities())
        #expect(found.count == 1)
        #expect(try store.sync.pendingCount() == 0)
        let name = try #require(found.first).name
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string(name)))
        #expect(answer == .conflict || answer == .refusal || name == "Mine")
        found[0]["name"] = "Next"
        try await other.save(options: RemoteOptions.cache)
        try await store.sync.synchronize()
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Next")))
    }

    @Test("What a context makes of a deleted object is sent if the server refuses the deletion meanwhile")
    func remadeWhileRefused() async throws {
        backend.shelf.put("Tag", "old", ["label": .value(.string("old"))])
        backend.shelf.putCity("1", "Lima", population: 1, tags: [])
        let (store, context, other, city) = try await openTwo()
        try await context.save()
        let gate = Gate()
        backend.intercept { (operation) async throws(RemoteError) in
            guard case .delete = operation else { return nil }
            await gate.pass()
            throw RemoteError(.rejected, message: "no", status: 400)
        }
        let push = Task { try await store.sync.push() }
        await gate.reached()
        city["name"] = "Mine"
        city["tags"] = Set(try await other.fetch(FetchRequest<ManagedObject>(entity: "Tag")))
        try await other.save(options: RemoteOptions.cache)
        gate.open()
        _ = await push.result
        backend.intercept(nil)
        try await store.sync.synchronize()
        #expect(try store.sync.pendingCount() == 0)
        #expect(try store.sync.failedChanges().isEmpty)
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Mine")))
        #expect(backend.shelf.record("City", "1")?.values["tags"] == .references(["old"]))
        context.reset()
        #expect(try await context.fetch(cities()).map(\.name) == ["Mine"])
    }

    @Test("What a context makes of a deleted object stays if the refused deletion is dropped")
    func remadeAndDropped() async throws {
        backend.shelf.putCity("1", "Lima", population: 1)
        let (store, context, other, city) = try await openTwo()
        try await context.save()
        for error in [RemoteError(.timeout, message: "no answer"), RemoteError(.rejected, message: "no", status: 400)] {
            backend.intercept { (operation) async throws(RemoteError) in
                guard case .delete = operation else { return nil }
                throw error
            }
            _ = try? await store.sync.push()
            if error.kind == .timeout {
                city["name"] = "Mine"
                try await other.save(options: RemoteOptions.cache)
            }
        }
        backend.intercept(nil)
        let failed = try store.sync.failedChanges()
        #expect(failed.map(\.kind) == [.delete])
        try store.sync.drop(failed)
        #expect(try store.sync.pendingCount() == 1)
        // Others have deleted the object since, so that nothing is in conflict with its creation.
        backend.shelf.take("City", "1")
        try await store.sync.synchronize()
        #expect(try store.sync.pendingCount() == 0)
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Mine")))
        context.reset()
        #expect(try await context.fetch(cities()).map(\.name) == ["Mine"])
    }
}
