import Strata

/// The examples of Documentation/ComingFromGRDB.md.
enum ComingFromGRDBGuide {
    struct Row {
        var code: String
        var name: String
    }

    static func server(_ container: PersistentContainer) async throws -> [String] {
        let names = try await container.read { context in
            try context.fetch(City.where { $0.country.name == "Peru" }.limit(20)).map(\.name)
        }
        try await container.write { context in
            guard let lima = try context.fetchFirst(City.where { $0.name == "Lima" }) else { return }
            lima.population += 1
            lima.isPort = true
        }
        return names
    }

    static func following(_ context: ManagedObjectContext, print: (Any...) -> Void) async throws {
        for country in try await context.fetch(FetchRequest<Country>()) {
            print(country.name, country.cities.map(\.name).sorted().prefix(2))
        }
    }

    @MainActor static func observing(_ container: PersistentContainer, show: ([String]) -> Void) async throws {
        let largest = try container.viewContext.live(City.where { $0.population > 1_000_000 })
        for try await _ in largest.updates {
            show(largest.map(\.name))
        }
    }

    static func moving(_ context: ManagedObjectContext, _ rows: [Row]) throws {
        try context.insertAll(Country.self, from: rows) { country, row in
            country.countryId = .value(row.code)
            country.name = .value(row.name)
        }
    }
}
