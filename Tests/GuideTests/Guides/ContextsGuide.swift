import Foundation
import Strata

/// The examples of Documentation/Contexts.md.
enum ContextsGuide {
    struct Item {
        var code: String
        var title: String
    }

    static func first(_ container: PersistentContainer) async throws {
        let context = container.newContext()
        let peru = Country(context: context, countryId: "PE", name: "Peru")
        City(
            context: context, cityId: "lima", name: "Lima", position: GeoPoint(latitude: -12.04, longitude: -77.03),
            country: peru)
        try await context.save()
    }

    static func pinned(_ context: ManagedObjectContext) async throws -> (Int, [Country]) {
        try context.pin(for: .seconds(30))
        defer { context.unpin() }
        let ports = try await context.count(City.where { $0.isPort })
        let countries = try await context.fetch(FetchRequest<Country>(prefetch: [Country.keys.cities]))
        return (ports, countries)
    }

    static func policy(_ container: PersistentContainer) {
        container.defaultMergePolicy = .objectWinsByProperty
    }

    static func largest(_ container: PersistentContainer) async throws -> [City] {
        try await container.newContext().fetch(
            FetchRequest<City>(sortedBy: [City.keys.population.descending], limit: 20))
    }

    static func relationships(_ context: ManagedObjectContext, _ peru: Country, print: (Bool) -> Void) {
        let chiclayo = City(
            context: context, cityId: "chiclayo", name: "Chiclayo",
            position: GeoPoint(latitude: -6.77, longitude: -79.84),
            country: peru)
        print(peru.cities.contains(chiclayo))  // true
        context.delete(chiclayo)
        print(peru.cities.contains(chiclayo))  // false
    }

    static func finding(_ context: ManagedObjectContext) async throws -> (City?, Bool, Int, [City]) {
        let city = try await context.find(City.self, "lima")
        let hasPorts = try await context.exists(City.where { $0.isPort })
        let count = try await context.count(City.where { $0.country.name == "Peru" })
        let large = try await context.fetch(City.where { $0.population > 1_000_000 }.limit(20))
        return (city, hasPorts, count, large)
    }

    static func typedErrors(_ context: ManagedObjectContext, report: (PersistenceError) -> Void) async {
        do throws(PersistenceError) {
            try await context.save()
        } catch {
            report(error)  // a PersistenceError
        }
    }

    static func counting(_ city: City, _ context: ManagedObjectContext) async throws {
        try city.increment(\.population)
        try city.increment(\.population, by: -1)
        try city.addUnique(["Quechua", "Aymara"], to: \.languages)
        try city.remove(["Latin"], from: \.languages)
        try await context.save()
    }

    static func upserting(_ context: ManagedObjectContext, _ payload: [Item], print: (Int, Int, Int) -> Void) throws {
        let result = try context.upsert(
            [["cityId": "lima", "name": "Lima", "population": 10_092_000, "founded": nil, "country": "PE"]],
            into: City.self, by: City.keys.cityId)
        print(result.inserted.count, result.updated.count, result.unchanged.count)
        try context.upsert(payload, into: Country.self, by: Country.keys.countryId, key: \.code) { country, item in
            country.name = item.title
        }
    }

    static func json(_ city: City) throws -> (Data, Data) {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        let json = try encoder.encode(city)
        let withSights = try encoder.encode(city.encoding(including: [City.keys.sights], excluding: ["about"]))
        return (json, withSights)
    }

    static func serving(_ container: PersistentContainer) async throws -> ([String], ObjectID) {
        let names = try await container.read { context in
            try context.fetch(City.where { $0.isPort }.limit(20)).map(\.name)
        }
        let id = try await container.write { context in
            Country(context: context, countryId: "FR", name: "France").objectID
        }
        return (names, id)
    }
}
