import Foundation
import Strata

/// The examples of Documentation/ComingFromSwiftData.md.
enum ComingFromSwiftDataGuide {
    static func task(_ path: String, print: (String) -> Void) async throws -> ManagedObjectContext {
        let container = try PersistentContainer(AtlasModel.self, at: .file(path: path))
        let context = container.newContext()
        let peru = Country(context: context, countryId: "PE", name: "Peru")
        City(context: context, name: "Lima", position: GeoPoint(latitude: -12.04, longitude: -77.03), country: peru)
        try await context.save()

        let request = City.where { $0.country.name == "Peru" }.sorted(by: City.keys.name.ascending)
        for city in try await context.fetch(request) { print(city.name) }
        return context
    }

    static func predicate(_ context: ManagedObjectContext) async throws -> [City] {
        let cities = try await context.fetch(FetchRequest(predicate: #Predicate<City> { $0.population > 100_000 }))
        return cities
    }
}
