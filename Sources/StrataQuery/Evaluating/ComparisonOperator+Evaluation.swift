import Foundation

extension ComparisonOperator {
    /// Whether the comparison holds for two values.
    /// - Throws: ``PredicateEvaluationError`` for an order of different kinds, invalid bounds, and an invalid pattern.
    public func evaluate(
        _ left: Value, _ right: Value, _ options: ComparisonOptions = []
    ) throws(PredicateEvaluationError) -> Bool {
        try evaluate(.plain(left), .plain(right), options)
    }

    func evaluate(
        _ left: Evaluated, _ right: Evaluated, _ options: ComparisonOptions
    ) throws(PredicateEvaluationError) -> Bool {
        switch self {
        case .equal: return ValueComparison.areEqual(left.value, right.value, options)
        case .notEqual: return !ValueComparison.areEqual(left.value, right.value, options)
        case .less, .lessOrEqual, .greater, .greaterOrEqual: return try isOrdered(left, right, options)
        case .isIn:
            if right.elements == nil { return text(right, contains: left, options) }
            return !left.isNull && Self.isMember(left, of: right, options)
        case .contains:
            if left.elements == nil { return text(left, contains: right, options) }
            return !right.isNull && Self.isMember(right, of: left, options)
        case .between:
            guard !right.isSet, let bounds = right.elements, bounds.count == 2 else {
                if right.isJSON { return false }
                throw .invalidBounds(found: "\(right.value)")
            }
            let isAbove = try Self.greaterOrEqual.isOrdered(left, bounds[0], options)
            let isBelow = try Self.lessOrEqual.isOrdered(left, bounds[1], options)
            return isAbove && isBelow
        case .beginsWith, .endsWith:
            guard case .string(let text) = left.value, case .string(let part) = right.value else { return false }
            let a = TextComparison.fold(text, options)
            let b = TextComparison.fold(part, options)
            return self == .beginsWith ? TextComparison.begins(a, with: b) : TextComparison.ends(a, with: b)
        case .like:
            guard case .string(let text) = left.value, case .string(let pattern) = right.value else { return false }
            return TextComparison.isLike(TextComparison.fold(text, options), TextComparison.fold(pattern, options))
        case .matches:
            guard case .string(let pattern) = right.value else { return false }
            guard case .string(let text) = left.value else {
                // A faulty pattern is an error, whatever it meets.
                try RegularExpressions.shared.check(pattern, options)
                return false
            }
            return try RegularExpressions.shared.matches(text, pattern, options)
        case .matchesText:
            if case .object(let source) = left, case .string(let query) = right.value {
                return TextQuery(query).matches(source.indexedTexts)
            }
            guard case .string(let text) = left.value, case .string(let query) = right.value else { return false }
            return TextQuery(query).matches(text)
        }
    }

    private func text(_ whole: Evaluated, contains part: Evaluated, _ options: ComparisonOptions) -> Bool {
        guard case .string(let text) = whole.value, case .string(let part) = part.value else { return false }
        return TextComparison.contains(TextComparison.fold(text, options), TextComparison.fold(part, options))
    }

    private static func isMember(_ value: Evaluated, of collection: Evaluated, _ options: ComparisonOptions) -> Bool {
        let value = value.value
        return collection.elements?.contains { ValueComparison.areEqual($0.value, value, options) } ?? false
    }

    /// Whether two values are in the order that the operator asks for. Nil is in none.
    private func isOrdered(
        _ a: Evaluated, _ b: Evaluated, _ options: ComparisonOptions
    ) throws(PredicateEvaluationError) -> Bool {
        let left = a.value
        let right = b.value
        if left.isNull || right.isNull { return false }
        guard let order = ValueComparison.order(left, right, options) else {
            if a.isJSON || b.isJSON { return false }
            // NaN has a type but no ordering.
            if NumberOperation(left) != nil, NumberOperation(right) != nil { return false }
            if case (.date, .date) = (left, right) { return false }
            throw .incomparable(left: left.kind, right: right.kind, context: rawValue)
        }
        return switch self {
        case .less: order == .orderedAscending
        case .greater: order == .orderedDescending
        case .lessOrEqual: order != .orderedDescending
        default: order != .orderedAscending
        }
    }
}
