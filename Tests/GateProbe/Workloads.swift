import Foundation
import Strata

// The workloads of the benchmarks, by the same letters, and what objects hold of the memory. Without W9, for which there
// are no aggregates yet, and without the lines that differ in how the disk is waited for.

extension Case {
    static var workloads: [Case] {
        [
            Case("W1", .places, per: .each) { stage in { try insert(stage, batch: .max) } },
            Case("W2", .places, per: .each) { stage in { try insert(stage, batch: 100) } },
            Case("W3", .cities, per: .each) { stage in
                // The first time fills the page cache, whose memory is not the objects'.
                _ = try stage.allCities()
                return { try readAll(stage) }
            },
            Case("W3P", .cities, per: .each) { stage in
                {
                    try stage.container.newContext().fetch(FetchRequest<City>()).reduce(0) {
                        $0 &+ $1.population &+ Int64($1.name.utf8.count)
                    }
                }
            },
            Case("W4", .cities, per: .atMost(1_000)) { stage in
                let ids = stage.data.scattered(1_000).map(stage.data.cityId)
                return { try byKey(ids, stage.container.newContext()) }
            },
            Case("W4R", .cities, per: .each) { stage in
                let (context, cities) = try stage.allCities()
                let ids = stage.data.scattered(stage.size).map { cities[$0].objectID }
                return {
                    withExtendedLifetime(cities) {
                        ids.reduce(Int64(0)) { $0 &+ ((context.registeredObject(for: $1) as? City)?.population ?? 0) }
                    }
                }
            },
            Case("W5", .cities, per: .just(200)) { stage in { try pages(stage.container.newContext()) } },
            Case("W6", .cities, per: .each) { stage in { try walkRelations(stage.container.newContext()) } },
            Case("W6R", .cities, per: .each) { stage in
                let (context, cities) = try stage.allCities()
                return { try withExtendedLifetime(cities) { try walkRelations(context) } }
            },
            Case("W7", .cities, per: .atMost(1_000)) { stage in
                let (context, cities) = try scattered(stage, 1_000)
                return {
                    for city in cities { city.population += 1 }
                    try context.save()
                    return cities
                }
            },
            Case("W8", .taggedCities, per: .atMost(1_000)) { stage in
                let (context, cities) = try scattered(stage, 1_000)
                return { try delete(cities, in: context) }
            },
            Case("W8N", .cities, per: .fifth) { stage in
                let context = stage.container.newContext()
                let codes = (0..<50).map { DataSet.countryCode($0 * 5) }
                let countries = try context.fetch(FetchRequest<Country>(where: Country.keys.code.isIn(codes)))
                return { try delete(countries, in: context) }
            },
            Case("W10", .cities, per: .just(20)) { stage in { try boxes(stage) } },
            Case("W11", .cities, per: .each) { stage in
                let (context, first) = try stage.allCities()
                return {
                    try withExtendedLifetime(first) {
                        try context.fetch(FetchRequest<City>()).reduce(0) { $0 &+ $1.population }
                    }
                }
            },
            Case("pending insert", .places, per: .each) { stage in
                let context = stage.container.newContext()
                let countries = try stage.countries(in: context)
                _ = stage.data.make(stage.size, in: context, countries)
                return { (context, countries, (0..<stage.size).map { stage.data.make($0, in: context, countries) }) }
            },
            Case("pending update", .cities, per: .each) { stage in
                let (context, cities) = try stage.allCities()
                return {
                    for city in cities { city.population += 1 }
                    return (context, cities)
                }
            },
        ]
    }

    /// Those that say what an object holds of the memory.
    static let holdingMemory: Set<String> = ["W3", "pending insert", "pending update"]

    static func insert(_ stage: Stage, batch: Int) throws -> Int {
        let context = stage.container.newContext()
        let countries = try stage.countries(in: context)
        let size = min(batch, stage.size)
        for start in stride(from: 0, to: stage.size, by: size) {
            for position in start..<min(start + size, stage.size) {
                _ = stage.data.make(position, in: context, countries)
            }
            try context.save()
        }
        return stage.size
    }

    private static func readAll(_ stage: Stage) throws -> Any {
        let (context, cities) = try stage.allCities()
        var sum = 0.0
        for city in cities {
            sum += city.latitude + city.longitude + Double(city.population)
            sum += city.updatedAt.timeIntervalSinceReferenceDate
            sum += Double(city.cityId.utf8.count + city.name.utf8.count + city.timezone.utf8.count)
            sum += Double(city.country?.code.utf8.count ?? 0)
        }
        return (context, cities, sum)
    }

    static func byKey(_ ids: [String], _ context: ManagedObjectContext) throws -> Int64 {
        try ids.reduce(0) {
            $0 &+ (try context.fetchFirst(FetchRequest<City>(where: City.keys.cityId == $1))?.population ?? 0)
        }
    }

    private static func pages(_ context: ManagedObjectContext) throws -> Int64 {
        try (0..<200).reduce(0) { sum, number in
            let request = FetchRequest<City>(
                where: City.keys.name.hasPrefix(DataSet.prefixes[number % 10]),
                sortedBy: [City.keys.population.descending], limit: 50, offset: number / 10 % 4 * 25)
            return try context.fetch(request).reduce(sum) { $0 &+ $1.population }
        }
    }

    private static func walkRelations(_ context: ManagedObjectContext) throws -> Int64 {
        try context.fetch(FetchRequest<Country>()).reduce(0) { sum, country in
            country.cities.reduce(sum) { $0 &+ $1.population }
        }
    }

    private static func scattered(_ stage: Stage, _ limit: Int) throws -> (ManagedObjectContext, [City]) {
        let context = stage.container.newContext()
        let ids = stage.data.scattered(limit).map(stage.data.cityId)
        return (context, try context.fetch(FetchRequest<City>(where: City.keys.cityId.isIn(ids))))
    }

    private static func delete(_ objects: [ManagedObject], in context: ManagedObjectContext) throws -> Any {
        for object in objects { context.delete(object) }
        try context.save()
        return objects
    }

    private static func boxes(_ stage: Stage) throws -> Int {
        let context = stage.container.newContext()
        return try (0..<20).reduce(0) { hits, number in
            let middle = stage.data.city(at: (number * 611_953 + 17) % stage.size)
            let request = FetchRequest<City>(
                where: City.keys.latitude.isBetween(middle.latitude - 1...middle.latitude + 1)
                    && City.keys.longitude.isBetween(middle.longitude - 1...middle.longitude + 1))
            return hits + (try context.fetch(request).count)
        }
    }
}
