import Foundation
import GRDB

enum GRDBHand: GRDBContender {
    static let name = "grdb"
    typealias City = HandCity

    /// Two requests, grouped by the program: how hand-written records are prefetched.
    static func prefetched(_ queue: DatabaseQueue) throws -> Int64 {
        let (countries, cities) = try queue.read { database in
            (try CountryRecord.fetchAll(database), try HandCity.filter(Column("countryCode") != nil).fetchAll(database))
        }
        let members = Dictionary(grouping: cities) { $0.countryCode ?? "" }
        return countries.reduce(0) { (members[$1.code] ?? []).reduce($0) { $0 &+ $1.population } }
    }
}

enum GRDBCodable: GRDBContender {
    static let name = "grdb-codable"
    typealias City = CodableCity

    /// GRDB's own eager loading.
    static func prefetched(_ queue: DatabaseQueue) throws -> Int64 {
        let cities = CountryRecord.hasMany(CodableCity.self, using: ForeignKey(["countryCode"])).forKey("cities")
        let request = CountryRecord.including(all: cities).asRequest(of: CountryWithCities<CodableCity>.self)
        return try queue.read { try request.fetchAll($0) }.reduce(0) { $1.cities.reduce($0) { $0 &+ $1.population } }
    }
}

/// GRDB with records as its documentation shows them.
protocol GRDBContender: Contender {
    associatedtype City: CityRecord
    static func prefetched(_ queue: DatabaseQueue) throws -> Int64
}

extension GRDBContender {
    static var family: String { Raw.family }
    static func makeStore(at path: String, data: DataSet, cities: Bool) throws {
        try Raw.makeStore(at: path, data: data, cities: cities)
    }

    static func open(_ path: String, full: Bool = false) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL")
            try database.execute(sql: "PRAGMA synchronous = \(full ? "FULL" : "NORMAL")")
        }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    static func trial(_ bench: Bench) throws -> Trial? {
        let queue = try open(bench.path, full: bench.workload.isFull)
        let data = bench.data
        let left = LeftInFile(path: bench.path, countryColumn: "countryCode", tagTable: "city_tag").check
        switch bench.workload {
        case .w1, .w1Full: return Trial(body: { try insert(data, queue, batch: .max) }, verify: left)
        case .w2, .w2Full: return Trial(body: { try insert(data, queue, batch: 100) }, verify: left)
        case .w3:
            return Trial {
                let cities = try queue.read { try City.fetchAll($0) }
                bench.keeper.keep(cities)
                return cities.reduce(0) { $0 &+ $1.check }
            }
        case .w3Two:
            return Trial {
                try queue.read { try City.fetchAll($0) }.reduce(0) { $0 &+ $1.population &+ Int64($1.name.utf8.count) }
            }
        case .w11: return Trial { try queue.read { try City.fetchAll($0) }.reduce(0) { $0 &+ $1.population } }
        case .w4, .w4Registered:
            let keys = data.scattered.map { data.cities[$0].cityId }
            return Trial {
                try queue.read { database in
                    try keys.reduce(0) { try $0 &+ (City.fetchOne(database, key: $1)?.population ?? 0) }
                }
            }
        case .w5: return Trial { try pages(queue) }
        case .w6, .w6Registered: return Trial { try lazyRelations(queue) }
        case .w6Prefetched: return Trial { try prefetched(queue) }
        case .w7:
            let cities = data.scattered.map { City(data.cities[$0]) }
            return Trial(body: { try update(cities, queue) }, verify: left)
        case .w8:
            let cities = data.scattered.map { City(data.cities[$0]) }
            return Trial(
                body: {
                    try queue.write { database in for city in cities { _ = try city.delete(database) } }
                    return Int64(cities.count)
                }, verify: left)
        case .w8Nullify:
            let countries = data.countries.filter { data.deletedCountries.contains($0.code) }.map {
                CountryRecord(code: $0.code, name: $0.name, population: $0.population)
            }
            return Trial(
                body: {
                    try queue.write { database in for country in countries { _ = try country.delete(database) } }
                    return Int64(countries.count)
                }, verify: left)
        case .w9: return Trial { try group(queue) }
        case .w12, .w12Policy:
            return Trial(
                body: {
                    try queue.write { database in
                        for value in data.cities {
                            var city = City(value)
                            city.population += 1
                            try city.upsert(database)
                        }
                    }
                    return Int64(data.cities.count)
                }, verify: left)
        case .w10: return Trial { try boxes(data.boxes, queue) }
        }
    }

    private static func insert(_ data: DataSet, _ queue: DatabaseQueue, batch: Int) throws -> Int64 {
        let size = min(batch, data.cities.count)
        for start in stride(from: 0, to: data.cities.count, by: size) {
            try queue.write { database in
                for city in data.cities[start..<min(start + size, data.cities.count)] {
                    try City(city).insert(database)
                }
            }
        }
        return Int64(data.cities.count)
    }

    private static func pages(_ queue: DatabaseQueue) throws -> Int64 {
        try queue.read { database in
            try DataSet.pages.reduce(0) { sum, page in
                try City.filter(Column("name").like(page.prefix + "%")).order(Column("population").desc)
                    .limit(50, offset: page.offset).fetchAll(database).reduce(sum) { $0 &+ $1.population }
            }
        }
    }

    private static func lazyRelations(_ queue: DatabaseQueue) throws -> Int64 {
        try queue.read { database in
            try CountryRecord.fetchAll(database).reduce(0) { sum, country in
                try City.filter(Column("countryCode") == country.code).fetchAll(database).reduce(sum) {
                    $0 &+ $1.population
                }
            }
        }
    }

    private static func update(_ cities: [City], _ queue: DatabaseQueue) throws -> Int64 {
        try queue.write { database in
            for var city in cities {
                city.population += 1
                try city.update(database, columns: ["population"])
            }
        }
        return Int64(cities.count)
    }

    private static func group(_ queue: DatabaseQueue) throws -> Int64 {
        try queue.read { database in
            let population = Column("population")
            let request = City.select(Column("countryCode"), count(Column("cityId")), sum(population)).group(
                Column("countryCode"))
            let rows = try Row.fetchCursor(database, request)
            var total: Int64 = 0
            while let row = try rows.next() {
                let count: Int64 = row[1]
                let people: Int64 = row[2]
                total &+= count &* 7 &+ people
            }
            return total
        }
    }

    private static func boxes(_ boxes: [Box], _ queue: DatabaseQueue) throws -> Int64 {
        try queue.read { database in
            var hits: Int64 = 0
            for box in boxes {
                let cities = try City.filter(
                    (box.south...box.north).contains(Column("latitude"))
                        && (box.west...box.east).contains(Column("longitude"))
                ).fetchAll(database)
                for city in cities where box.isNear(city.latitude, city.longitude) { hits += 1 }
            }
            return hits
        }
    }
}
