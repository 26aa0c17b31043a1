#if Postgres
    /// The prepared statements of a connection by their text, up to a limit.
    struct StatementCache {
        private static let limit = 256
        private var names: [String: (name: String, use: Int)] = [:]
        private var uses = 0
        private var made = 0

        mutating func name(of sql: String) -> String? {
            guard let known = names[sql] else { return nil }
            uses += 1
            names[sql]?.use = uses
            return known.name
        }

        /// Gives a name to a statement.
        /// - Returns: The name, and that of a statement that is to go.
        mutating func add(_ sql: String) -> (name: String, dropped: String?) {
            var dropped: String?
            if names.count >= Self.limit, let oldest = names.min(by: { $0.value.use < $1.value.use }) {
                dropped = oldest.value.name
                names[oldest.key] = nil
            }
            made += 1
            uses += 1
            let name = "strata_\(made)"
            names[sql] = (name, uses)
            return (name, dropped)
        }

        mutating func remove(_ sql: String) { names[sql] = nil }
    }
#endif
