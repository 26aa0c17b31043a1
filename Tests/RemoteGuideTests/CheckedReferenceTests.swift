import Foundation
import Strata
import StrataRemote
import StrataStore
import Testing

/// What the reference for back ends says of services that refuse references to missing objects.
@Suite struct CheckedReferenceTests {
    /// Shelf with foreign keys: it answers 400 to a write that refers to what it does not have.
    private struct CheckingServer: HTTPTransport {
        let server = ShelfServer()

        func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
            let json = request.body.flatMap { try? JSONValue(parsing: $0) }
            for (field, entity) in [("country", "Country"), ("capital", "City")] {
                guard let id = json?[field]?.string else { continue }
                let question = try WireRequest(.get, authority: "shelf.example", path: "/\(entity)?id=\(id)")
                let found = try await server.send(question, timeout: timeout).json(domain: "Shelf").elements
                if found?.isEmpty == false { continue }
                return WireResponse(
                    HTTPResponse(status: 400, headerFields: [.contentType: "application/json"]),
                    body: Data(#"{"error": "no such object"}"#.utf8))
            }
            return try await server.send(request, timeout: timeout)
        }
    }

    /// Shelf as a service that gives new objects their keys: here the ones that it was sent.
    private struct Naming: RemoteDialect {
        let shelf = ShelfDialect(authority: "shelf.example")
        let assignsIDs: Bool
        var name: String { shelf.name }
        var capabilities: RemoteCapabilities {
            var capabilities = shelf.capabilities
            if assignsIDs { capabilities.features.insert(.assignsIDs) }
            return capabilities
        }
        func request(for operation: RemoteOperation, options: RequestOptions) throws(RemoteError) -> WireRequest {
            try shelf.request(for: operation, options: options)
        }
        func answer(_ response: WireResponse, to operation: RemoteOperation) throws(RemoteError) -> RemoteAnswer {
            try shelf.answer(response, to: operation)
        }
    }

    private let server = CheckingServer()

    private func store(assignsIDs: Bool = false) throws -> RemoteStore {
        let model = try ManagedObjectModel(name: "Places") {
            Entity("City") {
                Attribute("cityId", .string)
                Attribute("name", .string, optional: true)
                Relationship("country", to: "Country", .optionalToOne, inverse: "cities")
            }
            Entity("Country") {
                Attribute("countryId", .string)
                Relationship("cities", to: "City", .toMany, inverse: "country")
                Relationship("capital", to: "City", .optionalToOne)
            }
        }
        let backend = HTTPBackend(dialect: Naming(assignsIDs: assignsIDs), transport: server)
        return try RemoteStore.open(model: model, backend: backend, location: .memory(name: nil))
    }

    /// A city in a country whose capital it is.
    private func makeCircle(in context: ManagedObjectContext) throws -> (city: ManagedObject, country: ManagedObject) {
        let city = try context.insert(entityNamed: "City")
        let country = try context.insert(entityNamed: "Country")
        city["country"] = country
        country["capital"] = city
        return (city, country)
    }

    /// The references that the server has.
    private func references() async throws -> [String?] {
        var result: [String?] = []
        for (entity, field) in [("City", "country"), ("Country", "capital")] {
            let request = try WireRequest(.get, authority: "shelf.example", path: "/\(entity)")
            let list = try await server.send(request, timeout: 1).json(domain: "Shelf").elements ?? []
            result += list.map { $0[field]?.string }
        }
        return result
    }

    @Test(arguments: [SavePolicy.networkThenCache, .cacheOnly])
    func aBackEndThatAssignsKeysCutsCircles(policy: SavePolicy) async throws {
        let store = try store(assignsIDs: true)
        store.savePolicy = policy
        let context = try PersistentContainer(store: store).newContext()
        let (city, country) = try makeCircle(in: context)
        try await context.save()
        let report = try await store.sync.synchronize()
        #expect(report.failures.isEmpty)
        #expect(try await references() == [country["countryId"] as? String, city["cityId"] as? String])
    }

    @Test func otherBackEndsDoNot() async throws {
        let store = try store()
        store.savePolicy = .cacheOnly
        let context = try PersistentContainer(store: store).newContext()
        _ = try makeCircle(in: context)
        try await context.save()
        _ = try? await store.sync.synchronize()
        #expect(try store.sync.failedChanges().map(\.error.kind) == [.rejected])
    }

    @Test(arguments: [false, true])
    func aReferenceToADeletedObjectLosesNothing(retries: Bool) async throws {
        let store = try store()
        store.savePolicy = .cacheOnly
        let context = try PersistentContainer(store: store).newContext(automaticallyMergesChanges: true)
        let country = try context.insert(entityNamed: "Country")
        try await context.save()
        try await store.sync.synchronize()
        let id = try #require(country["countryId"] as? String)
        let deletion = try WireRequest(.delete, authority: "shelf.example", path: "/Country/\(id)")
        #expect(try await server.send(deletion, timeout: 1).status == 204)

        let city = try context.insert(entityNamed: "City")
        city["name"] = "Lima"
        city["country"] = country
        try await context.save()
        _ = try? await store.sync.synchronize()
        #expect(try store.sync.failedChanges().map(\.error.kind) == [.rejected])
        #expect(try await references() == [])

        // The pull that has learnt of the deletion has set the reference to nil.
        context.processPendingChanges()
        #expect(city["country"] == nil)
        var expected: [String?] = [nil]
        if retries {
            try store.sync.retry(store.sync.failedChanges())
        } else {
            let other = try context.insert(entityNamed: "Country")
            city["country"] = other
            try await context.save()
            expected = [other["countryId"] as? String, nil]
        }
        try await store.sync.synchronize()
        #expect(try store.sync.failedChanges().isEmpty)
        #expect(try await references() == expected)
    }
}
