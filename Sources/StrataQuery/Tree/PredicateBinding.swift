extension FetchPredicate {
    /// The condition with objects in place of variables: what depends on them alone, `$name.key.path` for instance, is
    /// replaced by its value.
    /// - Throws: A ``PredicateEvaluationError`` for a part that has no meaning.
    public func binding(_ objects: [String: any PropertySource]) throws(PredicateEvaluationError) -> FetchPredicate {
        try BoundObjects(objects).rewrite(self)
    }
}

extension FetchSort {
    /// The criterion with objects in place of variables; see ``FetchPredicate/binding(_:)``.
    /// - Throws: As ``FetchPredicate/binding(_:)``.
    public func binding(_ objects: [String: any PropertySource]) throws(PredicateEvaluationError) -> FetchSort {
        FetchSort(try BoundObjects(objects).rewrite(expression), ascending: ascending, options: options)
    }
}

/// Puts values in place of what depends on given objects alone.
private struct BoundObjects: PredicateRewriter {
    private let names: Set<String>
    private let evaluator: PredicateEvaluator

    init(_ objects: [String: any PropertySource]) {
        names = Set(objects.keys)
        evaluator = PredicateEvaluator(objects: objects)
    }

    func rewrite(_ expression: FetchExpression) throws(PredicateEvaluationError) -> FetchExpression {
        let variables = expression.freeVariables
        if variables.isDisjoint(with: names) { return expression }
        if variables.isSubset(of: names), !expression.isAboutObject {
            return .constant(try evaluator.value(of: expression).value)
        }
        if case .subquery(let collection, let name, let condition) = expression.node, names.contains(name) {
            // Its own variable hides the object.
            return .subquery(try rewrite(collection), name, condition)
        }
        return try rewriteParts(of: expression)
    }
}

extension FetchPredicate {
    fileprivate var isAboutObject: Bool {
        var isFound = false
        forEachPart { isFound = isFound || $0.isAboutObject }
        return isFound
    }
}

extension FetchExpression {
    /// Whether the object that the condition is about stands in the expression.
    fileprivate var isAboutObject: Bool {
        switch node {
        case .keyPath, .evaluatedObject: return true
        default:
            var isFound = false
            forEachPart { isFound = isFound || $0.isAboutObject }
            return isFound
        }
    }
}

extension PredicateNode {
    fileprivate var isAboutObject: Bool {
        switch self {
        case .condition(let part): part.isAboutObject
        case .expression(let part): part.isAboutObject
        }
    }
}
