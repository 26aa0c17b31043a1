#if Postgres
    import Foundation
    import Strata
    import StrataPostgres
    import Synchronization

    /// Strata's public interface with generated classes.
    struct StrataContender {
        static let schema = "bench_strata"

        let url: String
        let data: DataSet

        /// Runs a workload, with a container of its own. Opening it, and reading what is changed later, is not measured.
        func run(_ workload: Workload, isCounting: Bool) throws -> Outcome {
            var options = PostgresStore.Options()
            options.schema = Self.schema
            let counter = Counter()
            if isCounting { options.trace = { _ in counter.add() } }
            let container = try PersistentContainer(BenchModel.self, at: .postgres(url), options: options)
            defer { container.close() }
            let body = try prepare(workload, container.newContext())
            counter.reset()
            var outcome = try Outcome.measure(body)
            if isCounting { outcome.statements = counter.value }
            return outcome
        }

        /// The closure that is measured.
        private func prepare(_ workload: Workload, _ context: ManagedObjectContext) throws -> () throws -> Int64 {
            switch workload {
            case .insert: return { try insert(context) }
            case .read: return { try readAll(context) }
            case .lookup:
                let ids = data.scattered.map(\.cityId)
                return {
                    try ids.reduce(0) { sum, id in
                        sum
                            + (try context.fetchFirst(FetchRequest<City>(where: City.keys.cityId == id))?.population
                                ?? 0)
                    }
                }
            case .set:
                let ids = data.scattered.map(\.cityId)
                return {
                    try context.fetch(FetchRequest<City>(where: City.keys.cityId.isIn(ids))).reduce(0) {
                        $0 + $1.population
                    }
                }
            case .update:
                let ids = data.scattered.map(\.cityId)
                let cities = try context.fetch(FetchRequest<City>(where: City.keys.cityId.isIn(ids)))
                return {
                    for city in cities { city.population += 1 }
                    try context.save()
                    return Int64(cities.count)
                }
            case .relations:
                return {
                    try context.fetch(FetchRequest<Country>()).reduce(0) { sum, country in
                        country.cities.reduce(sum) { $0 + $1.population }
                    }
                }
            }
        }

        private func insert(_ context: ManagedObjectContext) throws -> Int64 {
            let countries = (0..<DataSet.countryCount).map { index in
                Country(context: context, code: DataSet.countryCode(index), name: "Country \(index)")
            }
            for place in data.cities {
                _ = City(
                    context: context, cityId: place.cityId, name: place.name, latitude: place.latitude,
                    longitude: place.longitude, population: place.population, timezone: place.timezone,
                    updatedAt: Date(timeIntervalSinceReferenceDate: Double(place.updated)),
                    country: countries[place.country])
            }
            try context.save()
            return Int64(data.cities.count)
        }

        private func readAll(_ context: ManagedObjectContext) throws -> Int64 {
            try context.fetch(FetchRequest<City>()).reduce(0) { sum, city in
                sum
                    + DataSet.whole(
                        city.cityId.utf8.count, city.name.utf8.count, city.timezone.utf8.count,
                        city.country?.code.utf8.count ?? 0, city.latitude, city.longitude, city.population,
                        city.updatedAt.timeIntervalSinceReferenceDate)
            }
        }
    }

    /// Counts on any thread.
    private final class Counter: Sendable {
        private let count = Atomic<Int>(0)

        var value: Int { count.load(ordering: .relaxed) }
        func add() { count.add(1, ordering: .relaxed) }
        func reset() { count.store(0, ordering: .relaxed) }
    }
#endif
