import Foundation
import StrataSQL
import StrataSQLite

/// The tables of a Core Data store, as SQLite knows them.
struct CoreDataTables: Sendable {
    /// An entity's row of `Z_PRIMARYKEY`.
    struct Entry: Sendable, Hashable {
        /// The number that rows refer to the entity by.
        var number: Int64
        var name: String
        /// The number of the parent; 0 for none.
        var parent: Int64
        /// The highest key that was handed out; kept for topmost entities only.
        var maximum: Int64
    }

    /// A table: its name, and the names of its columns by their capital letters.
    struct Table: Sendable {
        var name: String
        /// The names of the columns in their order, and their declared types.
        var columns: [(name: String, type: String)]
        private var names: [String: String] = [:]

        init(name: String, columns: [(name: String, type: String)]) {
            self.name = name
            self.columns = columns
            for column in columns { names[column.name.uppercased()] = column.name }
        }

        /// The name of a column as the file spells it.
        func column(_ name: String) -> String? { names[name.uppercased()] }
    }

    /// The entities of the application: those below the numbers that Core Data reserves.
    var entries: [Entry] = []
    /// The tables by their names in capital letters.
    var tables: [String: Table] = [:]
    /// The names of the indexes in capital letters.
    var indexes: Set<String> = []
    /// The triggers: names and SQL.
    var triggers: [(name: String, sql: String)] = []
    /// SQLite's number for the tables, which each change of a table changes.
    var schemaNumber: Int64 = 0

    /// The first number that Core Data takes for tables of its own: history, and the state of CloudKit.
    static let firstOwnNumber: Int64 = 16_000

    func table(_ name: String) -> Table? { tables[name.uppercased()] }

    func entry(named name: String) -> Entry? { entries.first { $0.name == name } }
}

extension CoreDataTables {
    /// The most tables, and columns of a table, that are read: more than any model needs. A damaged file may claim any number.
    private static let maximumCount = 20_000

    /// Reads the names of tables and the entities.
    /// - Throws: ``StoreError/notAStore(path:reason:)`` if the tables that each Core Data store has are missing.
    init(_ connection: Connection, path: String) throws(StoreError) {
        let names = try connection.texts(
            "SELECT name FROM main.sqlite_master WHERE type = 'table' ORDER BY name LIMIT \(Self.maximumCount)")
        for required in ["Z_METADATA", "Z_PRIMARYKEY"] where !names.contains(where: { $0.uppercased() == required }) {
            throw .notAStore(path: path, reason: "it has no table \(required), which each Core Data store has")
        }
        indexes = Set(
            try connection.texts(
                "SELECT upper(name) FROM main.sqlite_master WHERE type = 'index' LIMIT \(Self.maximumCount)"))
        schemaNumber = try connection.integer("PRAGMA main.schema_version") ?? 0
        let found = try connection.prepare(
            "SELECT name, sql FROM main.sqlite_master WHERE type = 'trigger' LIMIT \(Self.maximumCount)",
            persistent: false)
        while try found.step() { triggers.append((found.text(0), found.text(1))) }
        for name in names {
            let statement = try connection.prepare(
                "SELECT name, type FROM pragma_table_info(\(Identifiers.literal(name)))", persistent: false)
            var columns: [(String, String)] = []
            while try statement.step() { columns.append((statement.text(0), statement.text(1))) }
            tables[name.uppercased()] = Table(name: name, columns: columns)
        }
        for (table, column) in [
            ("Z_METADATA", "Z_UUID"), ("Z_METADATA", "Z_PLIST"), ("Z_PRIMARYKEY", "Z_ENT"), ("Z_PRIMARYKEY", "Z_NAME"),
            ("Z_PRIMARYKEY", "Z_SUPER"), ("Z_PRIMARYKEY", "Z_MAX"),
        ] where self.table(table)?.column(column) == nil {
            throw .notAStore(path: path, reason: "its table \(table) has no column \(column)")
        }
        try readEntries(connection, path: path)
    }

    private mutating func readEntries(_ connection: Connection, path: String) throws(StoreError) {
        let statement = try connection.prepare(
            "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT < \(Self.firstOwnNumber) ORDER BY Z_ENT",
            persistent: false)
        var numbers: Set<Int64> = []
        var names: Set<String> = []
        while try statement.step() {
            let entry = Entry(
                number: statement.integer(0), name: statement.text(1), parent: statement.integer(2),
                maximum: statement.integer(3))
            guard entry.number > 0, !entry.name.isEmpty, !entry.name.utf8.contains(0) else {
                throw .corrupt(path: path, reason: "Z_PRIMARYKEY has an entity without a number or a name")
            }
            guard numbers.insert(entry.number).inserted, names.insert(entry.name).inserted else {
                throw .corrupt(path: path, reason: "Z_PRIMARYKEY has the entity \(entry.name) twice")
            }
            guard entries.count < Self.maximumCount else {
                throw .corrupt(path: path, reason: "Z_PRIMARYKEY has more than \(Self.maximumCount) entities")
            }
            entries.append(entry)
        }
    }
}
