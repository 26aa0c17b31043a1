#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// Removes the beginning of history.
    struct HistoryPurge {
        let store: PostgresStore
        let connection: PostgresConnection

        /// How many transactions are removed at a time, so that others need not wait for long.
        private static let chunk: Int64 = 1000

        /// Removes what the retention of the store does not keep.
        /// - Returns: How many rows were removed.
        func run(_ retention: HistoryRetention, now: Date = Date()) throws -> Int {
            guard let bounds = try bounds() else { return 0 }
            var limit = bounds.first
            if let age = retention.age {
                var parameters = StatementParameters()
                parameters.add(now.addingTimeInterval(-min(age, 1e12)))
                // Up to the first transaction that is not older: clocks may have been set back.
                limit = max(
                    limit,
                    try number(
                        """
                        SELECT max(position) FROM "_history" WHERE position < coalesce((SELECT min(position) \
                        FROM "_history" WHERE date >= $1), 9223372036854775807)
                        """, parameters) ?? limit)
            }
            if let count = retention.changes {
                // The transaction with the first change that is one too many.
                limit = max(
                    limit,
                    try number(
                        """
                        SELECT t.position FROM "_history" AS t WHERE t.number = (SELECT transaction \
                        FROM "_history_changes" ORDER BY id DESC OFFSET \(max(1, count)) LIMIT 1)
                        """, StatementParameters()) ?? limit)
            }
            var patience = StatementParameters()
            patience.add(now.addingTimeInterval(-min(retention.patience, 1e12)))
            let slowest = try number(
                "SELECT min(position) FROM \"_history_consumers\" WHERE date >= $1", patience)
            return try remove(upTo: min(limit, slowest ?? .max))
        }

        /// Removes what comes before the last end of a transaction up to a position. The row of that transaction stays: it
        /// is where history begins.
        /// - Returns: How many rows were removed.
        func remove(upTo position: Int64) throws -> Int {
            var removed = 0
            while true {
                try connection.begin("ISOLATION LEVEL READ COMMITTED")
                defer { connection.rollback() }
                // One at a time, so that two processes do not wait for each other's rows.
                try connection.run(
                    "SELECT pg_advisory_xact_lock(hashtextextended('strata purge ' || current_schema(), 0))")
                guard let bounds = try bounds() else { return removed }
                var parameters = StatementParameters()
                parameters.add(min(position, bounds.last))
                let end = try number("SELECT max(position) FROM \"_history\" WHERE position <= $1", parameters)
                guard let end, end > bounds.first else { return removed }
                var start = StatementParameters()
                start.add(bounds.first)
                start.add(end)
                let next =
                    try number(
                        """
                        SELECT position FROM "_history" WHERE position > $1 AND position <= $2 ORDER BY position \
                        OFFSET \(Self.chunk) LIMIT 1
                        """, start) ?? end
                var until = StatementParameters()
                until.add(next)
                let gone = "(SELECT number FROM \"_history\" WHERE position <= $1)"
                for statement in [
                    """
                    DELETE FROM "_history_values" WHERE change IN (SELECT id FROM "_history_changes" \
                    WHERE transaction IN \(gone))
                    """,
                    "DELETE FROM \"_history_changes\" WHERE transaction IN \(gone)",
                    "DELETE FROM \"_history\" WHERE position < $1",
                ] {
                    let rows = try connection.execute(statement, until).affectedRows
                    if !statement.hasPrefix("DELETE FROM \"_history_values\"") { removed += rows }
                }
                try connection.commit()
                if next >= end { return removed }
            }
        }

        private func number(_ sql: String, _ parameters: StatementParameters) throws -> Int64? {
            let result = try connection.execute(sql, parameters)
            return result.rowCount == 1 && !result.isNull(0, 0) ? result.integer(0, 0) : nil
        }

        /// The first and the last transaction.
        private func bounds() throws -> (first: Int64, last: Int64)? {
            let result = try connection.execute("SELECT min(position), max(position) FROM \"_history\"")
            return result.isNull(0, 0) ? nil : (result.integer(0, 0), result.integer(0, 1))
        }
    }
#endif
