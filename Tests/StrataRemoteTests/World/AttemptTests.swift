import Foundation
import Strata
import StrataRemote
import StrataStore
import Testing

/// One edit is one request until its outcome is known.
@Suite struct AttemptTests {
    /// A shelf that carries out a token once, and refuses it with another body.
    private static func withTokens(_ backend: Interceptor) {
        let known = Guarded<[UUID: (body: [String: RemoteValue], answer: RemoteOutcome)]>([:])
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard operation.writes.count == 1, let write = operation.writes.first else { return nil }
            if let before = known.withLock({ $0[write.token] }) {
                guard before.body == write.values else {
                    return .outcomes([.failed(RemoteError(.duplicate, message: "another request", status: 409))])
                }
                return .outcomes([before.answer])
            }
            let isMute = shelf.losesAnswers
            shelf.losesAnswers = false
            defer { shelf.losesAnswers = isMute }
            guard case .outcomes(let list) = try await shelf.perform(operation, options: RequestOptions()) else {
                return nil
            }
            known.withLock { $0[write.token] = (write.values, list[0]) }
            if isMute { throw RemoteError(.timeout, message: "no answer") }
            return .outcomes(list)
        }
    }

    @Test(
        "An online save whose answer is lost can be repeated, and there is one object", arguments: [true, false],
        [true, false])
    func onlineInsert(hasTokens: Bool, isEdited: Bool) async throws {
        let backend = Interceptor(ShelfBackend { $0.features.formUnion([.conditionalWrites, .incrementalPull]) })
        if hasTokens { Self.withTokens(backend) }
        let (_, context) = try Atlas.offline(backend) { options in
            options.savePolicy = .networkThenCache
            options.fetchPolicy = .networkOnly
        }
        let city = try Atlas.city("1", "Lima", context)
        backend.shelf.losesAnswers = true
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.shelf.losesAnswers = false
        // The server has it; it is not shown twice.
        #expect(try await context.fetch(cities()).count == 1)
        if isEdited { city["name"] = "Edited" }
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect(backend.shelf.count("City") == 1)
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string(isEdited ? "Edited" : "Lima")))
        #expect(try await context.fetch(cities()) == [city])
    }

    @Test("An online update whose answer is lost is no conflict with itself", arguments: [true, false])
    func onlineUpdate(hasTokens: Bool) async throws {
        let backend = Interceptor()
        if hasTokens { Self.withTokens(backend) }
        backend.shelf.putCity("1", "Lima")
        let (_, context) = try Atlas.offline(backend) { options in
            options.savePolicy = .networkThenCache
            options.fetchPolicy = .networkOnly
        }
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "second"
        backend.shelf.losesAnswers = true
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.shelf.losesAnswers = false
        city["name"] = "third"
        try await context.save(options: nil)
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("third")))
        city["name"] = "fourth"
        try await context.save(options: nil)
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("fourth")))
    }

    @Test("A list that is changed around a lost answer is sent again as it was, and then as it is")
    func members() async throws {
        let backend = Interceptor(ShelfBackend { $0.features.insert(.conditionalWrites) }) {
            $0.features.remove(.relating)
        }
        Self.withTokens(backend)
        backend.shelf.putCity("1", "Lima", tags: [])
        for id in ["a", "b", "c"] { backend.shelf.put("Tag", id, ["label": .value(.string(id))]) }
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        let tags = try await context.fetch(
            FetchRequest<ManagedObject>(entity: "Tag", sortedBy: [FetchSort("label")]))
        city["tags"] = Set([tags[0]])
        try await context.save()
        backend.shelf.losesAnswers = true
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        backend.shelf.losesAnswers = false
        city["tags"] = Set([tags[1], tags[2]])
        try await context.save()
        try await store.sync.synchronize()
        #expect(try store.sync.failedChanges().isEmpty)
        guard case .references(let ids)? = backend.shelf.record("City", "1")?.values["tags"] else {
            Issue.record("no tags")
            return
        }
        #expect(Set(ids) == ["b", "c"])
    }

    @Test("After a change is dropped the object is as the server has it", arguments: [true, false])
    func dropped(isDeleted: Bool) async throws {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "A")
        let (store, context) = try Atlas.openOffline(backend)
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "mine"
        try await context.save()
        backend.refuse("City", "1", RemoteError(.rejected, message: "no", status: 400))
        try await store.sync.push()
        if isDeleted { backend.take("City", "1") } else { backend.putCity("1", "B") }
        try await store.sync.pull()
        try store.sync.drop(try store.sync.failedChanges())
        try await store.sync.synchronize()
        #expect(try await context.fetch(cities()).map(\.name) == (isDeleted ? [] : ["B"]))
    }

    @Test(
        "A server may name a new object itself: identity, references and live objects follow", arguments: [true, false])
    func renamed(isOnline: Bool) async throws {
        let backend = Interceptor()
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard case .create(let entity, let writes) = operation, entity.name == "Country" else { return nil }
            let copies = writes.map { write in
                var copy = write
                copy.id = "server-\(write.id)"
                return copy
            }
            return try await shelf.perform(.create(entity: entity, copies), options: RequestOptions())
        }
        let (store, context) = try Atlas.offline(backend) {
            if isOnline { $0.savePolicy = .networkThenCache }
        }
        let country = try context.insert(entityNamed: "Country")
        country["countryId"] = "pe"
        country["name"] = "Peru"
        try await context.save(options: nil)
        if !isOnline {
            try Atlas.city("1", "Lima", context)["country"] = country
            try await context.save()
        }
        try await store.sync.synchronize()
        context.processPendingChanges()
        if isOnline {
            try Atlas.city("1", "Lima", context)["country"] = country
            try await context.save(options: nil)
        }
        try await store.sync.synchronize()
        #expect(country["countryId"] as? String == "server-pe")
        #expect(try await context.count(FetchRequest<ManagedObject>(entity: "Country")) == 1)
        #expect(backend.shelf.record("City", "1")?.values["country"] == .reference("server-pe"))
    }

    @Test("An answer about another object than the one that was written counts for nothing")
    func anotherObject() async throws {
        let backend = Interceptor()
        backend.shelf.putCity("1", "Lima")
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        try #require(try await context.fetch(cities()).first)["name"] = "Edited"
        try await context.save()
        backend.intercept { operation throws(RemoteError) in
            guard case .update = operation else { return nil }
            return .outcomes([.done(RemoteRecord(entity: "City", id: "2", version: "1"))])
        }
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        #expect(try store.sync.pendingCount() == 1)
    }

    @Test("What a round cannot hold is still sent after the objects to which it refers")
    func referencesAcrossRounds() async throws {
        let backend = Interceptor { capabilities in
            capabilities.features.insert(.batches)
            capabilities.maximumBatch = 500
        }
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            for write in operation.writes {
                if case .reference(let id?)? = write.values["country"], shelf.record("Country", id) == nil,
                    !operation.writes.contains(where: { $0.id == id })
                {
                    return .outcomes(
                        operation.writes.map { _ in .failed(RemoteError(.rejected, message: "no country", status: 400))
                        })
                }
            }
            return nil
        }
        let (store, context) = try Atlas.offline(backend)
        // The outbox numbers new objects by entity: a model in another order would have the cities first.
        for number in 0..<2100 { try Atlas.city("\(number)", "City", context) }
        try await context.save()
        let country = try context.insert(entityNamed: "Country")
        country["countryId"] = "pe"
        for city in try await context.fetch(cities()).prefix(50) { city["country"] = country }
        try await context.save()
        try await store.sync.push()
        #expect(try store.sync.failedChanges().isEmpty)
        #expect(backend.shelf.count("City") == 2100)
    }

    @Test("An object whose creation was refused can be mended and saved online")
    func mendedOnline() async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.openOffline(backend)
        let city = try Atlas.city("1", "", context)
        try await context.save()
        backend.refuse("City", "1", RemoteError(.rejected, message: "a name is needed", status: 400))
        try await store.sync.push()
        backend.refuse("City", "1", nil)
        city["name"] = "Lima"
        try await context.save(options: RemoteOptions.network)
        #expect(backend.record("City", "1")?.values["name"] == .value(.string("Lima")))
        #expect(try store.sync.failedChanges().isEmpty)
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test(
        "A save that changes only members of an object whose creation was refused creates the object with all members")
    func membersOfRefused() async throws {
        let backend = ShelfBackend.conditional()
        let (store, context) = try Atlas.openOffline(backend)
        let city = try Atlas.city("1", "Lima", context)
        let tags = try ["port", "capital", "large"].map { name in
            let tag = try context.insert(entityNamed: "Tag")
            tag["tagId"] = name
            return tag
        }
        city["tags"] = Set(tags[..<2])
        backend.refuse("City", "1", RemoteError(.rejected, message: "not now", status: 400))
        try await context.save()
        try await store.sync.push()
        #expect(try store.sync.failedChanges().count == 1)
        backend.refuse("City", "1", nil)
        city["tags"] = Set(tags[1...])
        try await context.save(options: RemoteOptions.network)
        #expect(!context.hasChanges)
        guard case .references(let ids)? = backend.record("City", "1")?.values["tags"] else {
            Issue.record("the city was not created")
            return
        }
        #expect(ids.sorted() == ["capital", "large"])
        #expect(backend.record("City", "1")?.values["name"] == .value(.string("Lima")))
        #expect(try store.sync.failedChanges().isEmpty)
        #expect(try store.sync.pendingCount() == 0)
        try await store.sync.pull()
        #expect((city["tags"] as? Set<ManagedObject>)?.count == 2)
    }

    @Test("A time-out falls back to the mirror like any other lack of network")
    func timeout() async throws {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima")
        let (_, context) = try Atlas.offline(backend) { $0.fetchPolicy = .networkElseCache }
        #expect(try await context.fetch(cities()).count == 1)
        backend.down = RemoteError(.timeout, message: "no answer within 60 seconds")
        #expect(try await context.fetch(cities()).map(\.name) == ["Lima"])
    }

    @Test("What is not to be kept is gone after a process that was killed")
    func passing() async throws {
        let folder = try ScratchFolder()
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima")
        do {
            let (store, context) = try Atlas.offline(backend, location: folder.file()) { options in
                options.fetchPolicy = .networkOnly
                options.cachesResults = false
            }
            #expect(try await context.fetch(cities()).count == 1)
            // A process that is killed does not close its store, but the mirror of a test cannot be opened twice.
            store.mirror.store.close()
        }
        let (_, context) = try Atlas.offline(backend, location: folder.file())
        #expect(try await context.count(cities()) == 0)
    }
}
