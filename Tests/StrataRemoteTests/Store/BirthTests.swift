import Foundation
import Strata
import StrataRemote
import Testing

/// New objects of which the server tells others before the save that made them has ended.
@Suite struct BirthTests {
    @Test func aFetchThatMeetsAnUnfinishedSaveTakesItsObjects() async throws {
        let backend = SlowBackend(base: ShelfBackend())
        var options = RemoteStore.Options()
        options.fetchPolicy = .networkOnly
        let store = try RemoteStore.open(
            model: Atlas.model, backend: backend, location: .memory(name: nil), options: options)
        let container = try PersistentContainer(store: store)
        let context = container.newContext()
        let country = try context.insert(entityNamed: "Country")
        country["countryId"] = "pe"
        let city = try context.insert(entityNamed: "City")
        city["cityId"] = "1"
        city["name"] = "Lima"
        city["country"] = country
        // The back end has the object, and its answer to the save is still on its way.
        let found = Found()
        backend.afterCreate.withLock { action in
            action = { entity in
                guard entity == "City" else { return }
                found.task.withLock { task in
                    task = Task {
                        let other = container.newContext()
                        let cities = try await other.fetch(FetchRequest<ManagedObject>(entity: "City"))
                        return cities.map(\.objectID)
                    }
                }
                // Time enough for the fetch to be answered.
                try? await Task.sleep(for: .milliseconds(100))
            }
        }
        try await context.save(options: nil)
        let task = try #require(found.task.withLock { $0 })
        #expect(try await task.value == [city.objectID])
        #expect(city["name"] as? String == "Lima")
    }

    /// A new city and its new country.
    private func lima(_ context: ManagedObjectContext) throws -> (country: ManagedObject, city: ManagedObject) {
        let country = try context.insert(entityNamed: "Country")
        country["countryId"] = "pe"
        let city = try Atlas.city("1", "Lima", context)
        city["country"] = country
        return (country, city)
    }

    @Test("A new object that gives way to one of the same primary key keeps no answer back", arguments: [false, true])
    func madeTwice(isOnline: Bool) async throws {
        let backend = ShelfBackend.conditional()
        let (store, container) = try Atlas.open(backend) { options in
            (options.fetchPolicy, options.savePolicy) = (.cacheOnly, .cacheOnly)
            options.sync.policies = ConflictPolicies(.decide { _ in .server })
            options.sync.retries = 0
        }
        let contexts = [container.newContext(), container.newContext()]
        for context in contexts { context.mergePolicy = .objectWinsByProperty }
        _ = try Atlas.city("1", "Lima", contexts[0])
        backend.down = RemoteError(.timeout, domain: "test", message: "no answer")
        await #expect(throws: PersistenceError.self) { try await contexts[0].save(options: RemoteOptions.network) }
        _ = try Atlas.city("1", "Cusco", contexts[1])
        try await contexts[1].save(options: RemoteOptions.cache)
        backend.down = nil
        try await contexts[0].save(options: isOnline ? RemoteOptions.network : .cache)
        if !isOnline { backend.putCity("1", "Callao") }
        try await store.sync.synchronize()
        let reader = container.newContext()
        #expect(try await reader.fetch(cities()).map(\.name) == [isOnline ? "Lima" : "Callao"])
        backend.take("City", "1")
        try await store.sync.synchronize()
        reader.reset()
        #expect(try await reader.fetch(cities()).isEmpty)
    }

    @Test("A new object to which the server has a reference already is not taken for deleted")
    func referredToBeforeItsCreation() async throws {
        let backend = Interceptor()
        let (store, reader) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        let context = try PersistentContainer(store: store).newContext()
        context.mergePolicy = .error
        let (country, city) = try lima(context)
        // Neither arrives. Then only one does.
        backend.shelf.down = RemoteError(.unreachable, domain: "test", message: "no connection")
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.shelf.down = nil
        backend.intercept { (operation) async throws(RemoteError) in
            guard case .create(let entity, _) = operation, entity.name == "Country" else { return nil }
            throw RemoteError(.unavailable, domain: "test", message: "down", status: 503)
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.intercept(nil)
        try #require(backend.shelf.count("City") == 1 && backend.shelf.count("Country") == 0)
        let found = try await reader.fetch(cities(nil, .network))
        try await reader.load("country", of: found, options: RemoteOptions.network)
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect(city["country"] as? ManagedObject === country)
        #expect(backend.shelf.count("Country") == 1)
        #expect(backend.shelf.record("City", "1")?.values["country"] == .reference("pe"))
        try await store.sync.pull()
        try context.refresh(city)
        #expect(city["country"] as? ManagedObject === country)
    }

    /// Saves a city and its new country, which the server refuses, and reads the city and its country in another context.
    private func refusedCountry() async throws -> RefusedCountry {
        let backend = Interceptor()
        let (store, reader) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        let context = try PersistentContainer(store: store).newContext()
        context.mergePolicy = .error
        let (_, city) = try lima(context)
        backend.intercept { (operation) async throws(RemoteError) in
            guard case .create(let entity, _) = operation, entity.name == "Country" else { return nil }
            throw RemoteError(.rejected, domain: "test", message: "no", status: 400)
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.intercept(nil)
        try #require(backend.shelf.count("City") == 1 && backend.shelf.count("Country") == 0)
        return RefusedCountry(backend: backend, store: store, reader: reader, context: context, city: city)
    }

    private struct RefusedCountry {
        let backend: Interceptor
        let store: RemoteStore
        let reader: ManagedObjectContext
        let context: ManagedObjectContext
        let city: ManagedObject

        /// Reads the city and its country in another context.
        func read() async throws {
            let found = try await reader.fetch(cities(nil, .network))
            try await reader.load("country", of: found, options: RemoteOptions.network)
        }
    }

    @Test("A new object that the server has refused is not taken for deleted while its context still has it")
    func refused() async throws {
        let world = try await refusedCountry()
        let (context, city, backend) = (world.context, world.city, world.backend)
        try await world.read()
        #expect(city["country"] != nil)
        city["name"] = "Callao"
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect(backend.shelf.count("Country") == 1)
        #expect(backend.shelf.record("City", "1")?.values["country"] == .reference("pe"))
        try await world.store.sync.pull()
        try context.refresh(city)
        #expect((city["country"] as? ManagedObject)?["countryId"] as? String == "pe")
        // From here on it is an object like any other.
        backend.shelf.take("Country", "pe")
        let countries = FetchRequest<ManagedObject>(entity: "Country").options(RemoteOptions.network)
        #expect(try await world.reader.fetch(countries).isEmpty)
        try context.refresh(city)
        #expect(city["country"] == nil)
    }

    @Test("An object of the server goes with its end, although a context has a new one of the same primary key")
    func sameKey() async throws {
        let backend = Interceptor()
        backend.shelf.putCity("1", "Lima")
        let (store, reader) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        let context = try PersistentContainer(store: store).newContext()
        context.mergePolicy = .error
        try Atlas.city("1", "Callao", context)
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        #expect(try await reader.fetch(cities(nil, .network)).map(\.name) == ["Lima"])
        backend.shelf.take("City", "1")
        #expect(try await reader.fetch(cities(nil, .network)).isEmpty)
        #expect(try await reader.fetch(cities(nil, .cache)).isEmpty)
        try await context.save(options: nil)
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Callao")))
    }

    @Test("An object refers to one that is made later: that it has the key of the new one then is no conflict")
    func madeLater() async throws {
        let world = try await refusedCountry()
        let (context, city, backend) = (world.context, world.city, world.backend)
        // The country is made, and the rest of the save is not: another new object is refused.
        try Atlas.city("2", "Quito", context)
        backend.intercept { (operation) async throws(RemoteError) in
            guard case .create(_, let writes) = operation, writes.contains(where: { $0.id == "2" }) else { return nil }
            throw RemoteError(.rejected, domain: "test", message: "no", status: 400)
        }
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        backend.intercept(nil)
        #expect(backend.shelf.count("Country") == 1)
        // The mirror has the reference at any time.
        let here = try #require(try await world.reader.fetch(cities("cityId = '1'", .cache)).first)
        #expect((here["country"] as? ManagedObject)?["countryId"] as? String == "pe")
        try await world.store.sync.pull()
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect((city["country"] as? ManagedObject)?["countryId"] as? String == "pe")
        #expect(backend.shelf.record("City", "1")?.values["country"] == .reference("pe"))
        #expect(backend.shelf.count("City") == 2)
    }

    @Test("A new object that the server has refused is found missing once its context has given it up")
    func givenUp() async throws {
        let world = try await refusedCountry()
        try await world.read()
        world.context.rollback()
        try await world.read()
        try world.context.refresh(world.city)
        #expect(world.city["country"] == nil)
        #expect(try await world.reader.fetch(cities(nil, .cache)).first?["country"] == nil)
    }
}

private final class Found: Sendable {
    let task = Shared<Task<[ObjectID], any Error>?>(nil)
}

/// A value guarded by a lock.
///
/// `@unchecked Sendable`: the value is reached only with the lock held.
private final class Shared<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) { self.value = value }

    func withLock<R>(_ body: (inout Value) -> R) -> R { lock.withLock { body(&value) } }
}

/// Lets a test do something between what the back end has done and its answer.
private final class SlowBackend: RemoteBackend {
    let base: ShelfBackend
    let afterCreate = Shared<@Sendable (String) async -> Void>({ _ in })

    init(base: ShelfBackend) { self.base = base }

    var name: String { base.name }
    var capabilities: RemoteCapabilities { base.capabilities }

    func check(_ operation: RemoteOperation) throws(RemoteError) { try base.check(operation) }

    func perform(
        _ operation: RemoteOperation, options: RequestOptions
    ) async throws(RemoteError) -> RemoteAnswer {
        let answer = try await base.perform(operation, options: options)
        if case .create(let entity, _) = operation { await afterCreate.withLock { $0 }(entity.name) }
        return answer
    }
}
