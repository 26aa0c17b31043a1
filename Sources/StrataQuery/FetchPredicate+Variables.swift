extension FetchPredicate {
    /// The condition with values in place of its variables. Variables without a value stay, and so do those that a
    /// `SUBQUERY` binds.
    public func withVariables(_ values: [String: Value]) -> FetchPredicate {
        values.isEmpty ? self : substituting(values)
    }

    fileprivate func substituting(_ values: [String: Value]) -> FetchPredicate {
        switch self {
        case .constant: self
        case .comparison(let left, let op, let right, let options):
            .comparison(left.substituting(values), op, right.substituting(values), options)
        case .quantified(let quantifier, let left, let op, let right, let options):
            .quantified(quantifier, left.substituting(values), op, right.substituting(values), options)
        case .geo(.near(let place, let point, let radius)):
            .geo(.near(place.substituting(values), point.substituting(values), earthRadius: radius))
        case .geo(.within(let place, let point, let distance, let unit, let radius)):
            .geo(
                .within(
                    place.substituting(values), point.substituting(values), distance: distance.substituting(values),
                    unit, earthRadius: radius))
        case .geo(.box(let place, let southWest, let northEast)):
            .geo(
                .box(
                    place.substituting(values), southWest: southWest.substituting(values),
                    northEast: northEast.substituting(values)))
        case .and(let parts): .and(parts.map { $0.substituting(values) })
        case .or(let parts): .or(parts.map { $0.substituting(values) })
        case .not(let part): .not(part.substituting(values))
        }
    }
}

extension FetchExpression {
    /// The expression with values in place of its variables; see ``FetchPredicate/withVariables(_:)``.
    public func withVariables(_ values: [String: Value]) -> FetchExpression {
        values.isEmpty ? self : substituting(values)
    }

    fileprivate func substituting(_ values: [String: Value]) -> FetchExpression {
        switch self {
        case .constant, .keyPath, .evaluatedObject: self
        case .variable(let name): values[name].map(FetchExpression.constant) ?? self
        case .path(let base, let names): .path(base.substituting(values), names)
        case .aggregate(let parts): Self.aggregate(substituted: parts.map { $0.substituting(values) })
        case .function(let function, let arguments): .function(function, arguments.map { $0.substituting(values) })
        case .index(let base, .at(let position)):
            .index(base.substituting(values), .at(position.substituting(values)))
        case .index(let base, let index): .index(base.substituting(values), index)
        case .subquery(let collection, let name, let condition):
            .subquery(
                collection.substituting(values), name,
                condition.withVariables(values.filter { $0.key != name }))
        case .ternary(let condition, let first, let second):
            .ternary(condition.substituting(values), first.substituting(values), second.substituting(values))
        case .cast(let operand, let type): .cast(operand.substituting(values), type)
        case .method(let receiver, let method, let arguments):
            .method(receiver.substituting(values), method, arguments.map { $0.substituting(values) })
        case .distance(let a, let b, let radius):
            .distance(a.substituting(values), b.substituting(values), earthRadius: radius)
        }
    }

    /// A list that has become fixed is a constant, as it is when it is parsed.
    private static func aggregate(substituted parts: [FetchExpression]) -> FetchExpression {
        var constants: [Value] = []
        for part in parts {
            guard case .constant(let value) = part else { return .aggregate(parts) }
            constants.append(value)
        }
        return .constant(.list(constants))
    }
}
