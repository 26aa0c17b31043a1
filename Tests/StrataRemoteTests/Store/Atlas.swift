import Foundation
import Strata
import StrataRemote
import Testing

/// The model that the tests of remote stores work with: countries with cities, cities with tags.
enum Atlas {
    static let model = makeModel()

    private static func makeModel() -> ManagedObjectModel {
        do {
            return try ManagedObjectModel(name: "Atlas") {
                Entity("Country") {
                    Attribute("countryId", .string, optional: true).unique()
                    Attribute("name", .string, default: .value(""))
                    Relationship("cities", to: "City", .toMany, inverse: "country")
                }
                Entity("City") {
                    Attribute("cityId", .string, optional: true).unique()
                    Attribute("name", .string, default: .value(""))
                    Attribute("population", .integer64, default: .value(0))
                    Attribute("place", .geoPoint, optional: true)
                    Attribute("revision", .integer64, optional: true)
                    Relationship("country", to: "Country", .optionalToOne, inverse: "cities")
                    Relationship("tags", to: "Tag", .toMany, inverse: "cities")
                }
                Entity("Tag") {
                    Attribute("tagId", .string, optional: true).unique()
                    Attribute("label", .string, default: .value(""))
                    Relationship("cities", to: "City", .toMany, inverse: "tags")
                }
            }
        } catch {
            fatalError("\(error)")
        }
    }

    /// A store over a back end, and a container on it.
    static func open(
        _ backend: ShelfBackend, location: SQLiteStore.Location = .memory(name: nil),
        _ change: (inout RemoteStore.Options) -> Void = { _ in }
    ) throws -> (RemoteStore, PersistentContainer) {
        var options = RemoteStore.Options()
        options.fetchPolicy = .networkOnly
        change(&options)
        let store = try RemoteStore.open(model: model, backend: backend, location: location, options: options)
        return (store, try PersistentContainer(store: store))
    }

    /// A store that works only on its mirror until it synchronizes, which it tries once, and a context on it.
    static func openOffline(
        _ backend: ShelfBackend, location: SQLiteStore.Location = .memory(name: nil),
        _ change: (inout SyncOptions) -> Void = { _ in }
    ) throws -> (RemoteStore, ManagedObjectContext) {
        let (store, container) = try open(backend, location: location) { options in
            options.fetchPolicy = .cacheOnly
            options.savePolicy = .cacheOnly
            options.sync.retries = 0
            change(&options.sync)
        }
        return (store, container.newContext(automaticallyMergesChanges: true))
    }
}

extension ShelfBackend {
    /// One that refuses writes for their base version.
    static func conditional() -> ShelfBackend { ShelfBackend { $0.features.insert(.conditionalWrites) } }

    func putCity(
        _ id: String, _ name: String, population: Int = 0, country: String? = nil, place: GeoPoint? = nil,
        tags: [String]? = nil
    ) {
        var values: [String: RemoteValue] = [
            "name": .value(.string(name)), "population": .value(.integer(Int64(population))),
            "country": .reference(country), "place": .value(place.map(Value.geoPoint) ?? .null),
        ]
        if let tags { values["tags"] = .references(tags) }
        put("City", id, values)
    }

    func putCountry(_ id: String, _ name: String, cities: [String]? = nil) {
        var values: [String: RemoteValue] = ["name": .value(.string(name))]
        if let cities { values["cities"] = .references(cities) }
        put("Country", id, values)
    }

    /// The queries of a log.
    func takeQueries() -> [RemoteQuery] {
        takeLog().compactMap { if case .query(let query) = $0 { query } else { nil } }
    }
}

extension RemoteOptions {
    static let cache = RemoteOptions(fetchPolicy: .cacheOnly, savePolicy: .cacheOnly)
    static let network = RemoteOptions(fetchPolicy: .networkOnly, savePolicy: .networkThenCache)
}

extension ManagedObject {
    var name: String { self["name"] as? String ?? "?" }
}

let unreachable = RemoteError(.unreachable, domain: "test", code: -105, message: "no network")
let broken = RemoteError(.unavailable, code: 500, message: "the server is broken", status: 500)

/// Requests for cities; nil for all.
func cities(_ format: String? = nil, _ options: RemoteOptions? = nil) throws -> FetchRequest<ManagedObject> {
    FetchRequest(
        entity: "City", where: try format.map { try FetchPredicate(format: $0) }, sortedBy: [FetchSort("name")]
    ).options(options)
}

/// The failure in a store's error; nil for another one.
func failure(in error: any Error) -> RemoteFailure? {
    guard case PersistenceError.store(.remote(let failure)) = error else { return nil }
    return failure
}

func isNeedsNetwork(_ error: any Error) -> Bool {
    guard case PersistenceError.store(.needsNetwork) = error else { return false }
    return true
}
