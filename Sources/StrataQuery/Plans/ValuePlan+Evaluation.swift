extension ValuePlan {
    /// The answer computed in memory: the same that a store gives, over objects that meet the condition of the plan.
    /// - Parameter sources: The objects, in the order of their keys.
    /// - Throws: A ``PredicateEvaluationError`` for an expression that has no meaning, or an aggregate function of what
    ///   leads to many.
    public func evaluate(over sources: [any PropertySource]) throws(PredicateEvaluationError) -> [[Value]] {
        let environment = fetch.environment ?? EvaluationEnvironment()
        var rows = isGrouped ? try groupedRows(sources, environment) : try plainRows(sources, environment)
        if isDistinct {
            var seen: Set<[ComparedValue]> = []
            rows.removeAll { !seen.insert($0.values.map(ComparedValue.init)).inserted }
        }
        sort(&rows)
        let rest = rows.dropFirst(max(0, fetch.offset))
        return (fetch.limit.map { rest.prefix(max(0, $0)) } ?? rest).map(\.values)
    }

    /// A row while it is made: with what it is sorted by.
    private struct Row {
        var values: [Value]
        var sortValues: [Value]
        /// What comes first among rows that agree in all sorts: the values of the groups.
        var rest: [Value]
    }

    private func plainRows(
        _ sources: [any PropertySource], _ environment: EvaluationEnvironment
    ) throws(PredicateEvaluationError) -> [Row] {
        var rows: [Row] = []
        rows.reserveCapacity(sources.count)
        for source in sources {
            var values: [Value] = []
            for column in columns { values.append(try column.expression.evaluate(onAny: source, [:], environment)) }
            rows.append(Row(values: values, sortValues: try sortValues(values, source, environment), rest: []))
        }
        return rows
    }

    private func groupedRows(
        _ sources: [any PropertySource], _ environment: EvaluationEnvironment
    ) throws(PredicateEvaluationError) -> [Row] {
        var order: [[ComparedValue]] = []
        var groups: [[ComparedValue]: [any PropertySource]] = [:]
        for source in sources {
            var key: [ComparedValue] = []
            for expression in groupBy {
                key.append(ComparedValue(try expression.evaluate(onAny: source, [:], environment)))
            }
            if groups[key] == nil { order.append(key) }
            groups[key, default: []].append(source)
        }
        // All objects are one group, even if there are none.
        if groupBy.isEmpty, order.isEmpty { order.append([]) }
        var rows: [Row] = []
        for key in order {
            let members = groups[key] ?? []
            let first: any PropertySource = members.first ?? Value.null
            let group = GroupValues(members: members, environment: environment)
            var values: [Value] = []
            var variables: [String: Value] = [:]
            for column in columns {
                let value = try group.rewrite(column.expression).evaluate(onAny: first, [:], environment)
                values.append(value)
                variables[column.name] = value
            }
            if let having, try !group.rewrite(having).evaluate(onAny: first, variables, environment) { continue }
            rows.append(
                Row(values: values, sortValues: try sortValues(values, first, environment), rest: key.map(\.value)))
        }
        return rows
    }

    private func sortValues(
        _ values: [Value], _ source: any PropertySource, _ environment: EvaluationEnvironment
    ) throws(PredicateEvaluationError) -> [Value] {
        var result: [Value] = []
        for sort in fetch.sorts {
            if let column = column(of: sort) {
                result.append(values[column])
            } else {
                result.append(try sort.value(ofAny: source, environment))
            }
        }
        if fetch.sorts.isEmpty, !isGrouped, let distance = fetch.predicate?.nearestFirst {
            result.append(try distance.evaluate(onAny: source, [:], environment))
        }
        return result
    }

    /// The column that a sort is by: of its name, or of the same expression.
    public func column(of sort: FetchSort) -> Int? {
        columns.firstIndex { sort.expression == .keyPath([$0.name]) }
            ?? columns.firstIndex { $0.expression == sort.expression }
    }

    private func sort(_ rows: inout [Row]) {
        let indexed = rows.enumerated().sorted { a, b in
            for (index, pair) in zip(a.element.sortValues, b.element.sortValues).enumerated() {
                let sort = index < fetch.sorts.count ? fetch.sorts[index] : FetchSort(.evaluatedObject)
                switch ValueComparison.sortOrder(pair.0, pair.1, sort.options) {
                case .orderedSame: continue
                case .orderedAscending: return sort.ascending
                case .orderedDescending: return !sort.ascending
                }
            }
            let rests = isDistinct ? (a.element.values, b.element.values) : (a.element.rest, b.element.rest)
            for (left, right) in zip(rests.0, rests.1) {
                let order = ValueComparison.sortOrder(left, right, [])
                if order != .orderedSame { return order == .orderedAscending }
            }
            return a.offset < b.offset
        }
        rows = indexed.map(\.element)
    }
}

extension FetchSort {
    fileprivate func value(
        ofAny source: any PropertySource, _ environment: EvaluationEnvironment
    ) throws(PredicateEvaluationError) -> Value {
        try value(of: source, environment: environment)
    }
}

extension FetchExpression {
    fileprivate func evaluate(
        onAny source: any PropertySource, _ variables: [String: Value], _ environment: EvaluationEnvironment
    ) throws(PredicateEvaluationError) -> Value {
        try evaluate(on: source, variables: variables, environment: environment)
    }
}

extension FetchPredicate {
    fileprivate func evaluate(
        onAny source: any PropertySource, _ variables: [String: Value], _ environment: EvaluationEnvironment
    ) throws(PredicateEvaluationError) -> Bool {
        try evaluate(on: source, variables: variables, environment: environment)
    }
}

/// Puts the values of a group in place of what aggregate functions are taken over. Paths, elements, subqueries and
/// places are of single objects, and stay.
private struct GroupValues: PredicateRewriter {
    let members: [any PropertySource]
    let environment: EvaluationEnvironment

    func rewrite(_ predicate: FetchPredicate) throws(PredicateEvaluationError) -> FetchPredicate {
        if case .geo = predicate.node { return predicate }
        return try rewriteParts(of: predicate)
    }

    func rewrite(_ expression: FetchExpression) throws(PredicateEvaluationError) -> FetchExpression {
        switch expression.node {
        case .path, .index, .subquery: return expression
        case .function(let function, let arguments)
        where arguments.count == 1 && function.isAggregate && arguments[0].isSingle:
            return .function(function, [.constant(.list(try values(of: arguments[0], for: function)))])
        default: return try rewriteParts(of: expression)
        }
    }

    private func values(
        of expression: FetchExpression, for function: FetchFunction
    ) throws(PredicateEvaluationError) -> [Value] {
        var values: [Value] = []
        for member in members {
            let value = try expression.evaluate(onAny: member, [:], environment)
            switch value {
            case .list, .set: throw .wrongOperand(found: value.kind, context: "\(function.rawValue) of a group")
            case .null: continue
            default: values.append(value)
            }
        }
        return values
    }
}
