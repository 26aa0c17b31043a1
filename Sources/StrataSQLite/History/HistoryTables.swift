import Foundation
import StrataSQL
import StrataStore

/// The tables of history in a file.
///
/// `_history` is one table for changes and transactions, so that a small save touches one page of it: a row for each change,
/// and after the changes of a transaction the row that ends it. The first row always ends a transaction: it is the
/// place up to which history was purged, or at which the recording began.
///
/// Triggers write the changes, so that whatever changes an object leaves its row: saves, bulk operations, delete rules, foreign
/// keys, mirrors, another process, even a shell. The store writes the rows that end transactions.
enum HistoryTables {
    static let changes = "_history"
    static let values = "_history_values"
    static let entities = "_history_entities"
    static let consumers = "_history_consumers"
    static let all = [changes, values, entities, consumers]
    /// The entry of `_metadata` with the retention. It is there while the file records.
    static let metadataKey = "history"

    /// Of a change, `entity` is a row of `_history_entities` and `changed` the bits of changed properties. Of an end, `key` is
    /// the tag of its token.
    private static let statements = [
        """
        CREATE TABLE \(changes) (
            position INTEGER PRIMARY KEY,
            kind INTEGER NOT NULL,
            entity INTEGER,
            key INTEGER NOT NULL,
            changed INTEGER,
            date REAL,
            author TEXT,
            context TEXT,
            process TEXT,
            process_id INTEGER,
            origin INTEGER
        )
        """,
        """
        CREATE TABLE \(values) (
            change INTEGER NOT NULL,
            property INTEGER NOT NULL,
            value,
            PRIMARY KEY (change, property)
        ) WITHOUT ROWID
        """,
        "CREATE TABLE \(entities) (\n    id INTEGER PRIMARY KEY,\n    definition TEXT NOT NULL,\n    renamed TEXT\n)",
        """
        CREATE TABLE \(consumers) (
            name TEXT PRIMARY KEY,
            position INTEGER NOT NULL,
            tag INTEGER NOT NULL,
            date REAL NOT NULL
        ) WITHOUT ROWID
        """,
    ]

    /// The retention of a file; nil if it does not record.
    static func retention(on connection: Connection) throws(StoreError) -> HistoryRetention? {
        guard let text = try StoreMetadata.get(metadataKey, on: connection) else { return nil }
        return try retention(text, connection)
    }

    static func retention(_ text: String, _ connection: Connection) throws(StoreError) -> HistoryRetention {
        guard let retention = HistoryRetention(text: text) else {
            throw .corrupt(path: connection.path, reason: "the entry history of _metadata cannot be read")
        }
        return retention
    }

    /// Makes the tables, with the row at which the recording begins.
    static func create(on connection: Connection) throws(StoreError) {
        for statement in statements { try connection.execute(statement) }
        try connection.execute(
            "INSERT INTO \(changes)(kind, key, date) VALUES(\(HistoryKind.end), \(newTag()), "
                + "\(Date().timeIntervalSinceReferenceDate))")
    }

    static func drop(on connection: Connection) throws(StoreError) {
        try HistoryTriggers.drop(on: connection)
        for table in all { try connection.execute("DROP TABLE IF EXISTS \(table)") }
        let statement = try connection.prepare("DELETE FROM _metadata WHERE key = ?", persistent: false)
        statement.bind(metadataKey, at: 1)
        try statement.run()
    }

    /// A number that the end of no other transaction has.
    static func newTag() -> Int64 { Int64.random(in: 1...Int64.max) }
}
