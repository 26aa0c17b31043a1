import StrataSQL
import StrataStore

extension SQLiteStore {
    /// Says how a fetch finds its objects, without running it.
    /// - Parameters:
    ///   - plan: The fetch.
    ///   - counting: Whether the objects are only counted.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` and ``StoreError/invalidPredicate(_:)`` as the fetch would.
    public func explain(_ plan: FetchPlan, counting: Bool = false) throws(StoreError) -> FetchExplanation {
        let search = counting ? nil : NearestSearch(plan, schema)
        let shape = FetchShape(plan, counting ? .count : .keys, angle: search.map { _ in NearestSearch.firstAngle })
        let compiled = try FetchCompiler(schema: schema, rowPlans: rowPlans).compile(shape, of: plan)
        var values: [SQLValue] = []
        for parameter in compiled.parameters { values.append(try parameter.value(shape.constants)) }
        if let limit = plan.limit { values.append(.integer(Int64(limit))) }
        if plan.offset > 0 { values.append(.integer(Int64(plan.offset))) }
        let steps = try pool.read { (connection) throws(StoreError) in
            let statement = try connection.prepare("EXPLAIN QUERY PLAN " + compiled.sql, persistent: false)
            try PreparedFetch(statement: statement, parameters: compiled.parameters).bind(shape.constants, plan)
            var steps: [FetchExplanation.Step] = []
            // The steps name the one that they are part of by its number.
            var depths: [Int64: Int] = [:]
            while try statement.step() {
                let depth = depths[statement.integer(1)].map { $0 + 1 } ?? 0
                depths[statement.integer(0)] = depth
                steps.append(FetchExplanation.Step(depth: depth, text: statement.text(3)))
            }
            return steps
        }
        return FetchExplanation(
            sql: compiled.sql,
            // A constant may not appear in the SQL, for example when a search was rewritten as a range.
            bindings: values.enumerated().compactMap { (index, value) in
                guard Self.hasParameter(index + 1, compiled.sql) else { return nil }
                return FetchExplanation.Binding(number: index + 1, type: value.typeName, text: value.description)
            },
            plan: steps, entities: compiled.entities, scans: steps.compactMap(Self.scan),
            sorts: steps.contains { $0.text == "USE TEMP B-TREE FOR ORDER BY" })
    }

    /// The table that a step reads as a whole.
    private static func scan(_ step: FetchExplanation.Step) -> FetchExplanation.Scan? {
        let words = step.text.split(separator: " ")
        guard words.count >= 2, words[0] == "SCAN" else { return nil }
        return FetchExplanation.Scan(table: String(words[1]), step: step.text)
    }

    private static func hasParameter(_ number: Int, _ sql: String) -> Bool {
        sql.ranges(of: "?\(number)").contains { range in
            range.upperBound == sql.endIndex || !sql[range.upperBound].isNumber
        }
    }
}

extension FetchAdvisor {
    /// Prepares to look at a fetch.
    /// - Parameters:
    ///   - model: The model of the store.
    ///   - plan: The fetch.
    ///   - counting: Whether the objects are only counted.
    public init(model: ManagedObjectModel, plan: FetchPlan, counting: Bool = false) {
        let engine = Engine(name: "SQLite") { model, plan, counting in
            guard let store = try? SQLiteStore.open(model: model, location: .memory(name: nil)) else { return nil }
            defer { store.close() }
            return try? store.explain(plan, counting: counting)
        }
        self.init(model: model, plan: plan, counting: counting, engine: engine)
    }
}
