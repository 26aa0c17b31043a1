import Foundation
import Strata
import Testing

@testable import StrataRemote

@Suite struct PlaceholderTests {
    @Test func aThousandFaultsTakeAHandfulOfRequests() async throws {
        let backend = ShelfBackend()
        for number in 0..<1000 {
            backend.putCountry("c\(number)", "Country \(number)")
            backend.putCity("\(number)", "City \(number)", country: "c\(number)")
        }
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let found = try await context.fetch(cities())
        _ = backend.takeLog()
        try await context.load("country", of: found)
        #expect(backend.takeLog().count == 5)
        let names = found.map { ($0["country"] as? ManagedObject)?.name ?? "-" }
        #expect(names == found.map { $0.name.replacingOccurrences(of: "City", with: "Country") })
        #expect(context.lastFaultError == nil)
        // Objects that are here are not requested again.
        try await context.load("country", of: found)
        #expect(backend.takeLog().isEmpty)
    }

    @Test func prefetchingBringsWhatIsMissing() async throws {
        let backend = ShelfBackend()
        backend.putCountry("pe", "Peru", cities: ["1", "2"])
        backend.putCity("1", "Lima", country: "pe")
        backend.putCity("2", "Cusco", country: "pe")
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let countries = try await context.fetch(FetchRequest<ManagedObject>(entity: "Country", prefetch: ["cities"]))
        #expect(backend.takeLog().count == 2)
        let members = try #require(countries.first?["cities"] as? Set<ManagedObject>)
        #expect(Set(members.map(\.name)) == ["Lima", "Cusco"])
        #expect(members.allSatisfy { ($0["country"] as? ManagedObject) === countries.first })
    }

    @Test("A pull goes on reading what the objects refer to that it has read by name")
    func readsOn() async throws {
        let backend = Interceptor(.conditional()) { $0.features.formUnion([.incrementalPull, .deletions]) }
        backend.shelf.putCity("1", "Lima", tags: ["old"])
        backend.shelf.put("Tag", "old", ["label": .value(.string("Old")), "cities": .references(["1", "2"])])
        backend.shelf.putCity("2", "Cusco", tags: ["old"])
        // Pulls have passed all but one object.
        let told = try #require(backend.shelf.record("City", "1"))
        backend.intercept { (operation) async throws(RemoteError) in
            guard case .pull(let pull) = operation else { return nil }
            return .page(RemotePage(records: pull.entity.name == "City" ? [told] : [], next: "1"))
        }
        let (store, context) = try Atlas.offline(backend)
        try await store.sync.pull()
        #expect(try await context.fetch(cities()).map(\.name) == ["Cusco", "Lima"])
    }

    @Test("A context is in conflict with what others have made of an object that was purged and read again")
    func forgotten() async throws {
        let backend = ShelfBackend.conditional()
        backend.putCity("1", "Lima")
        let (store, _) = try Atlas.openOffline(backend)
        try await store.sync.pull()
        let context = try PersistentContainer(store: store).newContext()
        context.mergePolicy = .error
        let city = try #require(try await context.find(entity: "City", "1"))
        #expect(city.name == "Lima")
        try store.sync.purge([RemoteIdentity(entity: "City", id: "1")])
        backend.putCity("1", "Callao")
        try await store.sync.pull()
        city["name"] = "Cusco"
        await #expect(throws: PersistenceError.self) { try await context.save(options: RemoteOptions.cache) }
        await #expect(throws: PersistenceError.self) { try await context.save(options: RemoteOptions.network) }
        #expect(backend.record("City", "1")?.values["name"] == .value(.string("Callao")))
    }

    @Test func pairsAreLoadedInOneRequest() async throws {
        let backend = ShelfBackend()
        backend.put("Tag", "t1", ["label": .value(.string("old")), "cities": .references(["1", "2"])])
        backend.put("Tag", "t2", ["label": .value(.string("big")), "cities": .references(["1"])])
        backend.putCity("1", "Lima", tags: ["t1", "t2"])
        backend.putCity("2", "Cusco", tags: ["t1"])
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let found = try await context.fetch(cities())
        _ = backend.takeLog()
        try await context.load("tags", of: found)
        #expect(backend.takeLog().count == 1)
        let labels = found.map { city in
            Set((city["tags"] as? Set<ManagedObject> ?? []).compactMap { $0["label"] as? String })
        }
        #expect(labels == [["old"], ["old", "big"]])
    }

    @Test func aSynchronousTouchIsATypedError() async throws {
        let backend = ShelfBackend()
        backend.putCountry("pe", "Peru")
        backend.putCity("1", "Lima", country: "pe")
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let city = try #require(try await context.fetch(cities()).first)
        let country = try #require(city["country"] as? ManagedObject)
        var errors: [PersistenceError] = []
        context.onFaultError = { error, object in
            #expect(object === country)
            errors.append(error)
        }
        #expect(country["name"] as? String ?? "" == "")
        #expect(errors.count == 1 && errors.allSatisfy(isNeedsNetwork))
        #expect(country.isFault)
        #expect { try context.existingObject(with: country.objectID) } throws: { isNeedsNetwork($0) }
        try await context.load([country])
        #expect(country["name"] as? String == "Peru")
        #expect(errors.count == 1)
    }

    @Test func aTouchWaitsIfTheStoreIsTold() async throws {
        let backend = ShelfBackend()
        for number in 0..<50 {
            backend.putCountry("c\(number)", "Country \(number)")
            backend.putCity("\(number)", "City", country: "c\(number)")
        }
        let (_, container) = try Atlas.open(backend) { $0.waitsForNetwork = true }
        let context = container.newContext()
        let found = try await context.fetch(cities())
        _ = backend.takeLog()
        #expect(Set(found.map { ($0["country"] as? ManagedObject)?.name ?? "-" }).count == 50)
        // One touch brings what its whole batch lacks.
        #expect(backend.takeLog().count == 1)
    }

    @Test func whatTheServerLacksIsMissing() async throws {
        let backend = ShelfBackend()
        backend.putCity("1", "Lima", country: "gone")
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let city = try #require(try await context.fetch(cities()).first)
        let country = try #require(city["country"] as? ManagedObject)
        try await context.load([country])
        #expect(country.isMissing)
        let other = container.newContext()
        let again = try #require(try await other.fetch(cities(nil, .cache)).first)
        #expect(again["country"] == nil)
    }

    @Test func withoutTheNetworkFaultsStay() async throws {
        let backend = ShelfBackend()
        backend.putCountry("pe", "Peru")
        backend.putCity("1", "Lima", country: "pe")
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let found = try await context.fetch(cities())
        try await context.load("country", of: found, options: RemoteOptions.cache)
        #expect((found[0]["country"] as? ManagedObject)?.isFault == true)
        backend.down = unreachable
        await #expect {
            try await context.load("country", of: found)
        } throws: {
            failure(in: $0)?.remoteKind == .unreachable
        }
    }

    @Test func childrenLoadThroughTheirParents() async throws {
        let backend = ShelfBackend()
        backend.putCountry("pe", "Peru", cities: ["1"])
        backend.putCity("1", "Lima", country: "pe")
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let child = context.makeChild()
        let countries = try await child.fetch(FetchRequest<ManagedObject>(entity: "Country"))
        try await child.load("cities", of: countries)
        #expect((countries.first?["cities"] as? Set<ManagedObject>)?.map(\.name) == ["Lima"])
    }

    @Test("A changed object that others delete can be saved, though what it refers to is not here")
    func deletedBeside() async throws {
        let backend = Interceptor()
        backend.shelf.putCountry("pe", "Peru")
        backend.shelf.putCity("1", "Lima", country: "pe")
        backend.intercept { (operation) throws(RemoteError) in
            switch operation {
            case .query(let query) where query.entity.name == "Country": break
            case .read(let entity, _) where entity.name == "Country": break
            default: return nil
            }
            throw RemoteError(.rejected, message: "not now", status: 400)
        }
        let (store, context) = try Atlas.offline(backend)
        _ = try? await store.sync.pull()
        let city = try #require(try await context.fetch(cities()).first)
        city["name"] = "Callao"
        backend.shelf.take("City", "1")
        _ = try? await store.sync.pull()
        context.processPendingChanges()
        context.mergePolicy = .error
        let error = await #expect(throws: PersistenceError.self) { try await context.save(options: nil) }
        guard case .conflicts? = error else { throw try #require(error) }
        context.mergePolicy = .objectWinsByProperty
        try await context.save(options: nil)
        #expect(!context.hasChanges)
        #expect(try await context.count(cities("name = 'Callao'")) == 1)
    }
}
