#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    extension PostgresStore {
        /// Says how a fetch finds its objects, without running it.
        ///
        /// The steps are PostgreSQL's plan for the tables as they are. PostgreSQL reads small tables as a whole even if there is
        /// an index; such a step does not count as a table that is read as a whole, because an index would serve once the
        /// table has grown. The last steps name the parts that are evaluated in memory.
        /// - Parameters:
        ///   - plan: The fetch.
        ///   - counting: Whether the objects are only counted.
        /// - Throws: ``StoreError/unsupported(store:feature:)`` and ``StoreError/invalidPredicate(_:)`` as the fetch would.
        public func explain(_ plan: FetchPlan, counting: Bool = false) throws(StoreError) -> FetchExplanation {
            let explainer = try QueryExplainer(store: self, plan: plan, isCount: counting)
            return try reading { (connection) throws(PostgresError) in
                try connection.begin("READ ONLY")
                defer { connection.rollback() }
                var explanation = try explainer.explanation(on: connection)
                explanation.replica = pool.connectionGuard?.address
                return explanation
            }
        }

        /// Advice for a fetch that ``explain(_:counting:)`` has explained: indexes are tried on empty tables, in a transaction
        /// that is taken back. Without the right to create a schema, there are no suggestions.
        /// - Parameters:
        ///   - plan: The fetch.
        ///   - counting: Whether the objects are only counted.
        ///   - explanation: What the store said.
        public func advice(
            _ plan: FetchPlan, counting: Bool = false, for explanation: FetchExplanation
        ) -> FetchAdvice {
            let engine = FetchAdvisor.Engine(name: "PostgreSQL") { model, plan, counting in
                try? self.explainOnEmptyTables(model, plan, counting)
            }
            return FetchAdvisor(model: model, plan: plan, counting: counting, engine: engine).advice(for: explanation)
        }

        private func explainOnEmptyTables(
            _ model: ManagedObjectModel, _ plan: FetchPlan, _ counting: Bool
        ) throws -> FetchExplanation {
            let layout = try StoreLayout(model: model, dialect: PostgresDialect())
            let schema = PostgresSchema(layout: layout)
            // It only translates; its own pool makes no connection.
            let trial = try PostgresStore(
                identifier: UUID(), address: name, options: options, layout: layout, pool: pool.unused(),
                observers: StatementObserverList())
            let explainer = try QueryExplainer(store: trial, plan: plan, isCount: counting)
            let place = SQLText.quote("strata trial \(UUID().uuidString.prefix(8))")
            return try use { (connection) throws(StoreError) in
                do throws(PostgresError) {
                    try connection.begin("READ WRITE")
                    defer { connection.rollback() }
                    try connection.run("CREATE SCHEMA \(place)")
                    // The functions that conditions call are in the schema of the store.
                    try connection.run("SET LOCAL search_path TO \(place), \(SQLText.quote(options.schema))")
                    for statement in schema.modelStatements { try connection.run(statement) }
                    for object in schema.objects { try connection.run(object.create) }
                    return try explainer.explanation(on: connection)
                } catch {
                    throw storeError(error)
                }
            }
        }
    }

    /// Asks PostgreSQL how it would run a query.
    private struct QueryExplainer {
        private let query: FetchQuery
        /// The same without order and limit: how the rows are found that meet the condition.
        private let search: FetchQuery
        private let isCount: Bool
        private let bindings: [SQLValue]

        init(store: PostgresStore, plan: FetchPlan, isCount: Bool) throws(StoreError) {
            query = try FetchQuery(store: store, plan: plan, isOrdered: !isCount)
            var searched = plan
            searched.sorts = []
            searched.limit = nil
            searched.offset = 0
            search = try FetchQuery(store: store, plan: searched, isOrdered: false)
            self.isCount = isCount
            bindings = try query.bindings()
        }

        private var sql: String {
            guard query.isExact else { return query.candidates("t0.\"_id\"") }
            return isCount ? query.count : query.select("t0.\"_id\"")
        }

        func explanation(on connection: PostgresConnection) throws(PostgresError) -> FetchExplanation {
            var steps = try plan(sql, query.parameters, on: connection)
            // Whether an index can serve does not depend on how small a table is at the moment.
            try connection.run("SET LOCAL enable_seqscan TO off")
            let found = try plan(
                search.isExact ? search.count : search.select("1"), search.parameters, on: connection)
            try connection.run("SET LOCAL enable_sort TO off")
            let ordered = query.plan.sorts.isEmpty ? [] : try plan(sql, query.parameters, on: connection)
            let scans = Self.scans(found).map { scan in
                FetchExplanation.Scan(
                    table: scan.table, step: steps.first { Self.scanned($0.text) == scan.table }?.text ?? scan.step)
            }
            if let rest = query.rest {
                steps.append(FetchExplanation.Step(depth: 0, text: "In memory: \(rest)"))
            }
            if query.sortsInMemory {
                let order = query.sorts.map(\.description).joined(separator: ", ")
                steps.append(FetchExplanation.Step(depth: 0, text: "In memory: sorted by \(order)"))
            }
            return FetchExplanation(
                sql: sql,
                bindings: bindings.enumerated().map {
                    FetchExplanation.Binding(number: $0 + 1, type: $1.typeName, text: $1.description)
                },
                plan: steps, entities: query.entities, scans: scans,
                sorts: ordered.contains { $0.text == "Sort" } || query.sortsInMemory)
        }

        /// The tables that a plan reads as a whole.
        private static func scans(_ steps: [FetchExplanation.Step]) -> [(table: String, step: String)] {
            steps.indices.compactMap { index in
                guard let table = scanned(steps[index].text) else { return nil }
                // An index that is read from one end to the other is as good as a table.
                let details = steps[(index + 1)...].prefix { $0.depth > steps[index].depth }
                let isSearch = details.contains {
                    $0.depth == steps[index].depth + 1 && $0.text.hasPrefix("Index Cond:")
                }
                return isSearch ? nil : (table, steps[index].text)
            }
        }

        /// The lines of a plan: each node begins with an arrow, six columns to the right of the one that it is part of; what is
        /// said about a node follows it.
        private func plan(
            _ sql: String, _ parameters: StatementParameters, on connection: PostgresConnection
        ) throws(PostgresError) -> [FetchExplanation.Step] {
            let result = try connection.execute("EXPLAIN (COSTS OFF) \(sql)", parameters, isKept: false)
            var steps: [FetchExplanation.Step] = []
            var depth = 0
            for row in 0..<result.rowCount {
                let line = result.text(row, 0)
                let indent = line.prefix { $0 == " " }.count
                var text = line.dropFirst(indent)
                if text.hasPrefix("->") {
                    text = text.dropFirst(2).drop { $0 == " " }
                    depth = (indent + 4) / 6
                    steps.append(FetchExplanation.Step(depth: depth, text: String(text)))
                } else {
                    steps.append(FetchExplanation.Step(depth: row == 0 ? 0 : depth + 1, text: String(text)))
                }
            }
            return steps
        }

        /// The name under which a node reads a table by itself; nil for other nodes. `Seq Scan on city t0` reads `t0`. A bitmap
        /// scan has looked in an index before.
        private static func scanned(_ text: String) -> String? {
            guard let range = text.range(of: "Scan "), !text.hasPrefix("Bitmap"), !text.contains(":"),
                let place = text.range(of: " on ", range: range.lowerBound..<text.endIndex)
            else { return nil }
            return text[place.upperBound...].split(separator: " ").last.map(String.init)
        }
    }
#endif
