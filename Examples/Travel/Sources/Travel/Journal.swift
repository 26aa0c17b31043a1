import Foundation
import Strata
import StrataRemote

/// The places and visits of a traveller, kept in a mirror that works without a network.
struct Journal {
    let container: PersistentContainer
    let sync: SyncEngine

    /// Opens the journal that mirrors a back end.
    init(_ store: RemoteStore) throws {
        container = try PersistentContainer(store: store, classes: GazetteerModel.classes)
        sync = store.sync
    }

    /// Fetches read the mirror, and saves wait in it, so that every command works offline.
    static var options: RemoteStore.Options {
        var options = RemoteStore.Options()
        options.fetchPolicy = .cacheOnly
        options.savePolicy = .cacheOnly
        return options
    }

    /// Adds a city; its country is added, too, if it is new. A city that exists gets the new population.
    func add(_ name: String, country: String, population: Int64) async throws {
        let context = container.newContext()
        let land =
            try await context.find(Country.self, country)
            ?? Country(context: context, countryId: country, name: country)
        let known = City.where { $0.name == name && $0.country.countryId == country }
        let city = try await context.fetchFirst(known) ?? City(context: context, name: name, country: land)
        city.population = population
        try await context.save()
    }

    /// Records a visit to a city.
    /// - Throws: ``JournalError`` if there is no such city.
    func visit(_ name: String, note: String) async throws {
        let context = container.newContext()
        guard let city = try await context.fetchFirst(City.where { $0.name == name }) else {
            throw JournalError.unknownCity(name)
        }
        Visit(context: context, note: note, city: city)
        try await context.save()
    }

    /// One line for each city, the largest first, with its visits below it.
    func lines() async throws -> [String] {
        let context = container.newContext()
        let cities = try await context.fetch(
            FetchRequest<City>(sortedBy: [City.keys.population.descending, City.keys.name.ascending]))
        let visits = try await context.fetch(FetchRequest<Visit>(sortedBy: [Visit.keys.day.ascending]))
        let notes = Dictionary(grouping: visits) { $0.city?.objectID }
        return cities.flatMap { city in
            ["\(city.name), \(city.country.name): \(city.population)"]
                + (notes[city.objectID] ?? []).map { "  \($0.day.formatted(.iso8601.year().month().day())) \($0.note)" }
        }
    }

    /// The number of changes that wait to be sent.
    func waiting() throws -> Int { try sync.pendingCount() }
}

/// Why a command could not be carried out.
enum JournalError: Error, CustomStringConvertible {
    case unknownCity(String)

    var description: String {
        switch self {
        case .unknownCity(let name): "there is no city \(name); add it first: travel add \(name) --country XX"
        }
    }
}
