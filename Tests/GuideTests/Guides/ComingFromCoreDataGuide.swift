import Foundation
import Strata

/// The examples of Documentation/ComingFromCoreData.md.
enum ComingFromCoreDataGuide {
    static func code(_ container: PersistentContainer, print: (Bool) -> Void) async throws -> (
        typed: [City], formatted: Int
    ) {
        let context = container.newContext()
        let peru = Country(context: context, countryId: "PE", name: "Peru")
        let lima = City(
            context: context, cityId: "lima", name: "Lima",
            position: GeoPoint(latitude: -12.05, longitude: -77.04),
            country: peru)
        try await context.save()
        print(peru.cities.contains(lima))  // true: the inverse is set

        lima.population = 10_000_000
        try await context.save()
        let typed = City.where { $0.country.name == "Peru" && $0.population > 1_000_000 }
        let formatted = FetchRequest<City>(
            where: try FetchPredicate(format: "country.name == %@ AND population > %d", "Peru", 1_000_000))
        let cities = try await context.fetch(typed)
        return (cities, try await context.count(formatted))
    }

    static func background(_ container: PersistentContainer) async throws {
        try await container.performBackgroundTask { context in
            for city in try context.fetch(FetchRequest<City>()) { city.population += 1 }
            try context.save()
        }
    }
}
