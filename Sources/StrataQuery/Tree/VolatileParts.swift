extension FetchPlan {
    /// Whether the result may change although no object does: the condition or the order uses the time or a random
    /// number.
    package var isVolatile: Bool {
        predicate?.isVolatile == true || sorts.contains { $0.expression.isVolatile }
    }
}

extension FetchPredicate {
    /// Whether the answer for an object may change though the object does not.
    package var isVolatile: Bool {
        var found = false
        forEachPart { found = found || $0.isVolatile }
        return found
    }
}

extension FetchExpression {
    /// Whether the value for an object may change though the object does not.
    package var isVolatile: Bool {
        if case .function(let function, _) = node, function == .now || function == .random { return true }
        var found = false
        forEachPart { found = found || $0.isVolatile }
        return found
    }
}

extension PredicateNode {
    fileprivate var isVolatile: Bool {
        switch self {
        case .condition(let part): part.isVolatile
        case .expression(let part): part.isVolatile
        }
    }
}
