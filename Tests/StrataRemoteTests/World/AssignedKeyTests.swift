import Foundation
import Strata
import StrataRemote
import StrataStore
import StrataRemoteTesting
import Testing

/// Back ends that give new objects their keys, and hierarchies of which a reference tells no entity.
@Suite struct AssignedKeyTests {
    private static func recipes() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Recipes") {
            Entity("Recipe", primaryKey: "recipeId") {
                Attribute("recipeId", .integer64, optional: true)
                Relationship("steps", to: "Step", .orderedToMany, inverse: "recipe")
            }
            Entity("Step", primaryKey: "stepId") {
                Attribute("stepId", .integer64, optional: true)
                Attribute("text", .string, optional: true)
                Relationship("recipe", to: "Recipe", .optionalToOne, inverse: "steps")
            }
        }
    }

    private func open(
        _ model: ManagedObjectModel, _ backend: MemoryBackend, isOnline: Bool
    ) throws -> (RemoteStore, ManagedObjectContext) {
        var options = RemoteStore.Options()
        options.fetchPolicy = .cacheOnly
        options.savePolicy = isOnline ? .networkThenCache : .cacheOnly
        let store = try RemoteStore.open(model: model, backend: backend, location: .memory(name: nil), options: options)
        return (store, try PersistentContainer(store: store).newContext())
    }

    @Test("A new object to which the server gave a key of its own is made once, although the repetition is refused")
    func refusedRepetition() async throws {
        let backend = Interceptor { $0.features.insert(.idempotencyTokens) }
        let (_, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        let city = try Atlas.city("1", "Lima", context)
        let lost = RemoteError(.timeout, message: "lost")
        let refusal = RemoteError(.rejected, message: "no", status: 400)
        let errors = Guarded<[RemoteError?]>([lost, refusal, nil])
        let keys = Guarded<[UUID: String]>([:])
        backend.intercept { [shelf = backend.shelf] (operation) async throws(RemoteError) in
            guard case .create(let entity, let writes) = operation, var write = writes.first else { return nil }
            let error = errors.withLock { $0.isEmpty ? nil : $0.removeFirst() }
            if let error, error.kind == .rejected { throw error }
            let (key, isNew) = keys.withLock { keys in
                if let key = keys[write.token] { return (key, false) }
                let key = "server-\(keys.count + 1)"
                keys[write.token] = key
                return (key, true)
            }
            write.id = key
            if isNew { _ = try await shelf.perform(.create(entity: entity, [write]), options: RequestOptions()) }
            if let error { throw error }
            return .outcomes([.done(shelf.record("City", key))])
        }
        for _ in 0..<2 { await #expect(throws: PersistenceError.self) { try await context.save(options: nil) } }
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect(backend.shelf.count("City") == 1)
        #expect(city["cityId"] as? String == "server-1")
    }

    @Test(
        "A new object that the server has under another key is the server's object, known here before or not",
        arguments: [true, false])
    func duplicateOfAnotherKey(isKnown: Bool) async throws {
        let backend = Interceptor()
        let (store, context) = try Atlas.offline(backend)
        let city = try Atlas.city("1", "Lima", context)
        let country = try context.insert(entityNamed: "Country")
        country["countryId"] = "pe"
        city["country"] = country
        try await context.save()
        backend.shelf.putCity("server-1", "Callao")
        if isKnown { try await store.sync.pull() }
        backend.intercept { [shelf = backend.shelf] (operation) async throws(RemoteError) in
            guard case .create(let entity, let writes) = operation, entity.name == "City" else { return nil }
            #expect(writes.map(\.id) == ["1"])
            let record = shelf.record("City", "server-1")
            return .outcomes([.failed(RemoteError(.duplicate, message: "is there", serverRecord: record))])
        }
        for _ in 0..<2 { try await store.sync.synchronize() }
        context.processPendingChanges()
        #expect(try store.sync.pendingCount() == 0)
        #expect(city["cityId"] as? String == "server-1")
        #expect(try await context.count(cities()) == 1)
        #expect(backend.shelf.count("City") == 1)
    }

    @Test("New members of a new object keep their order, under the keys of the server", arguments: [true, false])
    func ordered(isOnline: Bool) async throws {
        let backend = MemoryBackend(features: MemoryBackend.allFeatures.union(.assignsIDs))
        let model = try Self.recipes()
        let (store, context) = try open(model, backend, isOnline: isOnline)
        let recipe = try context.insert(entityNamed: "Recipe")
        var steps: [ManagedObject] = []
        for text in ["a", "b", "c"] {
            let step = try context.insert(entityNamed: "Step")
            step["text"] = text
            steps.insert(step, at: 0)
        }
        recipe["steps"] = steps
        try await context.save()
        let report = try await store.sync.synchronize()
        #expect(report.failures.isEmpty)
        #expect(try store.sync.pendingCount() == 0)
        try context.refreshAllObjects()
        #expect((recipe["steps"] as? [ManagedObject])?.map { $0["text"] as? String } == ["c", "b", "a"])
        let (other, there) = try open(model, backend, isOnline: isOnline)
        try await other.sync.synchronize()
        let found = try #require(try await there.fetch(FetchRequest<ManagedObject>(entity: "Recipe")).first)
        #expect((found["steps"] as? [ManagedObject])?.map { $0["text"] as? String } == ["c", "b", "a"])
    }

    @Test("A save that meets a conflict without the server's state reads it, so that the next one can merge")
    func silentConflicts() async throws {
        let backend = Interceptor()
        backend.shelf.putCity("1", "Lima", population: 1)
        let (store, context) = try Atlas.offline(backend) { $0.savePolicy = .networkThenCache }
        context.mergePolicy = .objectWinsByProperty
        try await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        backend.shelf.putCity("1", "Callao", population: 2)
        backend.intercept { [shelf = backend.shelf] (operation) async throws(RemoteError) in
            guard operation.written != nil else { return nil }
            guard case .outcomes(let list) = try await shelf.perform(operation, options: RequestOptions()) else {
                return nil
            }
            return .outcomes(
                list.map { outcome in
                    guard case .failed(var error) = outcome else { return outcome }
                    error.serverRecord = nil
                    return .failed(error)
                })
        }
        city["name"] = "Miraflores"
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        try await context.save(options: nil)
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Miraflores")))
        #expect(backend.shelf.record("City", "1")?.values["population"] == .value(.integer(2)))
        // One that others have deleted is gone here, too.
        backend.shelf.take("City", "1")
        city["name"] = "Surco"
        await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        context.rollback()
        #expect(try await context.count(cities()) == 0)
    }

    private static func people() throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "People") {
            Entity("Person") {
                Attribute("personId", .string)
                Attribute("name", .string, optional: true)
                Relationship("tasks", to: "Task", .toMany, inverse: "assignee")
                Relationship("teams", to: "Team", .toMany, inverse: "members")
            }
            Entity("Employee", inherits: "Person") { Attribute("salary", .integer64, optional: true) }
            Entity("Task") {
                Attribute("taskId", .string)
                Relationship("assignee", to: "Person", .optionalToOne, inverse: "tasks")
            }
            Entity("Team") {
                Attribute("teamId", .string)
                Relationship("members", to: "Person", .toMany, inverse: "teams")
            }
        }
    }

    @Test("What a reference leads to has its own class, whatever a relationship says", arguments: [true, false])
    func hierarchies(prefetches: Bool) async throws {
        let backend = MemoryBackend()
        let model = try Self.people()
        let (_, context) = try open(model, backend, isOnline: true)
        let team = try context.insert(entityNamed: "Team")
        var people: Set<ManagedObject> = []
        for (entity, name) in [("Person", "Ann"), ("Employee", "Bob"), ("Employee", "Cy")] {
            let person = try context.insert(entityNamed: entity)
            person["name"] = name
            try context.insert(entityNamed: "Task")["assignee"] = person
            people.insert(person)
        }
        team["members"] = people
        try await context.save(options: nil)
        var options = RemoteStore.Options()
        options.fetchPolicy = .networkOnly
        options.waitsForNetwork = true
        let store = try RemoteStore.open(model: model, backend: backend, location: .memory(name: nil), options: options)
        let fresh = try PersistentContainer(store: store).newContext()
        func name(_ person: ManagedObject?) -> String {
            person.map { "\($0.entity.name) \($0["name"] as? String ?? "-")" } ?? "nil"
        }
        let all = ["Employee Bob", "Employee Cy", "Person Ann"]
        for _ in 0..<2 {
            let tasks = try await fresh.fetch(
                FetchRequest<ManagedObject>(entity: "Task", prefetch: prefetches ? ["assignee"] : []))
            #expect(tasks.map { name($0["assignee"] as? ManagedObject) }.sorted() == all)
            let teams = try await fresh.fetch(
                FetchRequest<ManagedObject>(entity: "Team", prefetch: prefetches ? ["members"] : []))
            let members = teams.first?["members"] as? Set<ManagedObject> ?? []
            #expect(members.map(name).sorted() == all)
            try fresh.refreshAllObjects()
        }
    }
}
