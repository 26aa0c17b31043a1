extension FetchPredicate {
    /// The names of the `$variables` that must be given before the condition has an answer; those that a `SUBQUERY` binds
    /// are not among them.
    public var freeVariables: Set<String> {
        switch self {
        case .constant: []
        case .and(let parts), .or(let parts): parts.reduce(into: []) { $0.formUnion($1.freeVariables) }
        case .not(let part): part.freeVariables
        case .comparison(let left, _, let right, _), .quantified(_, let left, _, let right, _):
            left.freeVariables.union(right.freeVariables)
        case .geo(.near(let place, let point, _)): place.freeVariables.union(point.freeVariables)
        case .geo(.within(let place, let point, let distance, _, _)):
            place.freeVariables.union(point.freeVariables).union(distance.freeVariables)
        case .geo(.box(let place, let southWest, let northEast)):
            place.freeVariables.union(southWest.freeVariables).union(northEast.freeVariables)
        }
    }
}

extension FetchExpression {
    /// The names of the `$variables` of the expression; see ``FetchPredicate/freeVariables``.
    public var freeVariables: Set<String> {
        switch self {
        case .constant, .keyPath, .evaluatedObject: []
        case .variable(let name): [name]
        case .path(let base, _), .cast(let base, _): base.freeVariables
        case .aggregate(let parts), .function(_, let parts): parts.reduce(into: []) { $0.formUnion($1.freeVariables) }
        case .index(let base, .at(let position)): base.freeVariables.union(position.freeVariables)
        case .index(let base, _): base.freeVariables
        case .subquery(let collection, let name, let condition):
            collection.freeVariables.union(condition.freeVariables.subtracting([name]))
        case .ternary(let condition, let first, let second):
            condition.freeVariables.union(first.freeVariables).union(second.freeVariables)
        case .method(let receiver, _, let arguments):
            arguments.reduce(into: receiver.freeVariables) { $0.formUnion($1.freeVariables) }
        case .distance(let a, let b, _): a.freeVariables.union(b.freeVariables)
        }
    }
}
