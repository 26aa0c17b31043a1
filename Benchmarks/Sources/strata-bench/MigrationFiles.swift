import CBench
import Foundation
import Strata

/// A change of the model that the contenders carry out on a table of places.
enum MigrationChange: String, Codable, CaseIterable {
    /// An optional attribute: a column is added.
    case add
    /// A required attribute with a constant default.
    case addDefault
    /// A to-one relationship is removed: SQLite cannot drop a column with a foreign key, so that the table is written again.
    case rebuild
    /// A whole number becomes a floating-point number, in a table that is written again.
    case convert

    /// The ratio to raw SQLite that the project sets itself.
    var bound: Double {
        switch self {
        case .add, .addDefault: 1.2
        case .rebuild, .convert: 1.3
        }
    }
}

/// The models before and after the changes, and a file with places of the first one.
struct MigrationFiles {
    let folder: URL
    let n: Int

    /// A file with places, made once.
    func base() throws -> String {
        let path = folder.appending(path: "base-migration-\(n).sqlite").path
        if FileManager.default.fileExists(atPath: path) { return path }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let part = path + ".part"
        StoreFiles.remove(part)
        try PersistentContainer(model: try Self.model(nil), at: .file(path: part)).close()
        let database = try RawDatabase(part)
        try database.execute("BEGIN")
        try database.execute(
            """
            INSERT INTO country(_id, _version, code) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 250)
            SELECT i, 1, 'C' || i FROM c
            """)
        try database.execute(
            """
            INSERT INTO place(_id, _version, place_id, name, latitude, longitude, population, timezone, country)
            WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < \(n))
            SELECT i, 1, 'P' || (i * 611953 % 1000003), 'The place ' || i, (i * 7919 % 18000) / 100.0 - 90,
                (i * 104729 % 36000) / 100.0 - 180, i * 15485863 % 1000000, 'Europe/Zurich', i * 31 % 250 + 1 FROM c
            """)
        try database.execute("COMMIT")
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try FileManager.default.moveItem(atPath: part, toPath: path)
        return path
    }

    /// The model after a change; the first one without.
    static func model(_ change: MigrationChange?) throws -> ManagedObjectModel {
        try ManagedObjectModel(name: "Places") {
            Entity("Place") {
                Attribute("placeId", .string).unique()
                Attribute("name", .string)
                Attribute("latitude", .double)
                Attribute("longitude", .double)
                Attribute("population", change == .convert ? .double : .integer32).indexed()
                Attribute("timezone", .string)
                if change == .add { Attribute("note", .string).optional() }
                if change == .addDefault { Attribute("rank", .integer64, default: .value(7)) }
                if change != .rebuild {
                    Relationship("country", to: "Country", .optionalToOne, inverse: "places")
                }
            }
            Entity("Country") {
                Attribute("code", .string).unique()
                if change != .rebuild { Relationship("places", to: "Place", .toMany, inverse: "country") }
            }
        }
    }

    /// The statements that make what Strata makes, as a program without it would send them: tables and indexes have the same text.
    /// - Parameter migrated: A small file that Strata has migrated.
    static func statements(_ change: MigrationChange, like migrated: String) throws -> [String] {
        switch change {
        case .add: return ["ALTER TABLE place ADD COLUMN note TEXT"]
        case .addDefault: return ["ALTER TABLE place ADD COLUMN rank INTEGER NOT NULL DEFAULT 7"]
        case .rebuild, .convert:
            let database = try RawDatabase(migrated)
            func texts(_ sql: String) throws -> [String] {
                let statement = try database.prepare(sql)
                var result: [String] = []
                while try statement.step() { result.append(statement.text(0)) }
                return result
            }
            let columns = try texts("SELECT name FROM pragma_table_info('place') ORDER BY cid")
            let values = columns.map { change == .convert && $0 == "population" ? "CAST(\($0) AS REAL)" : $0 }
            let table = try texts("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = 'place'")[0]
            guard let body = table.firstIndex(of: "(") else { throw BenchError("no columns in \(table)") }
            let indexes = try texts(
                "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'place' AND sql IS NOT NULL")
            return [
                "CREATE TABLE new_place \(table[body...])",
                "INSERT INTO new_place(\(columns.joined(separator: ", "))) SELECT \(values.joined(separator: ", ")) FROM place",
                "DROP TABLE place", "ALTER TABLE new_place RENAME TO place",
            ] + indexes
        }
    }

    /// A number that depends on what a change leaves in the file.
    static func check(_ change: MigrationChange, _ path: String) throws -> Int64 {
        let database = try RawDatabase(path)
        let own =
            switch change {
            case .add: "SELECT count(*) FROM place WHERE note IS NULL"
            case .addDefault: "SELECT sum(rank) FROM place"
            case .rebuild: "SELECT count(*) FROM pragma_table_info('place') WHERE name LIKE 'country%'"
            case .convert: "SELECT count(*) FROM place WHERE typeof(population) = 'real'"
            }
        return try ["SELECT count(*) FROM place", "SELECT sum(population) FROM place", own].reduce(0) {
            try $0 &* 31 &+ database.integer($1)
        }
    }

    /// How many indexes a file has for places. Django has others than the rest.
    static func indexes(_ path: String) throws -> Int64 {
        try RawDatabase(path).integer(
            "SELECT count(*) FROM sqlite_master WHERE type = 'index' AND tbl_name = 'place' AND sql IS NOT NULL")
    }
}
