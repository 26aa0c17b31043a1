import CBench

/// SQLite's C interface into an array of structs: the anchor of all ratios.
enum Raw: Contender {
    static let name = "raw"
    static let family = "sql"

    static func makeStore(at path: String, data: DataSet, cities: Bool) throws {
        try makeStore(at: path, data: data, cities: cities) { $1.bind($0, 7) }
    }

    /// - Parameter bindDate: Binds seconds since 2001-01-01 to parameter 7.
    static func makeStore(at path: String, data: DataSet, cities: Bool, bindDate: (Double, RawStatement) -> Void) throws
    {
        let database = try RawDatabase(path)
        try database.execute("BEGIN")
        for sql in RawDatabase.schema { try database.execute(sql) }
        let country = try database.prepare("INSERT INTO country VALUES(?,?,?)")
        for value in data.countries {
            country.bind(value.code, 1)
            country.bind(value.name, 2)
            country.bind(value.population, 3)
            try country.run()
        }
        let tag = try database.prepare("INSERT INTO tag VALUES(?,?)")
        for id in 0..<Int64(100) {
            tag.bind(id, 1)
            tag.bind("tag \(id)", 2)
            try tag.run()
        }
        if cities {
            let city = try database.prepare(insertSQL)
            let pair = try database.prepare("INSERT INTO city_tag(cityId, tagId) VALUES(?,?)")
            for (position, value) in data.cities.enumerated() {
                bind(value, to: city)
                bindDate(value.updated, city)
                try city.run()
                for tag in DataSet.tags(ofCityAt: position) {
                    pair.bind(value.cityId, 1)
                    pair.bind(tag, 2)
                    try pair.run()
                }
            }
        }
        try database.execute("COMMIT")
    }

    private static let insertSQL = "INSERT INTO city(\(RawCity.columns)) VALUES(?,?,?,?,?,?,?,?)"

    private static func bind(_ city: CityData, to statement: RawStatement) {
        statement.bind(city.cityId, 1)
        statement.bind(city.name, 2)
        statement.bind(city.latitude, 3)
        statement.bind(city.longitude, 4)
        statement.bind(city.population, 5)
        statement.bind(city.timezone, 6)
        statement.bind(city.updated, 7)
        statement.bind(city.country, 8)
    }

    static func trial(_ bench: Bench) throws -> Trial? {
        let database = try RawDatabase(bench.path, full: bench.workload.isFull)
        let data = bench.data
        let left = LeftInFile(path: bench.path, countryColumn: "countryCode", tagTable: "city_tag").check
        switch bench.workload {
        case .w1, .w1Full: return Trial(body: { try insert(data, database, batch: .max) }, verify: left)
        case .w2, .w2Full: return Trial(body: { try insert(data, database, batch: 100) }, verify: left)
        case .w11: return Trial { try all(database).reduce(0) { $0 &+ $1.population } }
        case .w3:
            return Trial {
                let cities = try all(database)
                bench.keeper.keep(cities)
                return cities.reduce(0) { $0 &+ $1.check }
            }
        case .w3Two: return Trial { try all(database).reduce(0) { $0 &+ $1.population &+ Int64($1.name.utf8.count) } }
        case .w4, .w4Registered:
            let keys = data.scattered.map { data.cities[$0].cityId }
            return Trial { try byKey(keys, database) }
        case .w5: return Trial { try pages(database) }
        case .w6, .w6Registered: return Trial { try lazyRelations(database) }
        case .w6Prefetched: return Trial { try prefetchedRelations(database) }
        case .w7:
            let changed = data.scattered.map { data.cities[$0] }
            return Trial(body: { try update(changed, database) }, verify: left)
        case .w8:
            let keys = data.scattered.map { data.cities[$0].cityId }
            return Trial(body: { try delete(keys, from: "city", by: "cityId", database) }, verify: left)
        case .w8Nullify:
            return Trial(
                body: { try delete(data.deletedCountries, from: "country", by: "code", database) }, verify: left)
        case .w9: return Trial { try group(database) }
        case .w12, .w12Policy: return Trial(body: { try upsert(data.cities, database) }, verify: left)
        case .w10: return Trial { try boxes(data.boxes, database) }
        }
    }

    private static func insert(_ data: DataSet, _ database: RawDatabase, batch: Int) throws -> Int64 {
        let statement = try database.prepare(insertSQL)
        for start in stride(from: 0, to: data.cities.count, by: min(batch, data.cities.count)) {
            try database.execute("BEGIN")
            for city in data.cities[start..<min(start + min(batch, data.cities.count), data.cities.count)] {
                bind(city, to: statement)
                try statement.run()
            }
            try database.execute("COMMIT")
        }
        return Int64(data.cities.count)
    }

    private static func all(_ database: RawDatabase) throws -> [RawCity] {
        let statement = try database.prepare("SELECT \(RawCity.columns) FROM city")
        return try cities(statement)
    }

    private static func cities(_ statement: RawStatement) throws -> [RawCity] {
        var result: [RawCity] = []
        while try statement.step() { result.append(RawCity(statement)) }
        statement.reset()
        return result
    }

    private static func byKey(_ keys: [String], _ database: RawDatabase) throws -> Int64 {
        let statement = try database.prepare("SELECT \(RawCity.columns) FROM city WHERE cityId = ?")
        var sum: Int64 = 0
        for key in keys {
            statement.bind(key, 1)
            if try statement.step() { sum &+= RawCity(statement).population }
            statement.reset()
        }
        return sum
    }

    private static func pages(_ database: RawDatabase) throws -> Int64 {
        let statement = try database.prepare(
            "SELECT \(RawCity.columns) FROM city WHERE name LIKE ? ORDER BY population DESC LIMIT 50 OFFSET ?")
        var sum: Int64 = 0
        for page in DataSet.pages {
            statement.bind(page.prefix + "%", 1)
            statement.bind(Int64(page.offset), 2)
            sum = try cities(statement).reduce(sum) { $0 &+ $1.population }
        }
        return sum
    }

    private static func countryCodes(_ database: RawDatabase) throws -> [String] {
        let statement = try database.prepare("SELECT code, name, population FROM country")
        var result: [String] = []
        while try statement.step() { result.append(statement.text(0)) }
        return result
    }

    private static func lazyRelations(_ database: RawDatabase) throws -> Int64 {
        let statement = try database.prepare("SELECT \(RawCity.columns) FROM city WHERE countryCode = ?")
        var sum: Int64 = 0
        for code in try countryCodes(database) {
            statement.bind(code, 1)
            sum = try cities(statement).reduce(sum) { $0 &+ $1.population }
        }
        return sum
    }

    private static func prefetchedRelations(_ database: RawDatabase) throws -> Int64 {
        let codes = try countryCodes(database)
        var positions: [String: Int] = [:]
        for (position, code) in codes.enumerated() { positions[code] = position }
        var members: [[RawCity]] = Array(repeating: [], count: codes.count)
        let statement = try database.prepare("SELECT \(RawCity.columns) FROM city WHERE countryCode IS NOT NULL")
        while try statement.step() {
            let city = RawCity(statement)
            if let position = positions[city.countryCode] { members[position].append(city) }
        }
        return members.reduce(0) { $1.reduce($0) { $0 &+ $1.population } }
    }

    private static func update(_ cities: [CityData], _ database: RawDatabase) throws -> Int64 {
        let statement = try database.prepare("UPDATE city SET population = ? WHERE cityId = ?")
        try database.execute("BEGIN")
        for city in cities {
            statement.bind(city.population + 1, 1)
            statement.bind(city.cityId, 2)
            try statement.run()
        }
        try database.execute("COMMIT")
        return Int64(cities.count)
    }

    private static func upsert(_ cities: [CityData], _ database: RawDatabase) throws -> Int64 {
        let columns = ["name", "latitude", "longitude", "population", "timezone", "updatedAt", "countryCode"]
        let statement = try database.prepare(
            insertSQL + " ON CONFLICT(cityId) DO UPDATE SET "
                + columns.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
        try database.execute("BEGIN")
        for city in cities {
            bind(city, to: statement)
            statement.bind(city.population + 1, 5)
            try statement.run()
        }
        try database.execute("COMMIT")
        return Int64(cities.count)
    }

    private static func delete(_ keys: [String], from table: String, by column: String, _ database: RawDatabase) throws
        -> Int64
    {
        let statement = try database.prepare("DELETE FROM \(table) WHERE \(column) = ?")
        try database.execute("BEGIN")
        for key in keys {
            statement.bind(key, 1)
            try statement.run()
        }
        try database.execute("COMMIT")
        return Int64(keys.count)
    }

    private static func group(_ database: RawDatabase) throws -> Int64 {
        let statement = try database.prepare(
            "SELECT countryCode, count(*), sum(population) FROM city GROUP BY countryCode")
        var sum: Int64 = 0
        while try statement.step() { sum &+= statement.integer(1) &* 7 &+ statement.integer(2) }
        return sum
    }

    private static func boxes(_ boxes: [Box], _ database: RawDatabase) throws -> Int64 {
        let statement = try database.prepare(
            "SELECT \(RawCity.columns) FROM city WHERE latitude BETWEEN ? AND ? AND longitude BETWEEN ? AND ?")
        var hits: Int64 = 0
        for box in boxes {
            statement.bind(box.south, 1)
            statement.bind(box.north, 2)
            statement.bind(box.west, 3)
            statement.bind(box.east, 4)
            for city in try cities(statement) where box.isNear(city.latitude, city.longitude) { hits += 1 }
        }
        return hits
    }
}
