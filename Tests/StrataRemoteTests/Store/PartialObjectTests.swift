import Foundation
import Strata
import StrataRemote
import Testing

/// Fetches that ask the server for some properties.
@Suite struct PartialObjectTests {
    private func open(
        _ change: @escaping @Sendable (inout RemoteCapabilities) -> Void = { $0.features.insert(.selecting) }
    ) throws -> (Interceptor, RemoteStore, ManagedObjectContext) {
        let backend = Interceptor(.conditional(), change)
        backend.shelf.putCountry("pe", "Peru")
        for number in 1...3 {
            backend.shelf.putCity("\(number)", "City \(number)", population: number, country: "pe", tags: [])
        }
        // The shelf tells what is selected.
        backend.alter { (operation, answer) async throws(RemoteError) in
            guard case .query(let query) = operation, let properties = query.properties,
                case .page(var page) = answer
            else { return answer }
            for index in page.records.indices {
                page.records[index].values = page.records[index].values.filter { properties.contains($0.key) }
            }
            return .page(page)
        }
        let (store, context) = try Atlas.offline(backend) {
            $0.fetchPolicy = .networkOnly
            $0.waitsForNetwork = true
        }
        return (backend, store, context)
    }

    private func names(_ options: RemoteOptions = RemoteOptions(properties: ["name"])) -> FetchRequest<ManagedObject> {
        FetchRequest<ManagedObject>(entity: "City", sortedBy: [FetchSort("name")]).options(options)
    }

    @Test("Objects tell what was selected without another request, and are completed one by one when touched")
    func completed() async throws {
        let (backend, _, context) = try open()
        let cities = try await context.fetch(names())
        #expect(cities.map { $0["name"] as? String } == ["City 1", "City 2", "City 3"])
        #expect(cities.map { $0["cityId"] as? String } == ["1", "2", "3"])
        for city in cities { #expect(city.isFault) }
        #expect(backend.shelf.takeLog().count == 1)
        #expect(cities[1]["population"] as? Int64 == 2)
        #expect(backend.shelf.takeLog().count == 1)
        #expect(!cities[1].isFault && cities[0].isFault && cities[2].isFault)
        #expect(cities[1]["name"] as? String == "City 2")
        try await context.load(cities)
        #expect(cities.map { $0["population"] as? Int64 } == [1, 2, 3])
        #expect(backend.shelf.takeLog().count <= 2)
    }

    @Test("A relationship to one that was selected leads to its object")
    func references() async throws {
        let (backend, _, context) = try open()
        let cities = try await context.fetch(names(RemoteOptions(properties: ["country"])))
        _ = backend.shelf.takeLog()
        let country = try #require(cities[0]["country"] as? ManagedObject)
        for city in cities { #expect(city["country"] as? ManagedObject === country) }
        #expect(country["name"] as? String == "Peru")
        #expect(backend.shelf.takeLog().count == 1)
        // The order looks at the name.
        #expect(cities.map { $0["name"] as? String } == ["City 1", "City 2", "City 3"])
        #expect(backend.shelf.takeLog().isEmpty)
    }

    @Test("A change reads the whole object first, and is sent over the version that was read")
    func changed() async throws {
        let (backend, store, context) = try open()
        let city = try #require(try await context.fetch(names()).first)
        city["name"] = "Lima"
        #expect(city["population"] as? Int64 == 1)
        try await context.save(options: RemoteOptions(savePolicy: .cacheOnly))
        let report = try await store.sync.push()
        #expect(report.failures.isEmpty && report.results.allSatisfy { $0.action == .updated })
        #expect(backend.shelf.record("City", "1")?.values["name"] == .value(.string("Lima")))
        #expect(backend.shelf.record("City", "1")?.values["population"] == .value(.integer(1)))
    }

    @Test("Objects that are here as a whole take the selected values, and stay whole")
    func known() async throws {
        let (backend, store, context) = try open()
        try await store.sync.pull()
        let whole = try await context.fetch(names(RemoteOptions(fetchPolicy: .cacheOnly)))
        backend.shelf.putCity("2", "Arequipa", population: 20, country: "pe", tags: [])
        let cities = try await context.fetch(names())
        #expect(Set(cities) == Set(whole))
        #expect(cities.map { $0["name"] as? String } == ["Arequipa", "City 1", "City 3"])
        // The other values are those of before, until a pull reads them.
        #expect(cities[0]["population"] as? Int64 == 2 && !cities[0].isFault)
        try await store.sync.pull()
        context.processPendingChanges()
        #expect(cities[0]["population"] as? Int64 == 20)
    }

    @Test("A pull completes them, and contexts see its values")
    func pulled() async throws {
        let (backend, store, context) = try open()
        let cities = try await context.fetch(names())
        backend.shelf.putCity("3", "Cusco", population: 30, country: "pe", tags: [])
        try await store.sync.pull()
        context.processPendingChanges()
        _ = backend.shelf.takeLog()
        #expect(cities[2]["name"] as? String == "Cusco")
        #expect(cities[2]["population"] as? Int64 == 30)
        #expect(backend.shelf.takeLog().isEmpty)
    }

    @Test("Fetches from the mirror do not find them, and another selection adds to what they tell")
    func others() async throws {
        let (backend, _, context) = try open()
        let cities = try await context.fetch(names())
        #expect(try await context.fetch(names(RemoteOptions(fetchPolicy: .cacheOnly))).isEmpty)
        _ = try await context.fetch(names(RemoteOptions(properties: ["population"])))
        _ = backend.shelf.takeLog()
        #expect(cities.map { $0["population"] as? Int64 } == [1, 2, 3])
        #expect(cities.map { $0["name"] as? String } == ["City 1", "City 2", "City 3"])
        #expect(backend.shelf.takeLog().isEmpty)
        try context.refreshAllObjects()
        #expect(cities[0]["name"] as? String == "City 1")
        #expect(backend.shelf.takeLog().count == 1)
    }

    @Test("Fetches of whole objects and of parts do not share their statements")
    func statements() async throws {
        let (backend, _, context) = try open()
        for id in ["2", "3"] { backend.shelf.take("City", id) }
        func count(_ options: RemoteOptions) async throws -> Int { try await context.fetch(names(options)).count }
        #expect(try await count(RemoteOptions()) == 1)
        for id in ["2", "3"] { backend.shelf.putCity(id, "City \(id)", country: "pe", tags: []) }
        #expect(try await count(RemoteOptions(properties: ["name"])) == 3)
        backend.shelf.putCity("4", "City 4", country: "pe", tags: [])
        #expect(try await count(RemoteOptions()) == 4)
        #expect(try await count(RemoteOptions(properties: ["name"])) == 4)
        let cached = try await context.count(names(RemoteOptions(fetchPolicy: .cacheOnly)))
        #expect(cached == 4)
    }

    @Test("Unsaved changes and child contexts go along")
    func pending() async throws {
        let (backend, _, context) = try open()
        let new = try Atlas.city("0", "Ancón", context)
        let cities = try await context.fetch(names())
        #expect(cities.first === new && cities.count == 4)
        let child = context.makeChild()
        _ = backend.shelf.takeLog()
        let copies = try await child.fetch(names(RemoteOptions(fetchPolicy: .networkOnly, properties: ["name"])))
        #expect(copies.map { $0["name"] as? String } == ["Ancón", "City 1", "City 2", "City 3"])
        #expect(backend.shelf.takeLog().count == 1)
        #expect(copies[3]["population"] as? Int64 == 3)
    }

    @Test("A server that cannot select tells all; wrong names and requests for values are refused")
    func limits() async throws {
        let (backend, _, context) = try open { _ in }
        let cities = try await context.fetch(names())
        _ = backend.shelf.takeLog()
        #expect(cities.map { $0["population"] as? Int64 } == [1, 2, 3])
        #expect(backend.shelf.takeLog().isEmpty)
        for name in ["nmae", "tags"] {
            await #expect(throws: PersistenceError.self) {
                _ = try await context.fetch(names(RemoteOptions(properties: [name]))).count
            }
        }
        let (_, _, other) = try open()
        await #expect(throws: PersistenceError.self) {
            _ = try await other.fetchValues(names().select(FetchColumn("name", .keyPath(["name"])))).count
        }
    }
}
