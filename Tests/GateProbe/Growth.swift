import Foundation
import Strata

// What must cost the same for each object, or each change, however many there are.

extension Case {
    /// How many changes are made one after the other in the cases that are about a few changes among many objects.
    private static let few = 20

    /// Few changes in a context that knows as many cities as the size says.
    private static func fewChanges(
        _ name: String, _ body: @escaping (Stage, ManagedObjectContext, [City], Int) throws -> Void
    ) -> Case {
        Case(name, .cities, per: .just(few)) { stage in
            let (context, cities) = try stage.allCities()
            let countries = try stage.countries(in: context)
            // The first time prepares statements and makes tables grow.
            try body(stage, context, cities, 0)
            return {
                for number in 1...few { try body(stage, context, cities, number) }
                return (context, cities, countries)
            }
        }
    }

    /// New objects with the keys of all cities, each with one other value.
    private static func newCopies(_ stage: Stage) throws -> (ManagedObjectContext, [City]) {
        let context = stage.container.newContext()
        let countries = try stage.countries(in: context)
        let cities = (0..<stage.size).map { position in
            let city = stage.data.make(position, in: context, countries)
            city.population += 1
            return city
        }
        return (context, cities)
    }

    static var growth: [Case] {
        [
            Case("fetch", .cities, per: .each) { stage in { try stage.allCities() } },
            Case("insert", .places, per: .each) { stage in { try insert(stage, batch: .max) } },
            Case("update", .cities, per: .each) { stage in
                let (context, cities) = try stage.allCities()
                return {
                    for city in cities { city.population += 1 }
                    try context.save()
                    return cities
                }
            },
            Case("upsert", .cities, per: .each) { stage in
                let (context, cities) = try newCopies(stage)
                return {
                    try context.upsert(cities, by: City.keys.cityId)
                    try context.save()
                    return cities
                }
            },
            // The save finds out which objects exist.
            Case("upsert by merge policy", .cities, per: .each) { stage in
                let (context, cities) = try newCopies(stage)
                context.mergePolicy = .objectWinsByProperty
                return {
                    try context.save()
                    return cities
                }
            },
            Case("delete", .cities, per: .each) { stage in
                let (context, cities) = try stage.allCities()
                return {
                    for city in cities { context.delete(city) }
                    try context.save()
                    return cities
                }
            },
            Case("cascade", .tree, per: .each) { stage in
                let context = stage.container.newContext()
                let root = try top(in: context)
                return {
                    context.delete(root)
                    try context.save()
                    return root
                }
            },
            fewChanges("save one change among many") { _, context, cities, number in
                cities[number * 37 % cities.count].population += 1
                try context.save()
            },
            fewChanges("insert one among many") { stage, context, cities, number in
                City(
                    context: context, cityId: "new-\(number)", name: "Nova", latitude: 1, longitude: 2, population: 3,
                    timezone: "Europe/Rome", updatedAt: Date(timeIntervalSinceReferenceDate: 4),
                    country: cities[0].country
                ).name += "!"
                try context.save()
            },
            fewChanges("delete one among many") { _, context, cities, number in
                context.delete(cities[number * 37 % cities.count])
                try context.save()
            },
            // What could refer to the deleted one are all the others.
            Case("delete one that many could refer to", .cities, per: .just(few)) { stage in
                let (context, cities) = try stage.allCities()
                let doomed = (0...few).map {
                    Country(context: context, code: "to be deleted \($0)", name: "Atlantis", population: 0)
                }
                try context.save()
                context.delete(doomed[0])
                try context.save()
                return {
                    for country in doomed.dropFirst() {
                        context.delete(country)
                        try context.save()
                    }
                    return (context, cities)
                }
            },
            fewChanges("move one among many") { _, context, cities, number in
                let city = cities[number * 37 % cities.count]
                city.country = cities.first { $0.country !== city.country }?.country
                try context.save()
            },
            fewChanges("roll back one change among many") { _, context, cities, number in
                cities[number * 37 % cities.count].population += 1
                context.rollback()
            },
            fewChanges("fetch one among many") { stage, context, _, number in
                _ = try byKey([stage.data.cityId(at: number * 37 % stage.size)], context)
            },
            fewChanges("fetch one beside a change among many") { stage, context, cities, number in
                cities[0].population += 1
                _ = try byKey([stage.data.cityId(at: number * 37 % stage.size)], context)
            },
            Case("take in one change among many", .cities, per: .just(few)) { stage in
                let (context, cities) = try stage.allCities()
                context.automaticallyMergesChanges = true
                let other = stage.container.newContext()
                let changing = try other.fetch(FetchRequest<City>(sortedBy: [City.keys.cityId.ascending], limit: few))
                return {
                    for city in changing {
                        city.population += 1
                        try other.save()
                        context.processPendingChanges()
                    }
                    return (context, cities)
                }
            },
            Case("take in one deletion among many", .cities, per: .just(few)) { stage in
                let (context, cities) = try stage.allCities()
                context.automaticallyMergesChanges = true
                let other = stage.container.newContext()
                let doomed = try other.fetch(FetchRequest<City>(sortedBy: [City.keys.cityId.ascending], limit: few))
                return {
                    for city in doomed {
                        other.delete(city)
                        try other.save()
                        context.processPendingChanges()
                    }
                    return (context, cities)
                }
            },
            // Cities have tags as pairs, which the deletion of a tag ends.
            Case("take in one deletion of what many could be paired with", .cities, per: .just(few)) { stage in
                let (context, cities) = try stage.allCities()
                let tags = try context.fetch(FetchRequest<Tag>())
                context.automaticallyMergesChanges = true
                let other = stage.container.newContext()
                let doomed = try other.fetch(FetchRequest<Tag>(sortedBy: [Tag.keys.tagId.ascending], limit: few))
                return {
                    for tag in doomed {
                        other.delete(tag)
                        try other.save()
                        context.processPendingChanges()
                    }
                    return (context, cities, tags)
                }
            },
            Case("save one change to a parent with many", .cities, per: .just(few)) { stage in
                let (parent, cities) = try stage.allCities()
                let child = parent.makeChild()
                let changing = try child.fetch(FetchRequest<City>(sortedBy: [City.keys.cityId.ascending], limit: few))
                return {
                    for city in changing {
                        city.population += 1
                        try child.save()
                    }
                    return (parent, cities)
                }
            },
        ]
    }
}
