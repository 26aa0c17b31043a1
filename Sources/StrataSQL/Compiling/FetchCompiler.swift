import StrataStore

/// A fetch as SQL, and where the values come from that are bound to it. Limit and offset are bound after them, where
/// there are any.
package struct CompiledFetch: Sendable {
    package let sql: String
    package let parameters: [FetchParameter]
    /// Whether the SQL is the same for all fetches of this shape.
    package let isReusable: Bool
    /// The entities whose tables are read, by the name that the table has in the SQL.
    package let entities: [String: String]
}

/// Translates plans to SQL.
package struct FetchCompiler {
    /// What a fetch answers with.
    package enum Answer: Int {
        /// Rows; only the headers of those that the reader knows.
        case unknownRows
        case rows, identities, count
        /// Keys without their entities: how rows are found, for explanations.
        case keys
    }

    package let schema: Schema
    package let rowPlans: [RowPlan]

    package init(schema: Schema, rowPlans: [RowPlan]) {
        self.schema = schema
        self.rowPlans = rowPlans
    }

    /// Translates a plan of a shape.
    package func compile(_ shape: FetchShape, of plan: FetchPlan) throws(StoreError) -> CompiledFetch {
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
                schema.layout.dialect.select(
                    rowPlans[plan.entityIndex],
                    shape.key.scansLists
                        ? .table(condition: compiler.root.scope.conditions.joined(separator: " AND "))
                        : source(plan, from, isLimited: isLimited), skippingKnown: shape.key.answer == .unknownRows)
            case .keys: "SELECT t0._id FROM \(from)"
            case .identities:
                rowPlans[plan.entityIndex].hasEntityColumn
                    ? "SELECT t0._id, t0._entity FROM \(from)" : "SELECT t0._id FROM \(from)"
            case .count:
                isLimited ? "SELECT count(*) FROM (SELECT 1 FROM \(from)) AS c" : "SELECT count(*) FROM \(from)"
            }
        return CompiledFetch(
            sql: sql, parameters: compiler.parameters.all, isReusable: compiler.isReusable,
            entities: compiler.entities)
    }

    private func source(_ plan: FetchPlan, _ from: String, isLimited: Bool) -> RowSelection {
        if plan.predicate == nil, plan.sorts.isEmpty, !isLimited {
            let conditions = PredicateCompiler.rowConditions(of: plan, schema)
            let condition = conditions.isEmpty ? nil : conditions.joined(separator: " AND ")
            return .table(condition: condition)
        }
        // A whole result that must be sorted goes through the sorter as it is: to look up each row afterwards would
        // read the table at random places.
        return !plan.sorts.isEmpty && !isLimited ? .sorted(from) : .keys(from, isLimited: isLimited)
    }
}

extension PredicateCompiler {
    /// Adds what a plan says about its rows.
    package func addConditions(of plan: FetchPlan) throws(StoreError) {
        root.scope.conditions += Self.rowConditions(of: plan, schema)
        if let predicate = plan.predicate { root.scope.conditions.append(try condition(predicate, at: 0)) }
    }

    /// Which rows of a table count for a plan at all.
    package static func rowConditions(of plan: FetchPlan, _ schema: Schema) -> [String] {
        let condition = schema.layout.entityCondition(
            plan.entityIndex, subentities: plan.includesSubentities, alias: "t0")
        return [condition, schema.isMirror && plan.toldSlots == nil ? "t0._version > 0" : nil].compactMap(\.self)
    }

    /// `ORDER BY` of a plan, with NULL before all values, as ``ValueComparison/sortOrder(_:_:_:)`` does.
    /// - Parameter position: The position of the first constant of the sorts.
    package func order(of plan: FetchPlan, at position: Int) throws(StoreError) -> String {
        var terms: [String] = []
        var place = position
        for sort in plan.sorts {
            terms.append(try order(by: sort, at: place))
            place += Self.count(sort.expression)
        }
        if plan.sorts.isEmpty, let predicate = plan.predicate, let nearest = try nearest(predicate, at: 0) {
            terms.append(dialect.ordered(nearest, ascending: true))
        }
        terms.append("t0._id")
        return " ORDER BY " + terms.joined(separator: ", ")
    }

    package func order(by sort: FetchSort, at position: Int) throws(StoreError) -> String {
        let operand = try operand(sort.expression, at: position)
        if case .collection = operand { throw unsupported("ordering by \(sort.expression), which leads to many") }
        return try order(by: try term(operand), sort)
    }

    package func order(by term: SQLTerm, _ sort: FetchSort) throws(StoreError) -> String {
        let sql: String?
        switch term.kind {
        case .text: sql = try folded(term, sort.options)
        // Points have no order among each other.
        case .point: sql = "\(term.sql) IS NOT NULL"
        case .external:
            throw unsupported("ordering by \(sort.expression), whose values may be in external files")
        case .json: sql = term.member.map { dialect.ordered($0, sort.options) } ?? term.sql
        default: sql = dialect.canonical(term)
        }
        guard let sql else { throw unsupported("ordering by \(sort.expression)") }
        return dialect.ordered(sql, ascending: sort.ascending)
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
    package func limit(of plan: FetchPlan) -> String {
        guard plan.limit != nil || plan.offset > 0 else { return "" }
        var next = parameters.all.count
        func parameter() -> String {
            next += 1
            return dialect.parameter(next, .integer, isList: false)
        }
        let limit = plan.limit == nil ? nil : parameter()
        return dialect.limit(limit, offset: plan.offset > 0 ? parameter() : nil)
    }
}
