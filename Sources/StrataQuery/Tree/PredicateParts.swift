/// A node of a condition's tree.
enum PredicateNode {
    case condition(FetchPredicate)
    case expression(FetchExpression)
}

extension FetchPredicate {
    /// Shows the conditions and expressions that the condition is made of. No list is made of them, since every fetch
    /// looks at its condition.
    func forEachPart(_ body: (PredicateNode) -> Void) {
        switch node {
        case .constant, .tooDeep: break
        case .and(let parts), .or(let parts): for part in parts { body(.condition(part)) }
        case .not(let part): body(.condition(part))
        case .comparison(let left, _, let right, _), .quantified(_, let left, _, let right, _):
            body(.expression(left))
            body(.expression(right))
        case .geo(.near(let place, let point, _)):
            body(.expression(place))
            body(.expression(point))
        case .geo(.within(let first, let second, let third, _, _)), .geo(.box(let first, let second, let third)):
            body(.expression(first))
            body(.expression(second))
            body(.expression(third))
        }
    }
}

extension FetchExpression {
    /// Shows the conditions and expressions that the expression is made of.
    func forEachPart(_ body: (PredicateNode) -> Void) {
        switch node {
        case .constant, .keyPath, .evaluatedObject, .variable, .tooDeep: break
        case .path(let base, _), .cast(let base, _): body(.expression(base))
        case .aggregate(let parts), .function(_, let parts): for part in parts { body(.expression(part)) }
        case .index(let base, let index):
            body(.expression(base))
            if case .at(let position) = index { body(.expression(position)) }
        case .subquery(let collection, _, let condition):
            body(.expression(collection))
            body(.condition(condition))
        case .ternary(let condition, let first, let second):
            body(.condition(condition))
            body(.expression(first))
            body(.expression(second))
        case .method(let receiver, _, let arguments):
            body(.expression(receiver))
            for part in arguments { body(.expression(part)) }
        case .distance(let a, let b, _):
            body(.expression(a))
            body(.expression(b))
        }
    }
}

/// Makes another tree of a tree, from the top: what it leaves alone it puts together again from its rewritten parts.
protocol PredicateRewriter {
    /// What may go wrong.
    associatedtype Failure: Error
    /// What is in place of a condition.
    func rewrite(_ predicate: FetchPredicate) throws(Failure) -> FetchPredicate
    /// What is in place of an expression.
    func rewrite(_ expression: FetchExpression) throws(Failure) -> FetchExpression
}

extension PredicateRewriter {
    func rewrite(_ predicate: FetchPredicate) throws(Failure) -> FetchPredicate { try rewriteParts(of: predicate) }

    /// The condition with other parts.
    func rewriteParts(of predicate: FetchPredicate) throws(Failure) -> FetchPredicate {
        switch predicate.node {
        case .constant, .tooDeep: return predicate
        case .and(let parts): return .and(try rewrite(parts))
        case .or(let parts): return .or(try rewrite(parts))
        case .not(let part): return .not(try rewrite(part))
        case .comparison(let left, let op, let right, let options):
            return .comparison(try rewrite(left), op, try rewrite(right), options)
        case .quantified(let quantifier, let left, let op, let right, let options):
            return .quantified(quantifier, try rewrite(left), op, try rewrite(right), options)
        case .geo(.near(let place, let point, let radius)):
            return .geo(.near(try rewrite(place), try rewrite(point), earthRadius: radius))
        case .geo(.within(let place, let point, let distance, let unit, let radius)):
            return .geo(
                .within(
                    try rewrite(place), try rewrite(point), distance: try rewrite(distance), unit, earthRadius: radius))
        case .geo(.box(let place, let southWest, let northEast)):
            return .geo(
                .box(try rewrite(place), southWest: try rewrite(southWest), northEast: try rewrite(northEast)))
        }
    }

    /// The expression with other parts. A list that has become fixed is a constant, as it is when it is parsed.
    func rewriteParts(of expression: FetchExpression) throws(Failure) -> FetchExpression {
        switch expression.node {
        case .constant, .keyPath, .evaluatedObject, .variable, .tooDeep: return expression
        case .path(let base, let names): return .path(try rewrite(base), names)
        case .aggregate(let parts): return Self.list(try rewrite(parts))
        case .function(let function, let arguments): return .function(function, try rewrite(arguments))
        case .index(let base, .at(let position)): return .index(try rewrite(base), .at(try rewrite(position)))
        case .index(let base, let index): return .index(try rewrite(base), index)
        case .subquery(let collection, let name, let condition):
            return .subquery(try rewrite(collection), name, try rewrite(condition))
        case .ternary(let condition, let first, let second):
            return .ternary(try rewrite(condition), try rewrite(first), try rewrite(second))
        case .cast(let operand, let type): return .cast(try rewrite(operand), type)
        case .method(let receiver, let method, let arguments):
            return .method(try rewrite(receiver), method, try rewrite(arguments))
        case .distance(let a, let b, let radius):
            return .distance(try rewrite(a), try rewrite(b), earthRadius: radius)
        }
    }

    private func rewrite(_ parts: [FetchPredicate]) throws(Failure) -> [FetchPredicate] {
        var result: [FetchPredicate] = []
        result.reserveCapacity(parts.count)
        for part in parts { result.append(try rewrite(part)) }
        return result
    }

    private func rewrite(_ parts: [FetchExpression]) throws(Failure) -> [FetchExpression] {
        var result: [FetchExpression] = []
        result.reserveCapacity(parts.count)
        for part in parts { result.append(try rewrite(part)) }
        return result
    }

    private static func list(_ parts: [FetchExpression]) -> FetchExpression {
        var constants: [Value] = []
        for part in parts {
            guard case .constant(let value) = part.node else { return .aggregate(parts) }
            constants.append(value)
        }
        return .constant(.list(constants))
    }
}
