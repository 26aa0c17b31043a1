import Strata

/// The examples of Documentation/Performance.md.
enum PerformanceGuide {
    static func faulting(_ context: ManagedObjectContext, print: (String, String) -> Void) async throws {
        let cities = try await context.fetch(FetchRequest<City>())  // 1 statement
        for city in cities { print(city.name, city.country.name) }  // 1 more, for the countries of all cities
    }

    static func prefetching(_ context: ManagedObjectContext) async throws -> [City] {
        var request = City.where { $0.population > 100_000 }
        request.prefetch = [City.keys.country]
        let cities = try await context.fetch(request)  // 2 statements, and none when you read the countries
        return cities
    }

    static func values(_ context: ManagedObjectContext) async throws -> (Int64?, [String]) {
        let total = try await context.fetchValues(FetchRequest<City>().select { $0.population.sum })[0]
        let names = try await context.fetchValues(City.where { $0.isPort }.select { $0.name })
        return (total, names)
    }

    static func counting(_ context: ManagedObjectContext, _ peru: Country) async throws -> (Int, [Country]) {
        let count = try await context.count(City.where { $0.country == peru })
        let byCities = FetchRequest<Country>(sortedBy: [Country.keys.cities.count.descending])
        return (count, try await context.fetch(byCities))
    }

    static func tracing(_ path: String, print: @escaping @Sendable (Any...) -> Void) throws -> PersistentContainer {
        var options = SQLiteStore.Options()
        options.trace = { statement in
            if statement.duration > 0.05 || statement.work.fullScanSteps > 10_000 {
                print(statement.duration, statement.rows, statement.sql)
            }
        }
        let container = try PersistentContainer(AtlasModel.self, at: .file(path: path), options: options)
        return container
    }
}
