import Foundation
import Strata
import Testing

@testable import StrataRemote

@Suite struct PlannerTests {
    private func makeCities() -> ShelfBackend {
        let backend = ShelfBackend()
        backend.putCountry("pe", "Peru")
        backend.putCountry("ec", "Ecuador")
        for (number, name) in ["Lima", "Quito", "Cusco", "Piura", "Loja", "Iquitos"].enumerated() {
            backend.putCity(
                "\(number)", name, population: number * 10, country: [1, 4].contains(number) ? "ec" : "pe")
        }
        return backend
    }

    @Test func whatTheServerCannotDoIsFinishedHere() async throws {
        let backend = makeCities()
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let format = "population > 0 AND name CONTAINS 'i'"
        await #expect {
            _ = try await context.fetch(cities(format))
        } throws: {
            let text = "\($0)"
            return text.contains("Shelf") && text.contains("name CONTAINS") && !text.contains("population")
        }
        #expect(backend.takeLog().isEmpty)
        let found = try await context.fetch(cities(format, RemoteOptions(finishesLocally: true)))
        #expect(found.map(\.name) == ["Iquitos", "Piura", "Quito"])
        let queries = backend.takeQueries()
        #expect(queries.map { $0.predicate?.description } == ["population > 0"])
        var paged = try cities(format, RemoteOptions(finishesLocally: true)).limit(2)
        paged.offset = 1
        #expect(try await context.fetch(paged).map(\.name) == ["Piura", "Quito"])
        #expect(backend.takeQueries().first?.limit == nil)
        #expect(try await context.count(cities(format, RemoteOptions(finishesLocally: true))) == 3)
    }

    @Test func whatIsFinishedHereFindsRelatedObjects() async throws {
        let backend = makeCities()
        let (_, container) = try Atlas.open(backend) { $0.finishesLocally = true }
        let context = container.newContext()
        let found = try await context.fetch(cities("country.name == 'Ecuador'"))
        #expect(found.map(\.name) == ["Loja", "Quito"])
        #expect(backend.takeLog().count == 2)
    }

    @Test func objectsBecomePrimaryKeys() async throws {
        let backend = makeCities()
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let countries = try await context.fetch(
            FetchRequest<ManagedObject>(entity: "Country", sortedBy: [FetchSort("name")]))
        _ = backend.takeLog()
        func request(_ format: String, _ arguments: (any PredicateArgument)?...) throws -> FetchRequest<ManagedObject> {
            FetchRequest(
                entity: "City",
                where: try FetchPredicate(format: format, arguments: arguments.map { $0?.predicateArgument ?? .null }),
                sortedBy: [FetchSort("name")])
        }
        let found = try await context.fetch(request("country == %@", countries[0]))
        #expect(found.map(\.name) == ["Loja", "Quito"])
        let both = Value.list(countries.map(\.predicateArgument))
        #expect(try await context.count(request("country IN %@", both)) == 6)
        #expect(try await context.fetch(request("SELF == %@", found[0])).map(\.name) == ["Loja"])
        #expect(
            backend.takeQueries().map { $0.predicate?.description } == [
                "country == 'ec'", "cityId == '4'",
            ])
        // No object of the server refers to one that it has never heard about.
        let new = try context.insert(entityNamed: "Country")
        #expect(try await context.fetch(request("country == %@", new)).isEmpty)
        #expect(backend.takeLog().isEmpty)
    }

    @Test func pagesAreRead() async throws {
        let backend = ShelfBackend { $0.maximumPage = 3 }
        for number in 0..<10 { backend.putCity("\(number)", "City \(number)", population: -number) }
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        var request = FetchRequest<ManagedObject>(entity: "City", sortedBy: [FetchSort("population")])
        #expect(try await context.fetch(request).map(\.name) == (0..<10).reversed().map { "City \($0)" })
        #expect(backend.takeLog().count == 4)
        request.limit = 5
        request.offset = 2
        #expect(try await context.fetch(request).map(\.name) == (3...7).reversed().map { "City \($0)" })
        #expect(backend.takeQueries().map(\.limit) == [5, 2])
    }

    @Test func anOrderThatTheServerLacks() async throws {
        let backend = makeCities()
        let plain = ShelfBackend { $0.features.subtract([.sorting, .paging]) }
        for (number, name) in ["Lima", "Quito", "Cusco"].enumerated() { plain.putCity("\(number)", name) }
        let (_, container) = try Atlas.open(plain)
        let context = container.newContext()
        #expect(try await context.fetch(cities()).map(\.name) == ["Cusco", "Lima", "Quito"])
        await #expect {
            _ = try await context.fetch(cities().limit(1))
        } throws: {
            "\($0)".contains("limit") && "\($0)".contains("name")
        }
        let first = try await context.fetch(cities(nil, RemoteOptions(finishesLocally: true)).limit(1))
        #expect(first.map(\.name) == ["Cusco"])
        #expect(backend.takeLog().isEmpty)
    }

    @Test func unsavedChangesCount() async throws {
        let backend = makeCities()
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let request = try cities("population >= 40")
        let found = try await context.fetch(request)
        #expect(found.map(\.name) == ["Iquitos", "Loja"])
        found[0]["population"] = Int64(1)
        let new = try context.insert(entityNamed: "City")
        new["name"] = "Tacna"
        new["population"] = Int64(99)
        #expect(try await context.fetch(request).map(\.name) == ["Loja", "Tacna"])
        #expect(try await context.count(request) == 2)
        #expect(try await context.fetch(request.limit(1)).map(\.name) == ["Loja"])
    }

    @Test func geoIsAnsweredByBoth() async throws {
        let backend = ShelfBackend()
        backend.putCity("1", "Lima", place: GeoPoint(latitude: -12.05, longitude: -77.04))
        backend.putCity("2", "Cusco", place: GeoPoint(latitude: -13.53, longitude: -71.97))
        backend.putCity("3", "Quito", place: GeoPoint(latitude: -0.18, longitude: -78.47))
        backend.putCity("4", "Nowhere")
        let (_, container) = try Atlas.open(backend)
        let context = container.newContext()
        let puno = GeoPoint(latitude: -15.84, longitude: -70.02)
        let near = FetchPredicate.geo(.near(.keyPath(["place"]), .constant(.geoPoint(puno))))
        var request = FetchRequest<ManagedObject>(entity: "City", where: near)
        #expect(try await context.fetch(request).map(\.name) == ["Cusco", "Lima", "Quito"])
        request.limit = 2
        #expect(try await context.fetch(request).map(\.name) == ["Cusco", "Lima"])
        // The mirror answers the same without the network.
        backend.down = unreachable
        request.storeOptions = RemoteOptions.cache
        #expect(try await context.fetch(request).map(\.name) == ["Cusco", "Lima"])
        let within = FetchPredicate.geo(
            .within(
                .keyPath(["place"]), .constant(.geoPoint(puno)), distance: .constant(.double(400)), .kilometers))
        let close = FetchRequest<ManagedObject>(entity: "City", where: within).options(RemoteOptions.cache)
        #expect(try await context.fetch(close).map(\.name) == ["Cusco"])
    }
}
