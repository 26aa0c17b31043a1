import Foundation
import Strata

/// Strata that records history, in the workloads that write.
enum StrataHistoryContender: Contender {
    static let name = "strata-history"
    static let family = StrataContender.family

    static func makeStore(at path: String, data: DataSet, cities: Bool) throws {
        try StrataContender.makeStore(at: path, data: data, cities: cities)
    }

    static func trial(_ bench: Bench) throws -> Trial? {
        bench.workload.writes ? try StrataContender.trial(bench, history: true) : nil
    }
}

/// Strata through its public interface, with the classes that the plug-in generates from `Bench.strata.yaml`.
enum StrataContender: Contender {
    static let name = "strata"
    static let family = "strata"

    static func open(_ path: String, full: Bool = false, history: Bool = false) throws -> PersistentContainer {
        var options = SQLiteStore.Options()
        if history { options.history = .on(keeping: .days(7)) }
        options.synchronous = full ? .full : .normal
        return try PersistentContainer(BenchModel.self, at: .file(path: path), options: options)
    }

    static func makeStore(at path: String, data: DataSet, cities: Bool) throws {
        let container = try open(path)
        let context = container.newContext()
        var countries: [String: Country] = [:]
        for value in data.countries {
            countries[value.code] = Country(
                context: context, code: value.code, name: value.name, population: value.population)
        }
        let tags = (0..<Int64(100)).map { Tag(context: context, tagId: $0, label: "tag \($0)") }
        if cities {
            for (position, value) in data.cities.enumerated() {
                let city = make(value, in: context, countries)
                city.addToTags(DataSet.tags(ofCityAt: position).map { tags[Int($0)] })
            }
        }
        try context.save()
        container.close()
    }

    private static func make(_ value: CityData, in context: ManagedObjectContext, _ countries: [String: Country])
        -> City
    {
        City(
            context: context, cityId: value.cityId, name: value.name, latitude: value.latitude,
            longitude: value.longitude,
            population: value.population, timezone: value.timezone,
            updatedAt: Date(timeIntervalSinceReferenceDate: value.updated), country: countries[value.country])
    }

    static func trial(_ bench: Bench) throws -> Trial? { try trial(bench, history: false) }

    static func trial(_ bench: Bench, history: Bool) throws -> Trial? {
        let container = try open(bench.path, full: bench.workload.isFull, history: history)
        let data = bench.data
        let verify = {
            container.close()
            return try LeftInFile(path: bench.path, countryColumn: "country", tagTable: "city_tags").check()
        }
        switch bench.workload {
        case .w1, .w1Full: return Trial(body: { try insert(data, container, batch: .max) }, verify: verify)
        case .w2, .w2Full: return Trial(body: { try insert(data, container, batch: 100) }, verify: verify)
        case .w3:
            return Trial {
                let context = container.newContext()
                bench.keeper.keep(context)
                return try readAll(context, bench.keeper)
            }
        case .w3Two:
            return Trial {
                try container.newContext().fetch(FetchRequest<City>()).reduce(0) {
                    $0 &+ $1.population &+ Int64($1.name.utf8.count)
                }
            }
        case .w4:
            let keys = data.scattered.map { data.cities[$0].cityId }
            return Trial { try byKey(keys, container) }
        case .w4Registered: return try registered(data, container)
        case .w5: return Trial { try pages(container) }
        case .w6: return Trial { try relations(container.newContext()) }
        case .w6Prefetched: return Trial { try relations(container.newContext(), prefetch: [Country.keys.cities]) }
        case .w6Registered:
            let context = container.newContext()
            let cities = try context.fetch(FetchRequest<City>())
            return Trial { try withExtendedLifetime(cities) { try relations(context) } }
        case .w7:
            let (context, cities) = try scattered(data, container)
            return Trial(
                body: {
                    for city in cities { city.population += 1 }
                    try context.save()
                    return Int64(cities.count)
                }, verify: verify)
        case .w8:
            let (context, cities) = try scattered(data, container)
            return Trial(body: { try delete(cities, context) }, verify: verify)
        case .w8Nullify:
            let context = container.newContext()
            let countries = try context.fetch(
                FetchRequest<Country>(where: Country.keys.code.isIn(data.deletedCountries)))
            return Trial(body: { try delete(countries, context) }, verify: verify)
        case .w9: return Trial { try groups(container) }
        case .w10: return Trial { try boxes(data.boxes, container) }
        case .w12: return Trial(body: { try upsert(data, container, byPolicy: false) }, verify: verify)
        case .w12Policy: return Trial(body: { try upsert(data, container, byPolicy: true) }, verify: verify)
        case .w11:
            let context = container.newContext()
            let first = try context.fetch(FetchRequest<City>())
            return Trial {
                try withExtendedLifetime(first) {
                    try context.fetch(FetchRequest<City>()).reduce(0) { $0 &+ $1.population }
                }
            }
        }
    }

    /// New objects for all cities, with one changed value each, in place of which the existing ones are updated: found by the
    /// key before the save, or by the save itself under a merge policy.
    private static func upsert(_ data: DataSet, _ container: PersistentContainer, byPolicy: Bool) throws -> Int64 {
        let context = container.newContext()
        context.mergePolicy = .objectWinsByProperty
        var countries: [String: Country] = [:]
        for country in try context.fetch(FetchRequest<Country>()) { countries[country.code] = country }
        let cities = data.cities.map { value in
            let city = make(value, in: context, countries)
            city.population += 1
            return city
        }
        if !byPolicy { try context.upsert(cities, by: City.keys.cityId) }
        try context.save()
        return Int64(cities.count)
    }

    private static func insert(_ data: DataSet, _ container: PersistentContainer, batch: Int) throws -> Int64 {
        let context = container.newContext()
        var countries: [String: Country] = [:]
        for country in try context.fetch(FetchRequest<Country>()) { countries[country.code] = country }
        let size = min(batch, data.cities.count)
        for start in stride(from: 0, to: data.cities.count, by: size) {
            for city in data.cities[start..<min(start + size, data.cities.count)] {
                _ = make(city, in: context, countries)
            }
            try context.save()
        }
        return Int64(data.cities.count)
    }

    /// Fetches all cities and reads all they have, the code of their country by way of the relationship.
    private static func readAll(_ context: ManagedObjectContext, _ keeper: Keeper) throws -> Int64 {
        let cities = try context.fetch(FetchRequest<City>())
        keeper.keep(cities)
        var sum: Int64 = 0
        for city in cities {
            sum &+= attributeCheck(
                city.cityId, city.name, city.latitude, city.longitude, city.population, city.timezone,
                city.updatedAt.timeIntervalSinceReferenceDate, city.country?.code ?? "")
        }
        return sum
    }

    private static func byKey(_ keys: [String], _ container: PersistentContainer) throws -> Int64 {
        let context = container.newContext()
        var sum: Int64 = 0
        for key in keys {
            if let city = try context.fetchFirst(FetchRequest<City>(where: City.keys.cityId == key)) {
                sum &+= city.population
            }
        }
        return sum
    }

    private static func registered(_ data: DataSet, _ container: PersistentContainer) throws -> Trial {
        let context = container.newContext()
        var byKey: [String: City] = [:]
        for city in try context.fetch(FetchRequest<City>()) { byKey[city.cityId] = city }
        let ids = data.scattered.compactMap { byKey[data.cities[$0].cityId]?.objectID }
        return Trial {
            withExtendedLifetime(byKey) {
                var sum: Int64 = 0
                for id in ids {
                    if let city = context.registeredObject(for: id) as? City { sum &+= city.population }
                }
                return sum
            }
        }
    }

    private static func pages(_ container: PersistentContainer) throws -> Int64 {
        let context = container.newContext()
        var sum: Int64 = 0
        for page in DataSet.pages {
            let request = FetchRequest<City>(
                where: City.keys.name.hasPrefix(page.prefix), sortedBy: [City.keys.population.descending], limit: 50,
                offset: page.offset)
            sum = try context.fetch(request).reduce(sum) { $0 &+ $1.population }
        }
        return sum
    }

    private static func relations(_ context: ManagedObjectContext, prefetch: [any PrefetchPath] = []) throws -> Int64 {
        var sum: Int64 = 0
        for country in try context.fetch(FetchRequest<Country>(prefetch: prefetch)) {
            for city in country.cities { sum &+= city.population }
        }
        return sum
    }

    private static func scattered(_ data: DataSet, _ container: PersistentContainer) throws -> (
        ManagedObjectContext, [City]
    ) {
        let context = container.newContext()
        let keys = data.scattered.map { data.cities[$0].cityId }
        return (context, try context.fetch(FetchRequest<City>(where: City.keys.cityId.isIn(keys))))
    }

    private static func delete(_ objects: [ManagedObject], _ context: ManagedObjectContext) throws -> Int64 {
        for object in objects { context.delete(object) }
        try context.save()
        return Int64(objects.count)
    }

    private static func groups(_ container: PersistentContainer) throws -> Int64 {
        let country = FetchExpression.keyPath(["country"])
        var request = FetchRequest<City>().select(
            FetchColumn("country", country), City.keys.cityId.valueCount.named("cities"),
            City.keys.population.sum.named("people"))
        request.groupBy = [country]
        var total: Int64 = 0
        for row in try container.newContext().fetchValues(request) {
            if case .value(.integer(let cities)) = row[1], case .value(.integer(let people)) = row[2] {
                total &+= cities &* 7 &+ people
            }
        }
        return total
    }

    private static func boxes(_ boxes: [Box], _ container: PersistentContainer) throws -> Int64 {
        let context = container.newContext()
        var hits: Int64 = 0
        for box in boxes {
            let request = FetchRequest<City>(
                where: City.keys.latitude.isBetween(box.south...box.north)
                    && City.keys.longitude.isBetween(box.west...box.east))
            for city in try context.fetch(request) where box.isNear(city.latitude, city.longitude) { hits += 1 }
        }
        return hits
    }
}
