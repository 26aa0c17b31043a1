import Foundation
import Strata
import StrataRemote
import StrataStore
import Testing

/// New objects that the server has by another primary key, and that others have changed, before their context knows of either.
@Suite struct RenamedBirthTests {
    @Test(
        "The context is in conflict with the object of the server, and the merge policy decides",
        arguments: [MergePolicy.error, .objectWinsByProperty, .storeWinsByProperty, .overwrite])
    func changedByOthers(policy: MergePolicy) async throws {
        let backend = Interceptor()
        let (store, reader) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        let context = try PersistentContainer(store: store).newContext()
        context.mergePolicy = policy
        let city = try Atlas.city("1", "Lima", context)
        let trouble = Guarded<RemoteError?>(RemoteError(.timeout, domain: "test", message: "no answer"))
        backend.nameObjects(of: "City", failingWith: trouble)
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        trouble.withLock { $0 = nil }
        backend.shelf.putCity("server-1", "Changed", population: 7)
        city["name"] = "Callao"
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        // Without the name, this would make another object, or none.
        backend.intercept { (operation) async throws(RemoteError) in
            guard case .create(_, let writes) = operation else { return nil }
            return .outcomes(writes.map { _ in .failed(RemoteError(.duplicate, domain: "test", message: "there")) })
        }
        if policy == .error {
            let error = await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
            guard case .conflicts(let conflicts)? = error else { throw try #require(error) }
            #expect(conflicts.count == 1)
            context.rollback()
        }
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        let isOwn = policy == .objectWinsByProperty || policy == .overwrite
        let found = try await reader.fetch(cities(nil, .network))
        #expect(found.map(\.name) == [isOwn ? "Callao" : "Changed"])
        #expect(found.first?["cityId"] as? String == "server-1")
        #expect(backend.shelf.count("City") == 1)
        guard policy != .error else { return }
        #expect(city["cityId"] as? String == "server-1")
        #expect(city.name == (isOwn ? "Callao" : "Changed"))
        city["population"] = Int64(8)
        try await context.save(options: nil)
        #expect(backend.shelf.record("City", "server-1")?.values["population"] == .value(.integer(8)))
    }

    /// Makes a city under another key, the first time, and remembers the answer.
    /// - Returns: Whether it was made now.
    private static func make(
        _ operation: RemoteOperation, on shelf: ShelfBackend, _ answer: Guarded<RemoteRecord?>
    ) async throws(RemoteError) -> Bool {
        guard case .create(let entity, let writes) = operation, answer.withLock({ $0 }) == nil else { return false }
        var write = writes[0]
        write.id = "server-1"
        _ = try await shelf.perform(.create(entity: entity, [write]), options: RequestOptions())
        answer.withLock { $0 = shelf.record("City", "server-1") }
        return true
    }

    @Test(
        "A change after the creation that got no answer either is not in conflict with itself",
        arguments: [false, true])
    func changedUnanswered(isContested: Bool) async throws {
        let backend = Interceptor(.conditional()) { $0.features.insert(.idempotencyTokens) }
        let (store, reader) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        let context = try PersistentContainer(store: store).newContext()
        context.mergePolicy = .objectWinsByProperty
        let city = try Atlas.city("1", "Lima", context)
        let losesAnswers = Guarded(true)
        let answer = Guarded<RemoteRecord?>(nil)
        let timeout = RemoteError(.timeout, domain: "test", message: "no answer")
        backend.intercept { [shelf = backend.shelf] (operation) async throws(RemoteError) in
            switch operation {
            case .create:
                if try await Self.make(operation, on: shelf, answer) { throw timeout }
                return .outcomes([.done(answer.withLock { $0 })])
            case .update:
                let result = try await shelf.perform(operation, options: RequestOptions())
                if losesAnswers.withLock({ $0 }) { throw timeout }
                return result
            default: return nil
            }
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        city["name"] = "Callao"
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        losesAnswers.withLock { $0 = false }
        if isContested { backend.shelf.putCity("server-1", "Cusco") }
        for _ in 0..<(isContested ? 3 : 1) where context.hasChanges { try? await context.save(options: nil) }
        #expect(!context.hasChanges)
        #expect(backend.shelf.record("City", "server-1")?.values["name"] == .value(.string("Callao")))
        #expect(try await reader.fetch(cities(nil, .network)).map(\.name) == ["Callao"])
        #expect(backend.shelf.count("City") == 1)
    }

    @Test("What others have made of the object is not set back by a remembered answer to its creation")
    func remembered() async throws {
        let backend = Interceptor(.conditional()) { $0.features.insert(.idempotencyTokens) }
        let (store, reader) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        let context = try PersistentContainer(store: store).newContext()
        context.mergePolicy = .objectWinsByProperty
        let city = try Atlas.city("1", "Lima", context)
        let trouble = Guarded<RemoteError?>(RemoteError(.timeout, domain: "test", message: "no answer"))
        let answer = Guarded<RemoteRecord?>(nil)
        backend.intercept { [shelf = backend.shelf] (operation) async throws(RemoteError) in
            switch operation {
            case .create: _ = try await Self.make(operation, on: shelf, answer)
            case .read: break
            default: return nil
            }
            if let error = trouble.withLock({ $0 }) { throw error }
            guard case .create = operation else { return nil }
            // It fails to answer what comes next.
            trouble.withLock { $0 = RemoteError(.timeout, domain: "test", message: "no answer") }
            return .outcomes([.done(answer.withLock { $0 })])
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.shelf.putCity("server-1", "Callao", population: 7)
        #expect(try await reader.fetch(cities(nil, .network)).map(\.name) == ["Callao"])
        trouble.withLock { $0 = nil }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        reader.processPendingChanges()
        #expect(try await reader.fetch(cities(nil, .cache)).map(\.name) == ["Callao"])
        backend.intercept { (operation) async throws(RemoteError) in
            guard case .create = operation else { return nil }
            return .outcomes([.done(answer.withLock { $0 })])
        }
        for _ in 0..<3 where context.hasChanges { try? await context.save(options: nil) }
        #expect(!context.hasChanges)
        try await store.sync.pull()
        context.processPendingChanges()
        #expect(city["population"] as? Int64 == 7)
        #expect(try await reader.count(cities(nil, .cache)) == 1)
    }

    @Test(
        "A new object that a pull tells by its other key is changed under both: the later change counts",
        arguments: [true, false], [true, false])
    func changedTwice(isOwnLast: Bool, sendsBatches: Bool) async throws {
        let backend = Interceptor { if sendsBatches { $0.features.insert(.batches) } }
        let (store, context) = try Atlas.offline(backend)
        let own = try Atlas.city("1", "Lima", context)
        try await context.save()
        let trouble = Guarded<RemoteError?>(RemoteError(.timeout, domain: "test", message: "no answer"))
        backend.nameObjects(of: "City", failingWith: trouble)
        await #expect(throws: SyncError.self) { try await store.sync.push() }
        trouble.withLock { $0 = nil }
        own["population"] = Int64(5)
        own["name"] = "Own"
        try await context.save()
        try await store.sync.pull()
        let double = try #require(try await context.find(entity: "City", "server-1"))
        for city in isOwnLast ? [double, own] : [own, double] {
            city["name"] = city === own ? "Callao" : "Cusco"
            try await context.save(options: nil)
        }
        let report = try await store.sync.push()
        #expect(report.results.allSatisfy { $0.action == .created || $0.action == .updated })
        #expect(try store.sync.pendingCount() == 0)
        #expect(try store.sync.failedChanges().isEmpty)
        let name = isOwnLast ? "Callao" : "Cusco"
        let values = try #require(backend.shelf.record("City", "server-1")?.values)
        #expect(values["name"] == .value(.string(name)))
        #expect(values["population"] == .value(.integer(5)))
        context.reset()
        let found = try await context.fetch(cities())
        #expect(found.map(\.name) == [name])
        #expect(found.first?["population"] as? Int64 == 5)
    }

    @Test(
        "What refers to an object by the key that the server gives it is read again once the object is there",
        arguments: [false, true], [false, true])
    func missingMeanwhile(isOnline: Bool, hasTokens: Bool) async throws {
        let backend = Interceptor { if hasTokens { $0.features.insert(.idempotencyTokens) } }
        let (store, context) = try Atlas.offline(backend) { $0.savePolicy = isOnline ? .networkThenCache : .cacheOnly }
        let country = try context.insert(entityNamed: "Country")
        (country["countryId"], country["name"]) = ("pe", "Peru")
        let trouble = Guarded<RemoteError?>(RemoteError(.timeout, domain: "test", message: "no answer"))
        backend.nameObjects(of: "Country", failingWith: trouble)
        if isOnline {
            await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        } else {
            try await context.save()
            await #expect(throws: SyncError.self) { try await store.sync.push() }
        }
        backend.shelf.putCity("1", "Lima", country: "server-pe")
        // A backup without the country takes the server's place.
        #expect(backend.shelf.record("Country", "server-pe") != nil)
        backend.shelf.take("Country", "server-pe")
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        #expect(city["country"] == nil)
        trouble.withLock { $0 = nil }
        if isOnline { try await context.save(options: nil) } else { try await store.sync.push() }
        let isRead = Guarded(false)
        backend.alter { (operation, answer) async throws(RemoteError) in
            if case .read(let entity, ["1"]) = operation, entity.name == "City" { isRead.withLock { $0 = true } }
            return answer
        }
        try await store.sync.pull()
        #expect(isRead.withLock { $0 })
        let reader = try PersistentContainer(store: store).newContext()
        let found = try await reader.fetch(cities()).first?["country"] as? ManagedObject
        #expect(found?["countryId"] as? String == "server-pe")
        #expect(found?.objectID == country.objectID)
    }
}
