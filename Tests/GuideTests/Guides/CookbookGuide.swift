import Foundation
import Strata

/// The examples of Documentation/Cookbook.md.
enum CookbookGuide {
    // MARK: Lists

    static func page(after last: City?, _ context: ManagedObjectContext) throws -> [City] {
        var request = FetchRequest<City>()
        if let last {
            request = City.where {
                $0.population < last.population || ($0.population == last.population && $0.cityId > last.cityId)
            }
        }
        return try context.fetch(
            request.sorted(by: City.keys.population.descending, City.keys.cityId.ascending).limit(50))
    }

    static func suggestions(for typed: String, _ context: ManagedObjectContext) throws -> [City] {
        try context.fetch(
            City.where { $0.name.hasPrefix(typed, [.caseInsensitive, .diacriticInsensitive]) }
                .sorted(by: City.keys.population.descending)
                .limit(10))
    }

    static func nearest(to here: GeoPoint, _ context: ManagedObjectContext) throws -> [City] {
        try context.fetch(City.where { $0.position.isNear(here) }.limit(5))
    }

    static func populations(_ context: ManagedObjectContext) throws -> [(String, Int64?)] {
        let request = FetchRequest<City>()
            .select(City.keys.country.name, City.keys.population.sum)
            .grouped(by: City.keys.country.name)
        return try context.fetchValues(request).map { row in
            (row[City.keys.country.name] ?? "-", row[City.keys.population.sum])
        }
    }

    static func totals(_ context: ManagedObjectContext, print: (String, Int, Int64, Double) -> Void) throws {
        let request = FetchRequest<Country>(sortedBy: [Country.keys.name.ascending])
            .select { ($0.name, $0.cities.count, $0.cities.sum(\.population), $0.cities.average(\.population)) }
        for (name, count, sum, average) in try context.fetchValues(request) {
            print(name, count, sum, average ?? 0)
        }
    }

    static func withoutCities(_ context: ManagedObjectContext) throws -> [Country] {
        try context.fetch(Country.where { $0.cities.isEmpty })
    }

    // MARK: Objects

    static func countries(_ codes: [String], _ context: ManagedObjectContext) throws -> [String: Country] {
        let found = try context.fetch(Country.where { $0.countryId.isIn(codes) })
        return Dictionary(uniqueKeysWithValues: found.map { ($0.countryId, $0) })
    }

    struct Row {
        let id: String
        let name: String
        let position: GeoPoint
        let country: String
        let twins: [String]
    }

    static func twinned(_ rows: [Row], _ context: ManagedObjectContext) throws {
        try context.upsert(
            rows.map {
                ["cityId": $0.id, "name": $0.name, "position": $0.position, "country": $0.country, "twins": $0.twins]
            }, into: City.self, by: City.keys.cityId)
        try context.save()
    }

    static func arrange(_ city: City, _ museum: Sight) {
        city.insertIntoSights(museum, at: 0)
        city.moveInSights(from: 2, to: 1)
        city.sights.sort { $0.name < $1.name }  // the array is a property like any other
        city.removeFromSights(museum)
    }

    static func copy(_ city: City, _ context: ManagedObjectContext) -> City {
        let copy = City(context: context, name: city.name, position: city.position, country: city.country)
        copy.population = city.population
        copy.languages = city.languages
        copy.twins = city.twins
        return copy
    }

    static func merge(_ duplicate: City, into city: City, _ context: ManagedObjectContext) throws {
        for sight in duplicate.sights { sight.city = city }
        city.twins.formUnion(duplicate.twins)
        context.delete(duplicate)
        try context.save()
    }

    static func edit(_ city: City, name: String, isConfirmed: Bool, _ context: ManagedObjectContext) throws {
        let form = context.makeChild()
        let draft = try form.existingObject(City.self, with: city.objectID)
        draft.name = name
        if isConfirmed {
            try form.save()  // into the parent
            try context.save()  // into the store
        }
    }

    // MARK: Much data

    static func export(to file: FileHandle, _ context: ManagedObjectContext) throws {
        let encoder = JSONEncoder()
        let cities = try context.fetchLazily(FetchRequest<City>(sortedBy: [City.keys.cityId.ascending]), batchSize: 500)
        for city in cities {
            try file.write(contentsOf: encoder.encode(city) + Data("\n".utf8))
        }
    }

    static func deleteOld(before date: Date, _ context: ManagedObjectContext) throws -> Int {
        try context.deleteAll(Sight.where { $0.added < date })
    }

    static func nightly(_ container: PersistentContainer, to folder: String) async throws -> String {
        let day = Date.now.formatted(.iso8601.year().month().day())
        return try await container.backUp(to: "\(folder)/\(day).sqlite").path
    }
}
