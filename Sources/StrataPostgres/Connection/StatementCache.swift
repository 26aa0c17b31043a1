#if Postgres
    /// The prepared statements of a connection by their text, up to a limit.
    struct StatementCache {
        private static let limit = 256

        private final class Entry {
            let name: String
            /// When it was last used, counted in uses.
            var use: Int

            init(name: String, use: Int) {
                self.name = name
                self.use = use
            }
        }

        private var entries: [String: Entry] = [:]
        private var uses = 0
        private var made = 0

        mutating func name(of sql: String) -> String? {
            guard let known = entries[sql] else { return nil }
            uses += 1
            known.use = uses
            return known.name
        }

        /// Gives a name to a statement.
        /// - Returns: The name, and that of a statement that is to go.
        mutating func add(_ sql: String) -> (name: String, dropped: String?) {
            var dropped: String?
            if entries.count >= Self.limit, let oldest = entries.min(by: { $0.value.use < $1.value.use }) {
                dropped = oldest.value.name
                entries[oldest.key] = nil
            }
            made += 1
            uses += 1
            let name = "strata_\(made)"
            entries[sql] = Entry(name: name, use: uses)
            return (name, dropped)
        }

        mutating func remove(_ sql: String) { entries[sql] = nil }
    }
#endif
