extension FetchPredicate {
    /// The condition with objects in place of variables: what depends only on them, `$name.key.path` for instance, is
    /// replaced by its value.
    /// - Parameters:
    ///   - objects: The objects by the names of the variables.
    ///   - environment: What `now()` means.
    /// - Throws: A ``PredicateEvaluationError`` for a part that has no meaning.
    public func binding(
        _ objects: [String: any PropertySource], environment: EvaluationEnvironment = EvaluationEnvironment()
    ) throws(PredicateEvaluationError) -> FetchPredicate {
        try BoundObjects(objects, environment).rewrite(self)
    }
}

extension FetchSort {
    /// The criterion with objects in place of variables; see ``FetchPredicate/binding(_:environment:)``.
    /// - Throws: As ``FetchPredicate/binding(_:environment:)``.
    public func binding(
        _ objects: [String: any PropertySource], environment: EvaluationEnvironment = EvaluationEnvironment()
    ) throws(PredicateEvaluationError) -> FetchSort {
        FetchSort(try BoundObjects(objects, environment).rewrite(expression), ascending: ascending, options: options)
    }
}

/// Puts values in place of what depends only on given objects.
private struct BoundObjects: PredicateRewriter {
    private let names: Set<String>
    private let evaluator: PredicateEvaluator

    init(_ objects: [String: any PropertySource], _ environment: EvaluationEnvironment) {
        names = Set(objects.keys)
        evaluator = PredicateEvaluator(objects: objects, environment)
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
    /// Whether the object that the condition is about is in the expression.
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
