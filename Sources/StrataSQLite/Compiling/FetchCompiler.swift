import StrataStore

/// A fetch as SQL, and where the values come from that are bound to it. Limit and offset are bound after them, where
/// there are any.
struct CompiledFetch {
    let sql: String
    let parameters: [FetchParameter]
    /// Whether the SQL is the same for all fetches of this shape.
    let isReusable: Bool
    /// The entities whose tables are read, by the name that the table has in the SQL.
    let entities: [String: String]
}

/// Translates plans to SQL.
struct FetchCompiler {
    /// What a fetch answers with.
    enum Answer: Int {
        /// Rows; only the headers of those that the reader knows.
        case unknownRows
        case rows, identities, count
        /// Keys without their entities: how rows are found, for explanations.
        case keys
    }

    let schema: Schema
    let rowPlans: [RowPlan]

    func compile(_ shape: FetchShape) throws(StoreError) -> CompiledFetch {
        let plan = shape.plan
        let compiler = PredicateCompiler(
            schema: schema, entity: schema.layout.model.entities[plan.entityIndex], constants: shape.constants)
        compiler.ways.scansLists = shape.key.scansLists
        try compiler.addConditions(of: plan)
        if shape.key.hasAngle { try compiler.addNearestSearch(of: plan) }
        let behind = plan.predicate.map { PredicateCompiler.count($0) } ?? 0
        let order = shape.key.answer == .count ? "" : try compiler.order(of: plan, at: behind)
        let from = compiler.root.scope.body + order + compiler.limit(of: plan)
        let isLimited = plan.limit != nil || plan.offset > 0
        let sql =
            switch shape.key.answer {
            case .rows, .unknownRows:
                shape.key.scansLists
                    ? rowPlans[plan.entityIndex].selectAll(
                        compiler.root.scope.conditions.joined(separator: " AND "),
                        skippingKnown: shape.key.answer == .unknownRows)
                    : rows(plan, from, isLimited: isLimited, shape.key.answer)
            case .keys: "SELECT t0._id FROM \(from)"
            case .identities:
                rowPlans[plan.entityIndex].hasEntityColumn
                    ? "SELECT t0._id, t0._entity FROM \(from)" : "SELECT t0._id FROM \(from)"
            case .count: isLimited ? "SELECT count(*) FROM (SELECT 1 FROM \(from))" : "SELECT count(*) FROM \(from)"
            }
        return CompiledFetch(
            sql: sql, parameters: compiler.parameters.all, isReusable: compiler.isReusable,
            entities: compiler.entities)
    }

    private func rows(_ plan: FetchPlan, _ from: String, isLimited: Bool, _ answer: Answer) -> String {
        let rowPlan = rowPlans[plan.entityIndex]
        if plan.predicate == nil, plan.sorts.isEmpty, !isLimited {
            let conditions = PredicateCompiler.rowConditions(of: plan, schema)
            let condition = conditions.isEmpty ? nil : conditions.joined(separator: " AND ")
            return rowPlan.selectAll(condition, skippingKnown: answer == .unknownRows)
        }
        // A subquery with a limit keeps its order, and no condition is moved into it.
        let limited = isLimited ? from : from + " LIMIT -1"
        // A whole result that must be sorted goes through the sorter as it is: to look up each row afterwards would
        // read the table at random places.
        if !plan.sorts.isEmpty, !isLimited {
            return rowPlan.select(inOrderOf: limited, skippingKnown: answer == .unknownRows)
        }
        return rowPlan.select(keysFrom: limited, alias: "t0", skippingKnown: answer == .unknownRows)
    }
}

extension PredicateCompiler {
    /// Adds what a plan says about its rows.
    func addConditions(of plan: FetchPlan) throws(StoreError) {
        root.scope.conditions += Self.rowConditions(of: plan, schema)
        if let predicate = plan.predicate { root.scope.conditions.append(try condition(predicate, at: 0)) }
    }

    /// Which rows of a table count for a plan at all.
    static func rowConditions(of plan: FetchPlan, _ schema: Schema) -> [String] {
        let condition = schema.layout.entityCondition(
            plan.entityIndex, subentities: plan.includesSubentities, alias: "t0")
        return [condition, schema.isMirror ? "t0._version > 0" : nil].compactMap(\.self)
    }

    /// `ORDER BY` of a plan. SQLite puts NULL before all values, as ``ValueComparison/sortOrder(_:_:_:)`` does.
    /// - Parameter position: The position of the first constant of the sorts.
    func order(of plan: FetchPlan, at position: Int) throws(StoreError) -> String {
        var terms: [String] = []
        var place = position
        for sort in plan.sorts {
            terms.append(try order(by: sort, at: place))
            place += Self.count(sort.expression)
        }
        if plan.sorts.isEmpty, let predicate = plan.predicate, let nearest = try nearest(predicate, at: 0) {
            terms.append(nearest)
        }
        terms.append("t0._id")
        return " ORDER BY " + terms.joined(separator: ", ")
    }

    func order(by sort: FetchSort, at position: Int) throws(StoreError) -> String {
        let operand = try operand(sort.expression, at: position)
        if case .collection = operand { throw unsupported("ordering by \(sort.expression), which leads to many") }
        return try order(by: try term(operand), sort)
    }

    func order(by term: SQLTerm, _ sort: FetchSort) throws(StoreError) -> String {
        let direction = sort.ascending ? "" : " DESC"
        switch term.kind {
        case .text: return term.folded(sort.options) + direction
        // Points have no order among each other.
        case .point: return "\(term.sql) IS NOT NULL\(direction)"
        case .external:
            throw unsupported("ordering by \(sort.expression), whose values may be in external files")
        case .json: return (term.member?.orderedSQL(sort.options) ?? term.sql) + direction
        default: return term.comparedSQL + direction
        }
    }

    /// The distance by which objects are ordered if a fetch has no order of its own; see
    /// ``FetchPredicate/nearestFirst``.
    private func nearest(_ predicate: FetchPredicate, at position: Int) throws(StoreError) -> String? {
        switch predicate.node {
        case .geo(.near):
            guard let distance = predicate.nearestFirst else { return nil }
            return try term(operand(distance, at: position)).sql
        case .and(let parts):
            var place = position
            for part in parts {
                if let found = try nearest(part, at: place) { return found }
                place += Self.count(part)
            }
            return nil
        default: return nil
        }
    }

    /// `LIMIT` and `OFFSET` of a plan, bound after all other parameters.
    func limit(of plan: FetchPlan) -> String {
        guard plan.limit != nil || plan.offset > 0 else { return "" }
        let next = parameters.all.count + 1
        let limit = plan.limit == nil ? " LIMIT -1" : " LIMIT ?\(next)"
        return plan.offset > 0 ? "\(limit) OFFSET ?\(plan.limit == nil ? next : next + 1)" : limit
    }
}
