import CBench

/// The thinnest possible cover of a connection: what a careful programmer writes who wants nothing between the program
/// and SQLite.
final class RawDatabase {
    let handle: OpaquePointer

    init(_ path: String, full: Bool = false) throws {
        var opened: OpaquePointer?
        guard sqlite3_open(path, &opened) == SQLITE_OK, let opened else { throw BenchError("cannot open \(path)") }
        handle = opened
        try execute("PRAGMA journal_mode = WAL")
        try execute("PRAGMA synchronous = \(full ? "FULL" : "NORMAL")")
        try execute("PRAGMA foreign_keys = ON")
    }

    deinit { sqlite3_close_v2(handle) }

    func execute(_ sql: String) throws {
        guard sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK else { throw failure(sql) }
    }

    func prepare(_ sql: String) throws -> RawStatement {
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
            let statement
        else { throw failure(sql) }
        return RawStatement(handle: statement, database: self)
    }

    /// The first column of the first row.
    func integer(_ sql: String) throws -> Int64 {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : 0
    }

    func failure(_ sql: String) -> BenchError { BenchError("\(String(cString: sqlite3_errmsg(handle))) in \(sql)") }

    /// The schema of all contenders but Strata, which makes its own from its model.
    static let schema = [
        "CREATE TABLE country(code TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, population INTEGER NOT NULL)",
        """
        CREATE TABLE city(cityId TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, latitude REAL NOT NULL, longitude REAL NOT NULL,
            population INTEGER NOT NULL, timezone TEXT NOT NULL, updatedAt, countryCode TEXT REFERENCES country(code) ON DELETE SET NULL)
        """,
        "CREATE INDEX city_country ON city(countryCode)",
        "CREATE INDEX city_population ON city(population)",
        "CREATE TABLE tag(tagId INTEGER PRIMARY KEY, label TEXT NOT NULL)",
        """
        CREATE TABLE city_tag(id INTEGER PRIMARY KEY, cityId TEXT NOT NULL REFERENCES city(cityId) ON DELETE CASCADE,
            tagId INTEGER NOT NULL REFERENCES tag(tagId) ON DELETE CASCADE, UNIQUE(cityId, tagId))
        """,
        "CREATE INDEX city_tag_tag ON city_tag(tagId)",
    ]
}

/// A prepared statement.
final class RawStatement {
    let handle: OpaquePointer
    private let database: RawDatabase

    init(handle: OpaquePointer, database: RawDatabase) {
        self.handle = handle
        self.database = database
    }

    deinit { sqlite3_finalize(handle) }

    func step() throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw database.failure(String(cString: sqlite3_sql(handle)))
        }
    }

    func run() throws {
        while try step() {}
        reset()
    }

    func reset() { sqlite3_reset(handle) }
    func bind(_ value: Int64, _ index: Int32) { sqlite3_bind_int64(handle, index, value) }
    func bind(_ value: Double, _ index: Int32) { sqlite3_bind_double(handle, index, value) }
    func bind(_ value: String, _ index: Int32) {
        var value = value
        value.withUTF8 { text in
            text.withMemoryRebound(to: CChar.self) {
                _ = sqlite3_bind_text(handle, index, $0.baseAddress, Int32($0.count), bench_transient())
            }
        }
    }
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
    func text(_ column: Int32) -> String {
        let start = sqlite3_column_text(handle, column)
        return String(
            decoding: UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))), as: UTF8.self
        )
    }
}

/// A row as a plain value.
struct RawCity {
    let cityId: String
    let name: String
    let latitude: Double
    let longitude: Double
    let population: Int64
    let timezone: String
    /// Seconds since 2001-01-01.
    let updatedAt: Double
    let countryCode: String

    static let columns = "cityId, name, latitude, longitude, population, timezone, updatedAt, countryCode"

    init(_ row: RawStatement) {
        cityId = row.text(0)
        name = row.text(1)
        latitude = row.double(2)
        longitude = row.double(3)
        population = row.integer(4)
        timezone = row.text(5)
        updatedAt = row.double(6)
        countryCode = row.text(7)
    }

    /// Depends on every attribute.
    var check: Int64 {
        attributeCheck(
            cityId, name, latitude, longitude, population, timezone, updatedAt, countryCode)
    }
}

/// A number that depends on all attributes of a city, so that none can be left unread.
@inline(__always)
func attributeCheck(
    _ cityId: String, _ name: String, _ latitude: Double, _ longitude: Double, _ population: Int64, _ timezone: String,
    _ updated: Double, _ country: String
) -> Int64 {
    population &+ Int64(cityId.utf8.count + name.utf8.count + timezone.utf8.count + country.utf8.count)
        &+ Int64((latitude * 100_000).rounded()) &+ Int64((longitude * 100_000).rounded()) &+ Int64(updated)
}

/// What a writing workload left in the file, the same for all: counts, the sum of the population, cities without a
/// country.
struct LeftInFile {
    let path: String
    let countryColumn: String
    let tagTable: String

    func check() throws -> Int64 {
        let database = try RawDatabase(path)
        let parts = [
            "SELECT count(*) FROM city", "SELECT sum(population) FROM city", "SELECT count(*) FROM country",
            "SELECT count(*) FROM city WHERE \(countryColumn) IS NULL", "SELECT count(*) FROM \(tagTable)",
        ]
        return try parts.reduce(0) { try $0 &* 31 &+ database.integer($1) }
    }
}
