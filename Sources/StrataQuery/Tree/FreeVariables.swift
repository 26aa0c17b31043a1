extension FetchPredicate {
    /// The names of the `$variables` that must be given before the condition has an answer; those that a `SUBQUERY` binds
    /// are not among them.
    public var freeVariables: Set<String> {
        var names: Set<String> = []
        forEachPart { names.formUnion($0.freeVariables) }
        return names
    }
}

extension FetchExpression {
    /// The names of the `$variables` of the expression; see ``FetchPredicate/freeVariables``.
    public var freeVariables: Set<String> {
        switch node {
        case .variable(let name): return [name]
        case .subquery(let collection, let name, let condition):
            return collection.freeVariables.union(condition.freeVariables.subtracting([name]))
        default:
            var names: Set<String> = []
            forEachPart { names.formUnion($0.freeVariables) }
            return names
        }
    }
}

extension PredicateNode {
    fileprivate var freeVariables: Set<String> {
        switch self {
        case .condition(let part): part.freeVariables
        case .expression(let part): part.freeVariables
        }
    }
}
