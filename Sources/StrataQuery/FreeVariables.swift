extension FetchPredicate {
    /// The names of the `$variables` that must be given before the condition has an answer; those that a `SUBQUERY` binds
    /// are not among them.
    public var freeVariables: Set<String> { FetchExpression.freeVariables(of: parts) }
}

extension FetchExpression {
    /// The names of the `$variables` of the expression; see ``FetchPredicate/freeVariables``.
    public var freeVariables: Set<String> {
        switch self {
        case .variable(let name): [name]
        case .subquery(let collection, let name, let condition):
            collection.freeVariables.union(condition.freeVariables.subtracting([name]))
        default: Self.freeVariables(of: parts)
        }
    }

    fileprivate static func freeVariables(
        of parts: (conditions: [FetchPredicate], expressions: [FetchExpression])
    ) -> Set<String> {
        var names: Set<String> = []
        for part in parts.conditions { names.formUnion(part.freeVariables) }
        for part in parts.expressions { names.formUnion(part.freeVariables) }
        return names
    }
}
