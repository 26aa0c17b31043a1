import Foundation
import Strata
import StrataRemote
import StrataStore
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

    @Test("An object that is deleted after a creation without an answer is there if the server has it again")
    func deletedAndThereAgain() async throws {
        let (backend, store, context) = try open()
        let city = try Atlas.city("1", "Lima", context)
        try await context.save(options: RemoteOptions.cache)
        backend.refuse("City", "1", RemoteError(.rejected, domain: "test", message: "no", status: 400))
        try await store.sync.push()
        #expect(try store.sync.failedChanges().count == 1)
        backend.refuse("City", "1", nil)
        city["population"] = Int64(5)
        try await saveWithoutAnswer(context, backend)
        context.delete(city)
        try await context.save(options: nil)
        #expect(backend.count("City") == 0)
        // The creation arrives once more.
        backend.putCity("1", "Lima")
        try await store.sync.pull()
        #expect(try await context.count(cities(nil, .cache)) == 1)
    }

    @Test(
        "A change of an object whose creation waits for another one replaces only what it was made to",
        arguments: [false, true], [HeldBack.name, .members, .all])
    func heldBack(isChanged: Bool, what: HeldBack) async throws {
        // Members are sent as whole lists.
        let server = Interceptor { $0.features.remove(.relating) }
        let backend = server.shelf
        let (store, context) = try Atlas.offline(server) { $0.savePolicy = .networkThenCache }
        for id in ["1", "2"] { backend.put("Tag", id, ["label": .value(.string(id))]) }
        try await store.sync.pull()
        let tag = try #require(try await context.find(entity: "Tag", "1"))
        let city = try Atlas.city("1", "Lima", context)
        let country = try context.insert(entityNamed: "Country")
        country["countryId"] = "1"
        city["country"] = country
        backend.refuse("Country", "1", RemoteError(.rejected, domain: "test", message: "no", status: 400))
        server.alter { (operation, answer) async throws(RemoteError) in
            if case .create(let entity, _) = operation, entity.name == "City" { throw unreachable }
            return answer
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        try await context.save(options: RemoteOptions.cache)
        try await store.sync.push()
        server.alter(nil)
        if isChanged { backend.putCity("1", "Callao", country: "1", tags: ["2"]) }
        switch what {
        case .name: city["name"] = "Cusco"
        case .members: city["tags"] = Set([tag])
        case .all: context.delete(city)
        }
        if isChanged {
            await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
            #expect(backend.record("City", "1")?.values["name"] == .value(.string("Callao")))
            #expect(backend.record("City", "1")?.values["tags"] == .references(["2"]))
        } else {
            try await context.save(options: nil)
            expectOwn(backend, what)
        }
        backend.refuse("Country", "1", nil)
        try store.sync.retry(try store.sync.failedChanges())
        try await store.sync.synchronize()
        context.mergePolicy = .objectWinsByProperty
        for _ in 0..<3 where context.hasChanges { try? await context.save(options: nil) }
        try await store.sync.synchronize()
        expectOwn(backend, what)
        #expect(try store.sync.pendingCount() == 0)
    }

    /// What a context changes of an object.
    enum HeldBack { case name, members, all }

    /// The server has what the context has made of the city.
    private func expectOwn(_ backend: ShelfBackend, _ what: HeldBack) {
        let record = backend.record("City", "1")
        switch what {
        case .name: #expect(record?.values["name"] == .value(.string("Cusco")))
        case .members:
            guard case .references(let tags)? = record?.values["tags"] else { return #expect(record == nil) }
            #expect(tags.contains("1"))
        case .all: #expect(record == nil)
        }
    }

    @Test("Members that others have added since a save without an answer stay", arguments: [true, false])
    func membersOfOthers(remembers: Bool) async throws {
        // Members are sent as whole lists.
        let backend = Interceptor {
            $0.features.remove(.relating)
            if remembers { $0.features.insert(.idempotencyTokens) }
        }
        for id in ["1", "2"] { backend.shelf.put("Tag", id, ["label": .value(.string(id))]) }
        backend.shelf.putCity("1", "Lima", tags: [])
        let (store, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        context.mergePolicy = .objectWinsByProperty
        try await store.sync.pull()
        let city = try #require(try await context.find(entity: "City", "1"))
        let tag = try #require(try await context.find(entity: "Tag", "1"))
        city["name"] = "Callao"
        backend.loseAnswers(throwing: RemoteError(.timeout, domain: "test", message: "no answer"))
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.shelf.putCity("1", "Callao", tags: ["2"])
        backend.intercept { [shelf = backend.shelf] (operation) async throws(RemoteError) in
            guard remembers, case .update(_, let write) = operation, write.values["tags"] == nil else { return nil }
            return .outcomes([.done(shelf.record("City", "1"))])
        }
        city["tags"] = Set([tag])
        for _ in 0..<3 where context.hasChanges { try? await context.save(options: nil) }
        #expect(!context.hasChanges)
        guard case .references(let tags)? = backend.shelf.record("City", "1")?.values["tags"] else {
            Issue.record("no tags")
            return
        }
        #expect(Set(tags) == ["1", "2"])
    }

    @Test("What the server has made of a change that it is known to have carried out is read again")
    func rewritten() async throws {
        let backend = Interceptor { $0.features.formUnion([.idempotencyTokens, .incrementalPull]) }
        backend.shelf.putCity("1", "Lima")
        // Pulls report the object twice.
        let pull: Interceptor.Handler = { [shelf = backend.shelf] (operation) async throws(RemoteError) in
            guard case .pull(let pull) = operation else { return nil }
            let isTold = pull.entity.name == "City" && pull.cursor != "2"
            let records = isTold ? [shelf.record("City", "1")].compactMap(\.self) : []
            return .page(RemotePage(records: records, next: pull.cursor == nil ? "1" : "2"))
        }
        backend.intercept(pull)
        let (store, reader) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        try await store.sync.pull()
        let context = try PersistentContainer(store: store).newContext()
        context.mergePolicy = .objectWinsByProperty
        let city = try #require(try await context.find(entity: "City", "1"))
        let trouble = Guarded<RemoteError?>(RemoteError(.timeout, domain: "test", message: "no answer"))
        backend.intercept { [shelf = backend.shelf] (operation) async throws(RemoteError) in
            switch operation {
            case .update: shelf.putCity("1", "CUSCO")
            case .read: break
            default: return nil
            }
            if let error = trouble.withLock({ $0 }) { throw error }
            guard case .update = operation else { return nil }
            // It fails to answer what comes next.
            trouble.withLock { $0 = RemoteError(.timeout, domain: "test", message: "no answer") }
            return .outcomes([.done(shelf.record("City", "1"))])
        }
        city["name"] = "Cusco"
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        trouble.withLock { $0 = nil }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.intercept(pull)
        try await store.sync.pull()
        try await context.save(options: RemoteOptions.cache)
        #expect(try store.sync.pendingCount() == 0)
        try await store.sync.pull()
        reader.processPendingChanges()
        #expect(try await reader.fetch(cities(nil, .cache)).map(\.name) == ["CUSCO"])
    }

    @Test("What was changed since follows it, and is not in conflict with it", arguments: [false, true])
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

    @Test(
        "Values and operations that a server has taken before it refused a change of members are not done again",
        arguments: [false, true], [false, true])
    func refusedMembers(isLost: Bool, isPulled: Bool) async throws {
        let backend = Interceptor()
        backend.shelf.putCity("1", "Lima")
        backend.shelf.put("Tag", "t", ["label": .value(.string("blue"))])
        let (store, _) = try Atlas.offline(backend) {
            $0.savePolicy = .networkThenCache
            $0.fetchPolicy = .networkElseCache
        }
        let context = try PersistentContainer(store: store).newContext()
        let tag = try #require(try await context.fetch(FetchRequest<ManagedObject>(entity: "Tag")).first)
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "mine"
        try city.increment("population", by: 5)
        city["tags"] = [tag]
        if isLost { try await saveWithoutAnswer(context, backend.shelf) }
        backend.intercept { (operation) async throws(RemoteError) in
            guard case .relate = operation else { return nil }
            throw RemoteError(.rejected, domain: "test", message: "no", status: 400)
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.intercept(nil)
        if isPulled { try await store.sync.pull() }
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        let record = try #require(backend.shelf.record("City", "1"))
        #expect(record.values["name"] == .value(.string("mine")))
        #expect(record.values["population"] == .value(.integer(5)))
        #expect(record.values["tags"] == .references(["t"]))
        #expect(city["population"] as? Int64 == 5)
    }

    /// How a save without an answer is given up.
    enum GivingUp: CaseIterable {
        case rollback, reset, release
        case forgettingAll, forgettingEntity, forgettingObject
    }

    @Test("A new object whose save is given up comes with the next pull", arguments: GivingUp.allCases)
    func givenUp(way: GivingUp) async throws {
        let backend = ShelfBackend.conditional()
        let (store, container) = try Atlas.open(backend) { $0.sync.retries = 0 }
        let reader = container.newContext(automaticallyMergesChanges: true)
        var context: ManagedObjectContext? = container.newContext()
        if let context {
            try Atlas.city("1", "Lima", context)
            try await saveWithoutAnswer(context, backend)
        }
        try await store.sync.pull()
        #expect(try await reader.fetch(cities(nil, .cache)).isEmpty)
        switch way {
        case .rollback: context?.rollback()
        case .reset: context?.reset()
        case .release: context = nil
        case .forgettingAll: try store.sync.reset()
        case .forgettingEntity: try store.sync.purge(try #require(store.model.entity(named: "City")))
        case .forgettingObject: try store.sync.purge([RemoteIdentity(entity: "City", id: "1")])
        }
        try await store.sync.pull()
        #expect(try await reader.fetch(cities(nil, .cache)).map(\.name) == ["Lima"])
        #expect(backend.count("City") == 1)
    }

    @Test(
        "A new object that others have deleted since is made again only if the merge policy says so",
        arguments: [false, true], [SavePolicy.networkThenCache, .cacheOnly])
    func deletedByOthers(isKept: Bool, policy: SavePolicy) async throws {
        let backend = Interceptor()
        let (store, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        context.mergePolicy = isKept ? .objectWinsByProperty : .error
        try Atlas.city("1", "Lima", context)
        try await saveWithoutAnswer(context, backend.shelf)
        backend.shelf.take("City", "1")
        backend.intercept { operation throws(RemoteError) in
            guard case .create = operation else { return nil }
            return .outcomes([.failed(RemoteError(.gone, domain: "test", message: "deleted"))])
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.intercept(nil)
        let options = RemoteOptions(savePolicy: policy)
        if isKept {
            try await context.save(options: options)
            try await store.sync.push()
            #expect(backend.shelf.count("City") == 1)
        } else {
            await #expect { try await context.save(options: options) } throws: {
                if case PersistenceError.conflicts = $0 { true } else { false }
            }
            try await store.sync.push()
            #expect(backend.shelf.count("City") == 0)
        }
    }

    @Test(
        "A server that remembers the creation of an object that others have deleted since does not keep saves from ending",
        arguments: [false, true])
    func deletedByOthersAndRemembered(isKept: Bool) async throws {
        let backend = Interceptor { $0.features.insert(.idempotencyTokens) }
        let (_, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        context.mergePolicy = isKept ? .objectWinsByProperty : .error
        let city = try Atlas.city("1", "Lima", context)
        let first = backend.loseAnswers(throwing: RemoteError(.timeout, message: "lost"))
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.intercept { (operation) async throws(RemoteError) in
            if case .create = operation { return first.withLock { $0 } }
            return nil
        }
        backend.shelf.take("City", "1")
        city["name"] = "Ciudad de los Reyes"
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.intercept(nil)
        if isKept {
            try await context.save(options: nil)
            #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Ciudad de los Reyes")))
        } else {
            await #expect { try await context.save(options: nil) } throws: {
                if case PersistenceError.conflicts = $0 { true } else { false }
            }
            #expect(backend.shelf.count("City") == 0)
        }
    }

    @Test("A new object whose primary key another one has got is a conflict", arguments: [false, true])
    func takenKey(isKept: Bool) async throws {
        let (backend, _, context) = try open()
        context.mergePolicy = isKept ? .objectWinsByProperty : .error
        try Atlas.city("1", "Lima", context)
        backend.down = RemoteError(.unreachable, domain: "test", message: "no connection")
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.down = nil
        backend.putCity("1", "Quito", population: 9)
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        _ = try await context.fetch(cities())
        if isKept {
            try await context.save(options: nil)
            #expect(backend.record("City", "1")?.values["name"] == .value(.string("Lima")))
            #expect(!context.hasChanges)
        } else {
            await #expect { try await context.save(options: nil) } throws: {
                if case PersistenceError.conflicts = $0 { true } else { false }
            }
            #expect(backend.record("City", "1")?.values["name"] == .value(.string("Quito")))
        }
    }

    @Test("Others refer to a new object before its save is known to be done")
    func referredTo() async throws {
        let (backend, store, context) = try open()
        let country = try context.insert(entityNamed: "Country")
        country["countryId"] = "pe"
        country["name"] = "Peru"
        try await saveWithoutAnswer(context, backend)
        backend.putCity("1", "Lima", country: "pe")
        try await store.sync.pull()
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        try await store.sync.pull()
        context.processPendingChanges()
        let city = try #require(try await context.fetch(cities(nil, .cache)).first)
        #expect(city["country"] as? ManagedObject === country)
        #expect(backend.count("Country") == 1)
    }

    @Test("An online save repeats a creation first that may have been carried out before it was refused")
    func refusedCreation() async throws {
        let backend = Interceptor()
        let (store, context) = try Atlas.offline(backend)
        let city = try Atlas.city("1", "first", context)
        try await context.save(options: nil)
        backend.shelf.losesAnswers = true
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        backend.shelf.losesAnswers = false
        backend.intercept { operation throws(RemoteError) in
            guard case .create = operation else { return nil }
            return .outcomes([.failed(RemoteError(.rejected, domain: "test", message: "no", status: 400))])
        }
        try await store.sync.push()
        #expect(try store.sync.failedChanges().count == 1)
        backend.intercept(nil)
        city["name"] = "second"
        try await context.save(options: RemoteOptions.network)
        #expect(!context.hasChanges)
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("second")))
        #expect(try store.sync.failedChanges().isEmpty)
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test("What is deleted online after a change without an answer does not come back with the answer to that")
    func deletedOnlineSince() async throws {
        let (backend, _, context) = try open()
        backend.putCity("1", "old")
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "first"
        try await saveWithoutAnswer(context, backend)
        context.delete(city)
        try await context.save(options: RemoteOptions.network)
        #expect(backend.count("City") == 0)
        #expect(try await context.fetch(cities(nil, .cache)).isEmpty)
    }

    @Test("A delete after a change without an answer holds")
    func deletedSince() async throws {
        let (backend, store, context) = try open()
        backend.putCountry("pe", "old")
        let country = try #require(try await context.fetch(FetchRequest<ManagedObject>(entity: "Country")).first)
        country["name"] = "first"
        try await saveWithoutAnswer(context, backend)
        context.delete(country)
        try await context.save(options: RemoteOptions.cache)
        try await store.sync.push()
        #expect(backend.count("Country") == 0)
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test(
        "A new object that was changed since is not made twice when its first save is repeated and the change is not sent"
    )
    func restNotSent() async throws {
        let backend = Interceptor()
        let (store, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        let city = try Atlas.city("1", "first", context)
        try await saveWithoutAnswer(context, backend.shelf)
        city["name"] = "second"
        let tag = try context.insert(entityNamed: "Tag")
        tag["tagId"] = "t"
        backend.intercept { operation throws(RemoteError) in
            guard case .create(let entity, _) = operation, entity.name == "Tag" else { return nil }
            throw RemoteError(.unavailable, domain: "test", message: "down", status: 503)
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.intercept(nil)
        try await context.save(options: RemoteOptions.cache)
        let report = try await store.sync.synchronize()
        #expect(report.results.allSatisfy { $0.action == .created || $0.action == .updated })
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("second")))
        #expect(city["name"] as? String == "second")
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test(
        "What was changed after a change without an answer, both of a new object, is not in conflict with it",
        arguments: [false, true], [false, true])
    func restUnanswered(isCarriedOut: Bool, isOnline: Bool) async throws {
        let backend = Interceptor()
        let (store, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        let city = try Atlas.city("1", "first", context)
        try await saveWithoutAnswer(context, backend.shelf)
        city["name"] = "second"
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard case .update = operation else { return nil }
            if isCarriedOut { _ = try await shelf.perform(operation, options: RequestOptions()) }
            throw RemoteError(.timeout, domain: "test", message: "no answer")
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.intercept(nil)
        city["name"] = "third"
        try await context.save(options: isOnline ? nil : RemoteOptions.cache)
        let report = try await store.sync.synchronize()
        #expect(report.results.allSatisfy { $0.action == .created || $0.action == .updated })
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("third")))
        #expect(city["name"] as? String == "third")
        #expect(try store.sync.pendingCount() == 0)
    }

    @Test("The change of a new object goes to the name that the server has given it")
    func renamed() async throws {
        let backend = Interceptor()
        let (_, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        let city = try Atlas.city("1", "first", context)
        let isFirst = Guarded(true)
        backend.intercept { [shelf = backend.shelf] operation throws(RemoteError) in
            guard case .create(let entity, let writes) = operation else { return nil }
            if isFirst.withLock({ first in
                defer { first = false }
                return first
            }) {
                let renamed = writes.map { write in
                    var write = write
                    write.id += "~"
                    return write
                }
                _ = try await shelf.perform(.create(entity: entity, renamed), options: RequestOptions())
                throw RemoteError(.timeout, domain: "test", message: "no answer")
            }
            return .outcomes(writes.map { .done(shelf.record(entity.name, $0.id + "~")) })
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        city["name"] = "second"
        try await context.save(options: nil)
        #expect(backend.shelf.record("City", "1~")?.values["name"] == .value(.string("second")))
        #expect(city["cityId"] as? String == "1~")
        #expect(!context.hasChanges)
    }

    @Test("A proxy that cannot find what an online save deletes is not believed")
    func deletedBehindAProxy() async throws {
        let backend = Interceptor()
        backend.shelf.putCity("1", "Lima")
        let (store, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        try await store.sync.pull()
        context.delete(try #require(try await context.fetch(cities()).first))
        backend.intercept { operation throws(RemoteError) in
            guard case .delete = operation else { return nil }
            return .outcomes([.failed(RemoteError(.notFound, domain: "test", message: "a proxy", status: 404))])
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        #expect(context.hasChanges)
        backend.intercept(nil)
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect(backend.shelf.count("City") == 0)
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

    @MainActor
    @Test("Members that a new object gets while its save is under way are saved by the next one")
    func membersMeanwhile() async throws {
        let backend = ShelfBackend()
        backend.put("Tag", "t", ["label": .value(.string("t")), "cities": .references([])])
        let (_, container) = try Atlas.open(backend)
        let context = container.viewContext
        let tag = try #require(try await context.fetch(FetchRequest<ManagedObject>(entity: "Tag")).first)
        let city = try Atlas.city("1", "Lima", context)
        backend.close()
        let save = Task { @MainActor in try await context.save(options: nil) }
        while !backend.isWaitedFor { await Task.yield() }
        city["tags"] = [tag]
        backend.open()
        try await save.value
        #expect(city.hasChanges)
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect(backend.record("City", "1")?.values["tags"] == .references(["t"]))
    }

    @Test("A pair with an object that is deleted in the same save is no change after it", arguments: [false, true])
    func pairWithDeleted(deletesOwner: Bool) async throws {
        let (_, container) = try Atlas.open(ShelfBackend())
        let context = container.newContext()
        let city = try Atlas.city("1", "Lima", context)
        let tag = try context.insert(entityNamed: "Tag")
        tag["tagId"] = "t"
        try await context.save(options: nil)
        city["tags"] = [tag]
        context.delete(deletesOwner ? city : tag)
        try await context.save(options: nil)
        #expect(!context.hasChanges)
    }

    @MainActor
    @Test("What was made while its owner was saved does not lead to it any more once it is deleted")
    func ownerDeletedLater() async throws {
        let backend = ShelfBackend()
        let (_, container) = try Atlas.open(backend)
        let context = container.viewContext
        let country = try context.insert(entityNamed: "Country")
        country["countryId"] = "pe"
        backend.close()
        let save = Task { @MainActor in try await context.save(options: nil) }
        while !backend.isWaitedFor { await Task.yield() }
        let city = try Atlas.city("1", "Lima", context)
        city["country"] = country
        backend.open()
        try await save.value
        try context.refreshAllObjects()
        context.delete(country)
        #expect(city["country"] == nil)
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect(backend.count("Country") == 0)
        #expect(backend.count("City") == 1)
    }
}
