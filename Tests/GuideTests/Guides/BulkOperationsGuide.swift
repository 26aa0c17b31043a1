import Strata

/// The examples of Documentation/BulkOperations.md.
enum BulkOperationsGuide {
    struct Line {
        var name: String
        var position: GeoPoint
    }

    static func update(_ context: ManagedObjectContext) throws -> Int {
        let changed = try context.update(City.where { $0.country.name == "Peru" }) { city in
            city.isPort = false
            city.population += 1
            city.founded = nil
        }
        return changed
    }

    static func delete(_ context: ManagedObjectContext) throws -> Int {
        try context.deleteAll(City.where { $0.population < 100 })
    }

    static func insert(_ context: ManagedObjectContext, _ lines: [Line], _ peru: Country) throws -> [ObjectID] {
        try context.insertAll(City.self, from: lines) { city, line in
            city.name = .value(line.name)
            city.position = .value(line.position)
            city.country = .object(peru.objectID)
        }
    }

    static func serving(_ container: PersistentContainer) async throws -> Int {
        let deleted = try await container.performBackgroundTask { context in
            try context.deleteAll(City.where { $0.population < 100 })
        }
        return deleted
    }
}
