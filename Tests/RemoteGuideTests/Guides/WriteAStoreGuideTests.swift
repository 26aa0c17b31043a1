import Foundation
import StrataRemoteTesting
import Synchronization
import Testing

/// The tests that Documentation/WriteAStore.md shows.
enum WriteAStoreGuideTests {
    @MainActor static func firstSteps(path: String, transport: any HTTPTransport) async throws -> [String] {
        let backend = HTTPBackend(dialect: ShelfDialect(authority: "shelf.example"), transport: transport)
        let store = try RemoteStore.open(model: GazetteerModel.model, backend: backend, location: .file(path: path))
        let container = try PersistentContainer(store: store, classes: GazetteerModel.classes)
        let context = container.viewContext

        let peru = Country(context: context, countryId: "PE", name: "Peru")
        City(context: context, name: "Lima", country: peru)
        try await context.save()
        let cities = try await context.fetch(FetchRequest<City>())
        return cities.map(\.name)
    }

    static func requests() throws -> [String] {
        var lines: [String] = []
        func print(_ method: HTTPRequest.Method, _ path: String) { lines.append("\(method.rawValue) \(path)") }
        guard let city = GazetteerModel.model.entity(named: "City") else { return [] }
        let dialect = ShelfDialect(authority: "shelf.example")
        for request in try dialect.requests(for: .query(RemoteQuery(entity: city))) {
            print(request.head.method, request.head.path ?? "/")
        }
        return lines
    }

    static func subject() throws -> DialectSubject {
        let model = try ManagedObjectModel(name: "Cities") { Entity("City") { Attribute("cityId", .string) } }
        let city = try #require(model.entity(named: "City"))
        @Sendable func answer(_ status: Int, _ json: JSONValue?) -> WireResponse {
            WireResponse(
                HTTPResponse(status: .init(code: status), headerFields: [.contentType: "application/json"]),
                body: json.flatMap { try? $0.data() } ?? Data())
        }
        @Sendable func objects(_ records: [RemoteRecord]) -> [JSONValue] {
            records.map { ["id": .string($0.id), "rev": 1] }
        }
        let subject = DialectSubject(
            dialect: ShelfDialect(authority: "shelf.example"), entity: city,
            success: { operation, _ in
                if case .delete = operation { answer(204, nil) } else { answer(200, ["id": "a", "rev": 1]) }
            },
            failure: { status in answer(status, ["error": "no"]) },
            list: { records in answer(200, .array(objects(records))) },
            listWithUnreadable: { records in answer(200, .array(objects(records) + [["rev": 2]])) })
        return subject
    }

    static func dialect() throws -> [DialectSuite.Failure] {
        let subject = try subject()
        let failures = DialectSuite.run(subject)
        return failures
    }

    static func backEnd() async -> [BackendSuite.Failure] {
        let failures = await BackendSuite.run(ShelfServers())
        return failures
    }

    static func store() async -> ConformanceReport {
        let report = await ConformanceSuite.standard.run(ShelfStores())
        return report
    }
}

struct ShelfServers: BackendSubject {
    let name = "Shelf"

    func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend {
        // A new server for each check.
        HTTPBackend(dialect: ShelfDialect(authority: "shelf.example"), transport: ShelfServer())
    }
}

final class ShelfStores: ConformanceSubject {
    let name = "Shelf"
    let omissions: Set<ConformanceFeature> = [.atomicSaves, .uniqueKeys]
    let datePrecision = 0.001
    private let servers = Mutex<[String: ShelfServer]>([:])

    func open(_ model: ManagedObjectModel, at place: URL) async throws -> any PersistentStore {
        // The same server when the same place is opened again.
        let server = servers.withLock { servers in
            let server = servers[place.path] ?? ShelfServer()
            servers[place.path] = server
            return server
        }
        var options = RemoteStore.Options()
        options.fetchPolicy = .networkOnly
        options.waitsForNetwork = true
        options.finishesLocally = true
        let backend = HTTPBackend(dialect: ShelfDialect(authority: "shelf.example"), transport: server)
        return try RemoteStore.open(
            model: model, backend: backend, location: .file(path: place.appending(path: "mirror.sqlite").path),
            options: options)
    }
}

struct ServersWithClocks: BackendSubject {
    let name = "Shelf with times"
    // The cursor is ten seconds before the last change.
    let repeatsRecentChanges = true

    func open(_ model: ManagedObjectModel) async throws -> any RemoteBackend {
        HTTPBackend(dialect: ShelfDialect(authority: "shelf.example"), transport: ShelfServer())
    }
}
