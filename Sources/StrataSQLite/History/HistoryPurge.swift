import Foundation
import StrataSQL
import StrataStore

/// Removes the beginning of history.
struct HistoryPurge {
    let connection: Connection

    /// How many rows one transaction removes, so that others need not wait for long.
    private static let chunk: Int64 = 10_000

    /// Removes what the retention of the file does not keep.
    /// - Returns: How many rows of ``HistoryTables/changes`` were removed.
    func run(now: Date = Date()) throws(StoreError) -> Int {
        guard let retention = try HistoryTables.retention(on: connection), let bounds = try bounds() else { return 0 }
        var limit = bounds.first
        if let age = retention.age { limit = max(limit, try position(before: now.addingTimeInterval(-age))) }
        if let count = retention.changes { limit = max(limit, bounds.last - Int64(max(1, count))) }
        limit = min(limit, bounds.last, try slowest(now.addingTimeInterval(-min(retention.patience, 1e12))))
        return try remove(upTo: limit)
    }

    /// Removes what comes before the last end of a transaction up to a position. That end stays: it is where history
    /// begins.
    /// - Returns: How many rows were removed.
    func remove(upTo position: Int64) throws(StoreError) -> Int {
        var removed = 0
        while true {
            try connection.begin()
            defer { connection.rollback() }
            guard let bounds = try bounds() else { return removed }
            let query = try connection.statement(
                "SELECT max(position) FROM \(HistoryTables.changes) WHERE position <= ? AND kind = \(HistoryKind.end)"
            )
            query.bind(min(position, bounds.last), at: 1)
            var end = bounds.first
            if try query.step() {
                end = max(end, query.integer(0))
                query.reset()
            }
            guard end > bounds.first else { return removed }
            // The first row that stays ends a transaction, so that none loses a part.
            let next = try firstEnd(from: min(end, bounds.first + Self.chunk))
            for (table, column) in [(HistoryTables.values, "change"), (HistoryTables.changes, "position")] {
                let delete = try connection.statement("DELETE FROM \(table) WHERE \(column) < ?")
                delete.bind(next, at: 1)
                try delete.run()
                if table == HistoryTables.changes { removed += connection.changes }
            }
            try connection.commit()
            if next >= end { return removed }
        }
    }

    private func firstEnd(from position: Int64) throws(StoreError) -> Int64 {
        let query = try connection.statement(
            """
            SELECT position FROM \(HistoryTables.changes) WHERE position >= ? AND kind = \(HistoryKind.end) \
            ORDER BY position LIMIT 1
            """)
        query.bind(position, at: 1)
        guard try query.step() else { return position }
        defer { query.reset() }
        return query.integer(0)
    }

    /// The first row, and the last end of a transaction.
    private func bounds() throws(StoreError) -> (first: Int64, last: Int64)? {
        let query = try connection.statement(
            """
            SELECT (SELECT min(position) FROM \(HistoryTables.changes)), (SELECT position FROM \(HistoryTables.changes) \
            WHERE kind = \(HistoryKind.end) ORDER BY position DESC LIMIT 1)
            """)
        guard try query.step() else { return nil }
        defer { query.reset() }
        return query.isNull(0) || query.isNull(1) ? nil : (query.integer(0), query.integer(1))
    }

    /// The last end before the first transaction that is not older than a date.
    private func position(before date: Date) throws(StoreError) -> Int64 {
        // Goes through what is about to be removed, and one transaction more.
        let query = try connection.statement(
            """
            SELECT position, date FROM \(HistoryTables.changes) WHERE kind = \(HistoryKind.end) ORDER BY position
            """)
        var last: Int64 = 0
        while try query.step() {
            guard query.double(1) < date.timeIntervalSinceReferenceDate else {
                query.reset()
                break
            }
            last = query.integer(0)
        }
        return last
    }

    /// The position of the slowest consumer that has moved since a date.
    private func slowest(_ date: Date) throws(StoreError) -> Int64 {
        let query = try connection.statement("SELECT min(position) FROM \(HistoryTables.consumers) WHERE date >= ?")
        query.bind(date.timeIntervalSinceReferenceDate, at: 1)
        guard try query.step() else { return .max }
        defer { query.reset() }
        return query.isNull(0) ? .max : query.integer(0)
    }
}
