import StrataStore

/// A fetch as SQL, and where the values come from that are bound to it. Limit and offset are bound behind them, where
/// there are any.
struct CompiledFetch {
    let sql: String
    let parameters: [FetchParameter]
}

/// Translates plans to SQL.
struct FetchCompiler {
    /// What a fetch answers with.
    enum Answer: Int {
        /// Rows; only the headers of those that the reader knows.
        case unknownRows
        case rows, identities, count
    }

    let layout: StoreLayout
    let rowPlans: [RowPlan]

    func compile(_ plan: FetchPlan, _ answer: Answer) throws(StoreError) -> CompiledFetch {
        let entity = layout.model.entities[plan.entityIndex]
        var compiler = PredicateCompiler(paths: PathResolver(layout: layout, entity: entity))
        var conditions: [String] = []
        if let condition = layout.entityCondition(plan.entityIndex, subentities: plan.includesSubentities, alias: "t0")
        {
            conditions.append(condition)
        }
        if let predicate = plan.predicate { conditions.append(try compiler.condition(predicate)) }
        var order = ""
        if answer != .count {
            var terms: [String] = []
            for sort in plan.sorts { terms.append(try term(of: sort, &compiler.paths)) }
            terms.append("t0._id")
            order = " ORDER BY " + terms.joined(separator: ", ")
        }
        var tail = compiler.paths.joins
        if !conditions.isEmpty { tail += " WHERE " + conditions.joined(separator: " AND ") }
        tail += order
        let isLimited = plan.limit != nil || plan.offset > 0
        if isLimited {
            tail += " LIMIT " + (plan.limit == nil ? "-1" : "?")
            if plan.offset > 0 { tail += " OFFSET ?" }
        }
        let table = "\(layout.table(plan.entityIndex).quoted) AS t0"
        let from = table + tail
        let sql =
            switch answer {
            case .rows, .unknownRows: rows(plan, from, isLimited: isLimited, answer)
            case .identities:
                rowPlans[plan.entityIndex].hasEntityColumn
                    ? "SELECT t0._id, t0._entity FROM \(from)" : "SELECT t0._id FROM \(from)"
            case .count: isLimited ? "SELECT count(*) FROM (SELECT 1 FROM \(from))" : "SELECT count(*) FROM \(from)"
            }
        return CompiledFetch(sql: sql, parameters: compiler.parameters)
    }

    private func rows(_ plan: FetchPlan, _ from: String, isLimited: Bool, _ answer: Answer) -> String {
        let rowPlan = rowPlans[plan.entityIndex]
        if plan.predicate == nil, plan.sorts.isEmpty, !isLimited {
            let condition = layout.entityCondition(
                plan.entityIndex, subentities: plan.includesSubentities, alias: "t0")
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

    /// SQLite puts NULL before all values, as ``ValueComparison/sortOrder(_:_:_:)`` does.
    private func term(of sort: FetchSort, _ paths: inout PathResolver) throws(StoreError) -> String {
        let term = try paths.resolve(sort.keyPath, in: "the order by \(sort.keyPath.joined(separator: "."))")
        let direction = sort.ascending ? "" : " DESC"
        switch term.kind {
        case .text where !sort.options.isEmpty: return "strata_fold(\(term.sql), \(sort.options.rawValue))\(direction)"
        case .decimal: return "\(term.sql) COLLATE \(SQLFunctions.decimalCollation)\(direction)"
        // Points have no order among each other.
        case .point: return "\(term.sql) IS NOT NULL\(direction)"
        case .external:
            throw .unsupported(
                store: "SQLite",
                feature: "ordering by \(sort.keyPath.joined(separator: ".")), whose values may stand in files")
        default: return term.sql + direction
        }
    }
}
