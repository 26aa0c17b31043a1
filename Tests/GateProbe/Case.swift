import Foundation
import Strata

/// Something whose cost is counted.
struct Case {
    /// What the store holds before.
    enum Start: String {
        /// Countries and tags.
        case places
        /// With as many cities as the size says.
        case cities
        /// With the tags of those cities, too.
        case taggedCities
        /// A chain of as many nodes as the size says, each leading to the next one.
        case chain
        /// Two chains of half the length.
        case chains
        /// A chain in which each node is the only child of the one before.
        case stairs
        /// A node with as many children as the size says.
        case tree
        /// Nothing.
        case empty
    }

    /// How many objects, lookups or whatever else a case is about.
    enum Units {
        /// As many as the size says.
        case each
        case atMost(Int)
        case just(Int)
        /// The cities of every fifth country.
        case fifth
        case square

        func count(_ size: Int) -> Int {
            switch self {
            case .each: size
            case .atMost(let limit): min(size, limit)
            case .just(let number): number
            case .fifth: size / 5
            case .square: size * size
            }
        }
    }

    let name: String
    let start: Start
    /// What counts are divided by.
    let units: Units
    /// Does what is not counted, and answers with what is. That one's result is kept until the memory has been counted.
    let prepare: (Stage) throws -> () throws -> Any

    init(
        _ name: String, _ start: Start, per units: Units,
        prepare: @escaping (Stage) throws -> () throws -> Any
    ) {
        self.name = name
        self.start = start
        self.units = units
        self.prepare = prepare
    }
}

/// Where a case plays.
struct Stage {
    let container: PersistentContainer
    let size: Int
    var data: DataSet { DataSet(count: size) }

    /// All cities, with the context that has them.
    func allCities() throws -> (ManagedObjectContext, [City]) {
        let context = container.newContext()
        return (context, try context.fetch(FetchRequest<City>()))
    }

    func countries(in context: ManagedObjectContext) throws -> [Country] {
        try context.fetch(FetchRequest<Country>(sortedBy: [Country.keys.code.ascending]))
    }
}

extension DataSet {
    func make(_ position: Int, in context: ManagedObjectContext, _ countries: [Country]) -> City {
        let city = city(at: position)
        return City(
            context: context, cityId: city.cityId, name: city.name, latitude: city.latitude, longitude: city.longitude,
            population: city.population, timezone: city.timezone, updatedAt: city.updatedAt,
            country: countries[city.country])
    }
}
