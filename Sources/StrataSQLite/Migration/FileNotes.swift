import Foundation
import StrataSQL
import StrataStore

/// The entries of `_metadata` in a file.
struct FileNotes: DeferredNotes {
    let connection: Connection

    var path: String { connection.path }

    func notes(from prefix: String) throws(StoreError) -> [String] {
        let statement = try connection.prepare(
            "SELECT value FROM _metadata WHERE substr(key, 1, length(?1)) = ?1", persistent: false)
        statement.bind(prefix, at: 1)
        var texts: [String] = []
        while try statement.step() { texts.append(statement.text(0)) }
        return texts
    }

    func note(_ key: String) throws(StoreError) -> String? { try StoreMetadata.get(key, on: connection) }

    func setNote(_ key: String, _ value: String?) throws(StoreError) {
        if let value { return try StoreMetadata.set(key, value, on: connection) }
        let statement = try connection.prepare("DELETE FROM _metadata WHERE key = ?", persistent: false)
        statement.bind(key, at: 1)
        try statement.run()
    }

    /// The extent of a table with a condition; see ``DeferredSteps``.
    func extent(_ rows: String) throws(StoreError) -> (count: Int, last: Int64)? {
        let count = try connection.integer("SELECT count(*) FROM \(rows)") ?? 0
        guard count > 0, let last = try connection.integer("SELECT max(_id) FROM \(rows)") else { return nil }
        return (Int(count), last)
    }
}
