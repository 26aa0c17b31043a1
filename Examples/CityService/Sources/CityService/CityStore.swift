import Foundation
import Strata

/// What a client sends to add or change a city.
struct NewCity: Codable, Sendable {
    var name: String
    var population: Int64
    /// The code of the country, such as `PE`.
    var country: String
}

/// The cities, as the routes need them: each method is one read or one write, with JSON as its result.
struct CityStore: Sendable {
    let container: PersistentContainer

    init(_ location: SQLiteStore.Location) throws {
        container = try PersistentContainer(GazetteerModel.self, at: location)
    }

    /// All cities, the largest first, as a JSON array.
    func cities() async throws -> Data {
        try await container.read { context in
            let request = FetchRequest<City>(
                sortedBy: [City.keys.population.descending, City.keys.name.ascending])
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return try encoder.encode(context.fetch(request))
        }
    }

    /// Adds a city, or changes the one of that name in that country.
    func save(_ new: NewCity) async throws -> Data {
        try await container.write { context in
            let country =
                try context.find(Country.self, new.country)
                ?? Country(context: context, countryId: new.country, name: new.country)
            let known = City.where { $0.name == new.name && $0.country.countryId == new.country }
            let city = try context.fetchFirst(known) ?? City(context: context, name: new.name, country: country)
            city.population = new.population
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return try encoder.encode(city)
        }
    }

    /// Deletes a city by its key.
    /// - Returns: Whether there was one.
    func delete(_ id: String) async throws -> Bool {
        try await container.write { context in
            guard let city = try context.find(City.self, id) else { return false }
            context.delete(city)
            return true
        }
    }

    /// The cities now, and again after each commit by this process or another one.
    func updates() -> AsyncThrowingStream<Data, any Error> {
        // Listening begins before the first read, so that no change is missed between the two.
        let changes = container.changes
        return AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    continuation.yield(try await cities())
                    for await _ in changes { continuation.yield(try await cities()) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
