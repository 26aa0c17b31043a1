import Foundation
import Strata

/// Changes populations. It usually runs in a process of its own.
struct Editor: Sendable {
    let container: PersistentContainer

    init(_ location: SQLiteStore.Location) throws {
        container = try PersistentContainer(GazetteerModel.self, at: location)
    }

    /// Sets the population of the largest city with a name.
    /// - Returns: Whether there is such a city.
    func set(_ population: Int64, of name: String) async throws -> Bool {
        try await container.write { context in
            let request = City.where { $0.name == name }.sorted(by: City.keys.population.descending)
            guard let city = try context.fetchFirst(request) else { return false }
            city.population = population
            return true
        }
    }

    /// Changes one of the largest cities by up to a fifth.
    /// - Returns: What happened, for people.
    func editOne(amongLargest top: Int) async throws -> String {
        try await container.write { context in
            let largest = FetchRequest<City>(sortedBy: [City.keys.population.descending], limit: top)
            guard let city = try context.fetch(largest).randomElement() else { return "there are no cities" }
            let old = city.population
            city.population = Int64(Double(old) * Double.random(in: 0.8...1.2))
            return "\(city.name): \(old) → \(city.population)"
        }
    }
}
