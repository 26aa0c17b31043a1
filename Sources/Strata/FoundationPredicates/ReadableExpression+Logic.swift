import Foundation

extension PredicateExpressions.Conjunction: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        .condition(try reader.condition(lhs) && reader.condition(rhs))
    }
}

extension PredicateExpressions.Disjunction: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        .condition(try reader.condition(lhs) || reader.condition(rhs))
    }
}

extension PredicateExpressions.Negation: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        .condition(.not(try reader.condition(wrapped)))
    }
}

extension PredicateExpressions.Conditional: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        let test = try reader.condition(test)
        guard Output.self == Bool.self else {
            return .value(.ternary(test, try reader.value(trueBranch), try reader.value(falseBranch)))
        }
        return .condition(
            (test && (try reader.condition(trueBranch))) || (.not(test) && (try reader.condition(falseBranch))))
    }
}

// MARK: Comparisons

extension PredicateExpressions.Equal: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        .condition(try reader.equality(lhs, rhs))
    }
}

extension PredicateExpressions.NotEqual: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        let equality = try reader.equality(lhs, rhs)
        return if case .comparison(let a, .equal, let b, let options) = equality.node {
            .condition(.comparison(a, .notEqual, b, options))
        } else {
            .condition(.not(equality))
        }
    }
}

extension PredicateExpressions.Comparison: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        let op: ComparisonOperator
        switch self.op {
        case .lessThan: op = .less
        case .lessThanOrEqual: op = .lessOrEqual
        case .greaterThan: op = .greater
        case .greaterThanOrEqual: op = .greaterOrEqual
        @unknown default: throw reader.unreadable(self, "the operator \(self.op) is not known")
        }
        return .condition(PredicateReader.comparison(try reader.value(lhs), op, try reader.value(rhs)))
    }
}

extension PredicatePart {
    /// The fixed value that the part is; nil for everything else.
    fileprivate var constant: Value? {
        if case .value(let expression, _) = self, case .constant(let value) = expression.node { value } else { nil }
    }
}

extension PredicateReader {
    /// A comparison with a constant, if there is one, on the right: where stores look for what an index can find.
    static func comparison(
        _ left: FetchExpression, _ op: ComparisonOperator, _ right: FetchExpression
    ) -> FetchPredicate {
        switch (left.node, right.node) {
        case (.constant, .constant): .comparison(left, op, right, [])
        case (.constant, _): .comparison(right, op.mirrored, left, [])
        default: .comparison(left, op, right, [])
        }
    }

    func equality(
        _ lhs: some PredicateExpression, _ rhs: some PredicateExpression
    ) throws(UnreadablePredicateError) -> FetchPredicate {
        let left = try part(lhs)
        let right = try part(rhs)
        if case .identity(let a) = left, case .identity(let b) = right { return .comparison(a, .equal, b, []) }
        if let value = right.constant {
            if let result = try Self.equality(left, value) { return result }
        } else if let value = left.constant {
            if let result = try Self.equality(right, value) { return result }
        }
        return Self.comparison(try value(lhs), .equal, try value(rhs))
    }

    /// A truth value, or an ID, that must be a constant; nil if it is neither.
    private static func equality(_ part: PredicatePart, _ value: Value) throws(UnreadablePredicateError)
        -> FetchPredicate?
    {
        switch (part, value) {
        case (.condition(let condition), .boolean(let flag)): return flag ? condition : .not(condition)
        case (.optionalCondition(let exists, let condition), .boolean(let flag)):
            return exists && (flag ? condition : .not(condition))
        case (.optionalCondition(let exists, _), .null): return .not(exists)
        case (.identity(let object), .null): return .comparison(object, .equal, .constant(.null), [])
        case (.identity(let object), .uri(let uri)):
            guard uri.scheme == "strata", let key = Int64(uri.lastPathComponent) else {
                throw UnreadablePredicateError(
                    part: "objectID.uri", reason: "\(uri.absoluteString) is not the URI of an object")
            }
            return .comparison(object, .equal, .constant(.object(key)), [])
        default: return nil
        }
    }
}

// MARK: Optionals

extension PredicateExpressions.OptionalFlatMap: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        let base = try reader.part(wrapped)
        guard case .value(let value, _) = base else {
            throw reader.unreadable(self, "only values can be unwrapped here")
        }
        var inner = reader
        inner.variables[variable.key] = base
        let exists = FetchPredicate.comparison(value, .notEqual, .constant(.null), [])
        switch try inner.part(transform) {
        case .value(let result, let owner):
            return .value(
                result.isNil(with: value) ? result : .ternary(exists, result, .constant(.null)), owner: owner)
        case .condition(let condition): return .optionalCondition(exists: exists, condition)
        case .optionalCondition(let innerExists, let condition):
            return .optionalCondition(exists: exists && innerExists, condition)
        case .identity(let object): return .identity(object)
        case .range: throw reader.unreadable(self, "a range can only be used with .contains")
        }
    }
}

extension FetchExpression {
    /// Whether this is nil whenever another value is.
    fileprivate func isNil(with value: FetchExpression) -> Bool {
        // The object that is fetched is never nil.
        if self == value || value == .evaluatedObject { return true }
        switch (node, value.node) {
        case (.keyPath(let path), .keyPath(let start)):
            return path.starts(with: start) && !path.contains { $0.hasPrefix("@") }
        case (.path(let base, let path), .path(let otherBase, let start)):
            return base == otherBase && path.starts(with: start) && !path.contains { $0.hasPrefix("@") }
        case (.path(let base, let path), _):
            return base.isNil(with: value) && !path.contains { $0.hasPrefix("@") }
        case (.function(let function, let operands), _):
            return function.infix != nil && operands.contains { $0.isNil(with: value) }
        default: return false
        }
    }
}

extension PredicateExpressions.NilCoalesce: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        switch try reader.part(lhs) {
        case .optionalCondition(let exists, let condition):
            let other = try reader.condition(rhs)
            switch other.node {
            case .constant(false): return .condition(exists && condition)
            case .constant(true): return .condition(.not(exists) || condition)
            default: return .condition((exists && condition) || (.not(exists) && other))
            }
        default:
            let value = try reader.value(lhs)
            let exists = FetchPredicate.comparison(value, .notEqual, .constant(.null), [])
            return .value(.ternary(exists, value, try reader.value(rhs)))
        }
    }
}

extension PredicateExpressions.ForcedUnwrap: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        switch try reader.part(inner) {
        case .optionalCondition(let exists, let condition): .condition(exists && condition)
        case let part: part
        }
    }
}

// MARK: Casts

extension PredicateExpressions.ConditionalCast: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        try reader.cast(input, to: Desired.self, self)
    }
}

extension PredicateExpressions.ForceCast: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        try reader.cast(input, to: Desired.self, self)
    }
}

extension PredicateExpressions.TypeCheck: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        _ = try reader.cast(input, to: Desired.self, self)
        return .condition(.constant(true))
    }
}

extension PredicateReader {
    /// A cast that always succeeds: to the type itself, or to a class that it inherits from.
    fileprivate func cast<Input: PredicateExpression, Desired>(
        _ input: Input, to desired: Desired.Type, _ cast: some PredicateExpression
    ) throws(UnreadablePredicateError) -> PredicatePart {
        guard Input.Output.self is Desired.Type || Input.Output.self == Desired.self else {
            throw unreadable(
                cast, "\(Input.Output.self) may be no \(Desired.self); fetch objects of \(Desired.self) instead")
        }
        return try part(input)
    }
}
