import Foundation
import Strata
import StrataTesting

/// The examples of Documentation/Fetching.md.
enum FetchingGuide {
    struct Forms {
        var cities: [City]
        var first: City?
        var ids: [ObjectID]
        var count: Int
        var pages: FetchedArray<City>
        var rows: [FetchedRow]
    }

    static func forms(_ context: ManagedObjectContext) throws -> Forms {
        let request = City.where { $0.population > 100_000 }.sorted(by: City.keys.name.ascending).limit(50)
        let cities = try context.fetch(request)  // [City]
        let first = try context.fetchFirst(request)  // City?
        let ids = try context.fetchIDs(request)  // [ObjectID]; no row is read
        let count = try context.count(request)  // Int
        let pages = try context.fetchLazily(request, batchSize: 100)  // FetchedArray<City>
        let rows = try context.fetchValues(request.select(City.keys.name))  // [FetchedRow]
        return Forms(cities: cities, first: first, ids: ids, count: count, pages: pages, rows: rows)
    }

    static func pages(_ context: ManagedObjectContext, print: (Any) -> Void) throws {
        let all = try context.fetchLazily(FetchRequest<City>(sortedBy: [City.keys.name.ascending]), batchSize: 50)
        print(all.count)  // one statement has run
        print(all[120].name)  // and one more, for 50 rows
    }

    static func strictly(_ context: ManagedObjectContext, print: (Any...) -> Void) throws {
        let countries = try context.fetch(FetchRequest<Country>(prefetch: [Country.keys.cities]))
        try context.withStrictLoading {
            for country in countries { print(country.name, country.cities.count) }
        }
        try context.withStrictLoading(callers: .sourceLines) { print(countries[0].name) }
    }

    static func reporting(_ context: ManagedObjectContext, print: (Any) -> Void) throws {
        let (_, report) = try context.recordingLoads {
            for city in try context.fetch(FetchRequest<City>(prefetch: [City.keys.country])) { print(city.name) }
        }
        print(report)  // City.country was prefetched for 34 objects and never read; leave it out of the fetch
    }

    static func counting(_ container: PersistentContainer) throws {
        let context = container.newContext()
        try expectStatements(2, in: container) {
            _ = try context.fetch(FetchRequest<Country>(prefetch: [Country.keys.cities]))
        }
    }

    static func refreshing(_ context: ManagedObjectContext) throws -> [City] {
        var request = FetchRequest<City>()
        request.refreshesRefetchedObjects = true
        let cities = try context.fetch(request)  // with the values that others have saved
        return cities
    }

    static func searching(_ container: PersistentContainer, _ request: FetchRequest<City>) -> Task<[String], any Error>
    {
        let search = Task { @MainActor in try await container.viewContext.fetch(request).map(\.name) }
        search.cancel()
        return search
    }

    static func groups(_ context: ManagedObjectContext, print: (Any...) -> Void) throws {
        let request = FetchRequest<City>(sortedBy: [FetchSort("cities", ascending: false)])
            .select(City.keys.country.countryId, City.keys.population.sum, City.keys.name.valueCount.named("cities"))
            .grouped(by: City.keys.country.countryId)
        for row in try context.fetchValues(try request.having("$cities > %d", 10)) {
            print(row[City.keys.country.countryId] ?? "-", row[City.keys.population.sum] ?? 0, row["cities"])
        }
    }

    static func tuples(_ context: ManagedObjectContext, print: (Any...) -> Void) throws -> Int64? {
        let request = City.where { $0.population > 100_000 }
            .select { ($0.name, $0.population, $0.country.name.optional) }
        for (name, population, country) in try context.fetchValues(request) {  // (String, Int64, String?)
            print(name, population, country ?? "-")
        }
        let largest = try context.fetchValues(FetchRequest<City>().select { $0.population.maximum })[0]  // Int64?
        return largest
    }

    static func objects(_ context: ManagedObjectContext, peru: Country) throws -> ([City], FetchRequest<City>) {
        let cities = try context.fetch(FetchRequest<City>(where: try FetchPredicate(format: "country == %@", peru)))
        let others = City.where { $0.country != peru }
        return (cities, others)
    }

    static func named(_ context: ManagedObjectContext) throws -> [City] {
        let cities = try context.fetch(City.fetchLargeCities(minimum: 100_000))
        return cities
    }

    static func namedAtRunTime(_ context: ManagedObjectContext) throws -> FetchRequest<City> {
        let request: FetchRequest<City> = try context.model.fetchRequest(
            fromTemplateNamed: "largeCities", substitutionVariables: ["minimum": 100_000])
        return request
    }

    static func fetchedProperty(_ lima: City, print: (Any) -> Void) throws -> [ManagedObject] {
        for city in lima.neighbours { print(city.name) }  // [City]
        let same = try lima.fetchedValue(forProperty: "neighbours")  // [ManagedObject]
        return same
    }
}
