import StrataStore

/// Gathers the SQL statements that the store reports, on any thread, until they are taken.
final class StatementLog: Sendable {
    /// One statement as it ran.
    struct Entry: Sendable, Hashable {
        /// The text, in one line.
        let sql: String
        /// How long it took, in seconds.
        let seconds: Double
        /// How many rows it gave or changed.
        let rows: Int
    }

    /// Statements of the same text, taken together.
    struct Group: Sendable, Hashable {
        /// The text.
        let sql: String
        /// How often it ran.
        var count: Int
        /// How long all runs took, in seconds.
        var seconds: Double
        /// How many rows all runs gave or changed.
        var rows: Int
    }

    private let entries = Guarded<[Entry]>([])

    /// Adds a statement.
    func record(sql: String, seconds: Double, rows: Int) {
        let text = sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        entries.withLock { $0.append(Entry(sql: text, seconds: seconds, rows: rows)) }
    }

    /// Gives the statements since the last call, in the order in which they ran, and forgets them.
    func drain() -> [Entry] {
        entries.withLock { entries in
            defer { entries = [] }
            return entries
        }
    }

    /// Takes statements of the same text together, in the order of their first runs.
    static func grouped(_ entries: [Entry]) -> [Group] {
        var positions: [String: Int] = [:]
        var groups: [Group] = []
        for entry in entries {
            if let position = positions[entry.sql] {
                groups[position].count += 1
                groups[position].seconds += entry.seconds
                groups[position].rows += entry.rows
            } else {
                positions[entry.sql] = groups.count
                groups.append(Group(sql: entry.sql, count: 1, seconds: entry.seconds, rows: entry.rows))
            }
        }
        return groups
    }
}
