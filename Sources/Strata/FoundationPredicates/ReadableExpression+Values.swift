import Foundation

extension PredicateExpressions.Variable: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        guard let part = reader.variables[key] else {
            throw UnreadablePredicateError(part: "Variable", reason: "it belongs to no closure of the predicate")
        }
        return part
    }
}

extension PredicateExpressions.Value: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        if let range = value as? any RangeValue, let bounds = range.bounds {
            return .range(.constant(bounds.lower), .constant(bounds.upper), isClosed: bounds.isClosed)
        }
        if let argument = value as? any PredicateArgument { return .value(.constant(argument.predicateArgument)) }
        // An optional that is nil is cast to nothing.
        if let optional = value as? any OptionalValue, optional.isNil { return .value(.constant(.null)) }
        throw UnreadablePredicateError(
            part: "Value(\(Output.self))", reason: "no attribute has this type; capture a value of an attribute's type")
    }
}

extension PredicateExpressions.NilLiteral: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart { .value(.constant(.null)) }
}

private protocol OptionalValue { var isNil: Bool { get } }

extension Optional: OptionalValue { fileprivate var isNil: Bool { self == nil } }

/// Ranges of values.
private protocol RangeValue { var bounds: (lower: Value, upper: Value, isClosed: Bool)? { get } }

extension ClosedRange: RangeValue {
    fileprivate var bounds: (lower: Value, upper: Value, isClosed: Bool)? {
        guard let lower = lowerBound as? any PredicateArgument, let upper = upperBound as? any PredicateArgument else {
            return nil
        }
        return (lower.predicateArgument, upper.predicateArgument, true)
    }
}

extension Range: RangeValue {
    fileprivate var bounds: (lower: Value, upper: Value, isClosed: Bool)? {
        guard let lower = lowerBound as? any PredicateArgument, let upper = upperBound as? any PredicateArgument else {
            return nil
        }
        return (lower.predicateArgument, upper.predicateArgument, false)
    }
}

// MARK: Arithmetic

extension PredicateReader {
    func calculated(
        _ function: FetchFunction, _ operands: any PredicateExpression...
    ) throws(UnreadablePredicateError) -> PredicatePart {
        var values: [FetchExpression] = []
        for operand in operands { values.append(try value(operand)) }
        return .value(.function(function, values))
    }
}

extension PredicateExpressions.Arithmetic: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        switch op {
        case .add: try reader.calculated(.add, lhs, rhs)
        case .subtract: try reader.calculated(.subtract, lhs, rhs)
        case .multiply: try reader.calculated(.multiply, lhs, rhs)
        @unknown default: throw reader.unreadable(self, "the operator \(op) is not known")
        }
    }
}

extension PredicateExpressions.IntDivision: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        try reader.calculated(.divide, lhs, rhs)
    }
}

extension PredicateExpressions.FloatDivision: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        try reader.calculated(.divide, lhs, rhs)
    }
}

extension PredicateExpressions.IntRemainder: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        try reader.calculated(.modulus, lhs, rhs)
    }
}

extension PredicateExpressions.UnaryMinus: ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart {
        let value = try reader.value(wrapped)
        return switch value.node {
        case .constant(.integer(let number)) where number != .min: .value(.constant(.integer(-number)))
        case .constant(.double(let number)): .value(.constant(.double(-number)))
        default: .value(.function(.subtract, [.constant(.integer(0)), value]))
        }
    }
}
