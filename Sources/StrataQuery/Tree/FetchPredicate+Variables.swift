extension FetchPredicate {
    /// The condition with values in place of its variables. Variables without a value stay, and so do those that a
    /// `SUBQUERY` binds.
    ///
    ///     let larger = try FetchPredicate(format: "population > $limit")
    ///     let request = FetchRequest<City>(where: larger.withVariables(["limit": 100_000]))
    ///
    /// Parse a format once, and fill it in for each fetch. ``freeVariables`` are the names that still need a value.
    public func withVariables(_ values: [String: Value]) -> FetchPredicate {
        values.isEmpty ? self : VariableValues(values: values).rewrite(self)
    }
}

extension FetchExpression {
    /// The expression with values in place of its variables; see ``FetchPredicate/withVariables(_:)``.
    public func withVariables(_ values: [String: Value]) -> FetchExpression {
        values.isEmpty ? self : VariableValues(values: values).rewrite(self)
    }
}

extension FetchSort {
    /// The criterion with values in place of its variables; see ``FetchPredicate/withVariables(_:)``.
    public func withVariables(_ values: [String: Value]) -> FetchSort {
        FetchSort(expression.withVariables(values), ascending: ascending, options: options)
    }
}

/// Puts values in place of variables.
private struct VariableValues: PredicateRewriter {
    let values: [String: Value]

    func rewrite(_ expression: FetchExpression) -> FetchExpression {
        switch expression.node {
        case .variable(let name): return values[name].map(FetchExpression.constant) ?? expression
        case .subquery(let collection, let name, let condition) where values[name] != nil:
            return .subquery(rewrite(collection), name, condition.withVariables(values.filter { $0.key != name }))
        default: return rewriteParts(of: expression)
        }
    }
}
