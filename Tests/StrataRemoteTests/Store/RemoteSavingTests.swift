import Foundation
import Strata
import Testing

@testable import StrataRemote

@Suite struct RemoteSavingTests {
    @Test func synchronousFormsRefuseOrWait() async throws {
        let backend = ShelfBackend()
        backend.putCity("1", "Lima")
        let (_, container) = try Atlas.open(backend)
        // Synchronous forms are meant here, not those with await.
        func synchronously(_ container: PersistentContainer) throws -> [String] {
            let context = container.newContext()
            let names = try context.fetch(cities()).map(\.name)
            #expect(try context.count(cities()) == names.count)
            #expect(try context.fetchIDs(cities()).count == names.count)
            #expect(try context.fetchLazily(cities()).count == names.count)
            _ = try context.insert(entityNamed: "City")
            try context.save()
            #expect(!context.hasChanges)
            return names
        }
        #expect { try synchronously(container) } throws: { isNeedsNetwork($0) }
        func refuses(_ body: (ManagedObjectContext) throws -> Void) {
            let context = container.newContext()
            #expect { try body(context) } throws: { isNeedsNetwork($0) }
        }
        refuses { _ = try $0.count(cities()) }
        refuses { _ = try $0.fetchIDs(cities()) }
        refuses { _ = try $0.fetchLazily(cities()) }
        refuses {
            _ = try $0.insert(entityNamed: "City")
            try $0.save()
        }
        #expect(backend.takeLog().isEmpty)
        let (_, waiting) = try Atlas.open(backend) { $0.waitsForNetwork = true }
        #expect(try synchronously(waiting) == ["Lima"])
        #expect(backend.count("City") == 2)
    }

    @Test func manyThreadsMayWaitAtOnce() async throws {
        let backend = ShelfBackend()
        backend.putCity("1", "Lima")
        let (_, container) = try Atlas.open(backend) { $0.waitsForNetwork = true }
        // More than there are cooperative threads.
        let total = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    func wait() throws -> Int { try container.newContext().fetch(cities()).count }
                    return try wait()
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(total == 64)
    }

    @Test func failuresAreToldByObject() async throws {
        let backend = ShelfBackend()
        backend.putCity("old", "Old")
        let (store, container) = try Atlas.open(backend)
        let context = container.newContext()
        let old = try #require(try await context.fetch(cities()).first)
        let good = try context.insert(entityNamed: "City")
        good["cityId"] = "good"
        let bad = try context.insert(entityNamed: "City")
        bad["cityId"] = "bad"
        old["name"] = "New"
        let refusal = RemoteError(.rejected, code: 400, message: "no such city", status: 400)
        backend.refuse("City", "bad", refusal)
        _ = backend.takeLog()
        do {
            try await context.save(options: nil)
            Issue.record("the save has no error")
        } catch {
            let found = try #require(failure(in: error))
            #expect(found.code == RemoteFailure.saveCode)
            #expect(found.inserted.map(\.objectID) == [bad.objectID])
            #expect(found.inserted.first?.failure.status == 400)
            #expect(found.updated.isEmpty && found.deleted.isEmpty)
        }
        // The completed part is saved; a kind after the one that failed was not sent; nothing is lost.
        #expect(backend.takeLog().count == 1)
        #expect(!good.hasChanges && bad.isInserted && old.isUpdated)
        #expect(try await container.newContext().fetch(cities(nil, .cache)).count == 2)
        #expect(try store.mirror.entryCount() == 0)
        backend.refuse("City", "bad", nil)
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect(backend.count("City") == 3)
        #expect(backend.record("City", "old")?.values["name"] == .value(.string("New")))
    }

    @Test func updatesAndDeletesFailByObject() async throws {
        let backend = ShelfBackend()
        for name in ["a", "b", "c"] { backend.putCity(name, name) }
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let found = try await context.fetch(cities())
        found[0]["name"] = "A"
        found[1]["name"] = "B"
        backend.refuse("City", "b", RemoteError(.forbidden, code: 403, message: "not yours", status: 403))
        do {
            try await context.save(options: nil)
            Issue.record("the save has no error")
        } catch {
            #expect(failure(in: error)?.updated.map(\.objectID) == [found[1].objectID])
        }
        #expect(!found[0].hasChanges && found[1].hasChanges)
        context.rollback()
        context.delete(found[1])
        context.delete(found[2])
        do {
            try await context.save(options: nil)
            Issue.record("the save has no error")
        } catch {
            #expect(failure(in: error)?.deleted.count == 1)
        }
        #expect(backend.count("City") == 2)
        #expect(try await container.newContext().fetch(cities(nil, .cache)).map(\.name) == ["A", "b"])
        backend.refuse("City", "b", nil)
        try await context.save(options: nil)
        #expect(backend.count("City") == 1)
    }

    @Test func relationshipsAreSaved() async throws {
        let backend = ShelfBackend()
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let country = try context.insert(entityNamed: "Country")
        country["countryId"] = "pe"
        let city = try context.insert(entityNamed: "City")
        city["cityId"] = "1"
        city["country"] = country
        let tag = try context.insert(entityNamed: "Tag")
        tag["tagId"] = "t"
        city["tags"] = [tag]
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect(backend.record("City", "1")?.values["country"] == .reference("pe"))
        let entities = backend.takeLog().compactMap { operation -> String? in
            if case .create(let entity, _) = operation { entity.name } else { nil }
        }
        #expect(entities.last == "City" || entities.firstIndex(of: "City")! > entities.firstIndex(of: "Country")!)
        city["tags"] = [] as [ManagedObject]
        city["country"] = nil
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect(backend.record("City", "1")?.values["country"] == .reference(nil))
        let owner = backend.record("City", "1")?.values["tags"] ?? .references([])
        let member = backend.record("Tag", "t")?.values["cities"] ?? .references([])
        #expect(owner == .references([]) && member == .references([]))
    }

    @Test func aDeleteClearsReferencesAtTheServer() async throws {
        let backend = ShelfBackend()
        backend.putCountry("pe", "Peru", cities: ["1", "2"])
        backend.putCity("1", "Lima", country: "pe")
        backend.putCity("2", "Cusco", country: "pe")
        let (_, container) = try Atlas.open(backend)
        _ = try await container.newContext().fetch(cities())
        let context = container.newContext()
        let countries = try await context.fetch(FetchRequest<ManagedObject>(entity: "Country"))
        context.delete(countries[0])
        try await context.save(options: nil)
        #expect(backend.count("Country") == 0)
        #expect(backend.record("City", "1")?.values["country"] == .reference(nil))
        #expect(backend.record("City", "2")?.values["country"] == .reference(nil))
        let left = try await container.newContext().fetch(cities(nil, .cache))
        #expect(left.count == 2 && left.allSatisfy { $0["country"] == nil })
    }

    @Test func aRefetchShowsWhatTheServerSays() async throws {
        let backend = ShelfBackend()
        backend.putCity("1", "Lima", population: 1)
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let city = try #require(try await context.fetch(cities()).first)
        city["population"] = Int64(9)
        backend.putCity("1", "Lima!", population: 2)
        _ = try await context.fetch(cities())
        #expect(city.name == "Lima!")
        #expect(city["population"] as? Int64 == 9)
    }

    @MainActor @Test func membersThatChangeDuringASaveStay() async throws {
        let backend = ShelfBackend()
        for id in ["a", "b", "c"] { backend.put("Tag", id, ["label": .value(.string(id)), "cities": .references([])]) }
        backend.putCity("1", "Lima", tags: [])
        let (_, container) = try Atlas.open(backend)
        let context = container.viewContext
        let city = try #require(try await context.fetch(cities()).first)
        let tags = try await context.fetch(FetchRequest<ManagedObject>(entity: "Tag", sortedBy: [FetchSort("label")]))
        city["tags"] = [tags[0], tags[1]]
        backend.close()
        let save = Task { @MainActor in try await context.save(options: nil) }
        while !backend.isWaitedFor { await Task.yield() }
        city["tags"] = [tags[1], tags[2]]
        backend.open()
        try await save.value
        #expect(context.hasChanges)
        #expect(city["tags"] as? Set<ManagedObject> == [tags[1], tags[2]])
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        let other = container.newContext()
        let again = try #require(try await other.fetch(cities(nil, .cache)).first)
        let labels = (again["tags"] as? Set<ManagedObject> ?? []).compactMap { $0["label"] as? String }
        #expect(Set(labels) == ["b", "c"])
    }

    @Test func manyObjectsGoInFewRequests() async throws {
        let backend = ShelfBackend()
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        for number in 0..<1000 {
            let city = try context.insert(entityNamed: "City")
            city["name"] = "City \(number)"
        }
        try await context.save(options: nil)
        #expect(backend.takeLog().count == 10)
        #expect(backend.count("City") == 1000)
        for city in context.registeredObjects { city["population"] = Int64(1) }
        try await context.save(options: nil)
        #expect(!context.hasChanges)
    }

    @Test func aMirrorIsAFile() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "strata-remote-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let location = SQLiteStore.Location.file(path: folder.appending(path: "atlas.sqlite").path)
        let backend = ShelfBackend()
        backend.putCountry("pe", "Peru")
        backend.putCity("1", "Lima", country: "pe")
        var options = RemoteStore.Options()
        options.savePolicy = .cacheOnly
        func open() throws -> (RemoteStore, PersistentContainer) {
            let store = try RemoteStore.open(
                model: Atlas.model, backend: backend, location: location, options: options)
            return (store, try PersistentContainer(store: store))
        }
        do {
            let (_, container) = try open()
            let context = container.newContext()
            let city = try #require(try await context.fetch(cities()).first)
            city["name"] = "Cusco"
            try await context.save(options: nil)
            container.close()
        }
        backend.down = unreachable
        let (store, container) = try open()
        let context = container.newContext()
        let city = try #require(try await context.fetch(cities()).first)
        #expect(city.name == "Cusco")
        #expect((city["country"] as? ManagedObject)?.isFault == true)
        backend.down = nil
        try await store.sync.push()
        #expect(backend.record("City", "1")?.values["name"] == .value(.string("Cusco")))
    }

    @Test func whatWaitsCountsAndGoesFirst() async throws {
        let backend = ShelfBackend()
        backend.putCity("1", "Lima", population: 1)
        let (store, container) = try Atlas.open(backend)
        let context = container.newContext(automaticallyMergesChanges: true)
        let lima = try #require(try await context.fetch(cities()).first)
        lima["population"] = Int64(5)
        let quito = try context.insert(entityNamed: "City")
        quito["cityId"] = "2"
        quito["name"] = "Quito"
        quito["population"] = Int64(5)
        try await context.save(options: RemoteOptions.cache)
        let other = container.newContext()
        #expect(try await other.fetch(cities("population == 5")).map(\.name) == ["Lima", "Quito"])
        #expect(try await other.fetch(cities("population == 5").limit(1)).map(\.name) == ["Lima"])
        #expect(try await other.count(cities("population == 5")) == 2)
        #expect(try await other.fetch(cities("population == 1")).isEmpty)
        #expect(backend.count("City") == 1)
        // The server hears about the object before it hears about the object's change.
        quito["name"] = "Quito!"
        try await context.save(options: nil)
        #expect(try store.sync.pendingCount() == 0)
        #expect(backend.record("City", "1")?.values["population"] == .value(.integer(5)))
        #expect(backend.record("City", "2")?.values["name"] == .value(.string("Quito!")))
    }

    @MainActor @Test func changesDuringASaveStay() async throws {
        let backend = ShelfBackend()
        let (_, container) = try Atlas.open(backend)
        let context = container.viewContext
        let city = try context.insert(entityNamed: "City")
        city["cityId"] = "1"
        city["name"] = "Lima"
        backend.close()
        let save = Task { @MainActor in try await context.save(options: nil) }
        while !backend.isWaitedFor { await Task.yield() }
        city["name"] = "Cusco"
        city["population"] = Int64(3)
        #expect { try context.save() } throws: {
            if case PersistenceError.saveInProgress = $0 { true } else { false }
        }
        let second = Task { @MainActor in try await context.save(options: nil) }
        await Task.yield()
        backend.open()
        try await save.value
        #expect(backend.record("City", "1") != nil)
        #expect(city.name == "Cusco")
        try await second.value
        #expect(!context.hasChanges)
        #expect(backend.record("City", "1")?.values["name"] == .value(.string("Cusco")))
        #expect(backend.record("City", "1")?.values["population"] == .value(.integer(3)))
    }

    @Test func anotherVersionAtTheServerIsAConflict() async throws {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima", population: 1)
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let city = try #require(try await context.fetch(cities()).first)
        backend.putCity("1", "Lima", population: 2)
        city["name"] = "Cusco"
        do {
            try await context.save(options: nil)
            Issue.record("the save has no error")
        } catch {
            #expect(failure(in: error)?.updated.first?.failure.remoteKind == .conflict)
        }
        // The mirror knows the server's state now: the merge policy decides.
        context.mergePolicy = .objectWinsByProperty
        try await context.save(options: nil)
        #expect(city.name == "Cusco")
        #expect(city["population"] as? Int64 == 2)
        #expect(backend.record("City", "1")?.values["name"] == .value(.string("Cusco")))
    }

    @Test func otherContextsHearOfWhatTheServerChanged() async throws {
        let backend = ShelfBackend()
        backend.putCity("1", "Lima")
        backend.putCity("2", "Quito")
        let (_, container) = try Atlas.open(backend)
        let first = container.newContext()
        let second = container.newContext(automaticallyMergesChanges: true)
        let mine = try await second.fetch(cities())
        backend.putCity("1", "Lima!")
        backend.take("City", "2")
        #expect(try await first.fetch(cities()).map(\.name) == ["Lima!"])
        second.processPendingChanges()
        #expect(mine[0].name == "Lima!")
        #expect(mine[1].isMissing)
    }

    @Test func whatIsGoneAtTheServerGoesHere() async throws {
        let backend = ShelfBackend()
        for name in ["a", "b", "c"] { backend.putCity(name, name, population: 5) }
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let found = try await context.fetch(cities())
        found[2]["population"] = Int64(6)
        try await context.save(options: RemoteOptions.cache)
        for name in ["b", "c"] { backend.take("City", name) }
        _ = try await context.fetch(cities("population >= 5"))
        // What waits to be told stays.
        #expect(try await container.newContext().fetch(cities(nil, .cache)).map(\.name) == ["a", "c"])
        // A page tells nothing of the rest.
        _ = try await context.fetch(cities().limit(0))
        #expect(try await container.newContext().fetch(cities(nil, .cache)).map(\.name) == ["a", "c"])
    }
}
