import Foundation

/// Conditions on array attributes. StackMob compares an array by its elements: equal is an array that has such an element,
/// unequal one that has none, and an object without an array. Only what means the same in a store is expressed so.
extension StackMobPredicate {
    /// A condition on an array attribute, or its opposite; nil for conditions on anything else.
    /// - Throws: ``RemoteError`` that names the part which StackMob has no words for.
    func array(
        _ predicate: FetchPredicate, isNegated: Bool, in whole: FetchPredicate
    ) throws(RemoteError) -> StackMobCondition? {
        switch predicate.node {
        case .quantified(let quantifier, let left, let comparison, let right, let options):
            guard let element = element(of: left) else {
                throw unsupported(whole, "ANY, ALL and NONE of anything but an array attribute")
            }
            guard options.isEmpty else { throw unsupported(whole, "comparisons with options such as [cd]") }
            let field = try field(left, in: whole)
            switch (quantifier, comparison) {
            case (.any, .equal): return try holds(field, element, right, isNegated, whole)
            case (.none, .equal), (.all, .notEqual): return try holds(field, element, right, !isNegated, whole)
            case (.any, .isIn): return try holdsOne(field, element, right, isNegated, whole)
            case (.none, .isIn): return try holdsOne(field, element, right, !isNegated, whole)
            default: throw unsupported(whole, "\(quantifier.rawValue) with \(comparison.rawValue)")
            }
        case .comparison(let left, .isIn, let right, let options) where element(of: right) != nil:
            return try comparison(right, .contains, left, options, isNegated, whole)
        case .comparison(let left, let operation, let right, let options) where element(of: left) != nil:
            return try comparison(left, operation, right, options, isNegated, whole)
        default: return nil
        }
    }

    private func comparison(
        _ left: FetchExpression, _ operation: ComparisonOperator, _ right: FetchExpression,
        _ options: ComparisonOptions, _ isNegated: Bool, _ whole: FetchPredicate
    ) throws(RemoteError) -> StackMobCondition? {
        guard let element = element(of: left) else { return nil }
        let field = try field(left, in: whole)
        switch operation {
        case .equal where options.isEmpty && right == .constant(.null):
            return .compare(field, isNegated ? .notEqual : .equal, .null)
        case .notEqual where options.isEmpty && right == .constant(.null):
            return .compare(field, isNegated ? .equal : .notEqual, .null)
        case .contains where options.isEmpty: return try holds(field, element, right, isNegated, whole)
        default:
            throw unsupported(
                whole,
                "\(operation.rawValue)\(options.suffix) of an array; CONTAINS asks for an element, as do ANY with == or IN"
            )
        }
    }

    /// The type of the elements, if an expression is an array attribute.
    private func element(of expression: FetchExpression) -> AttributeType? {
        guard case .keyPath(let path) = expression.node, path.count == 1,
            case .attribute(let type)? = schema.properties[path[0]]
        else { return nil }
        return type.element
    }

    /// That an array has an element.
    private func holds(
        _ field: String, _ element: AttributeType, _ right: FetchExpression, _ isNegated: Bool, _ whole: FetchPredicate
    ) throws(RemoteError) -> StackMobCondition {
        let value = try value(try constant(right, in: whole), element, whole)
        guard value != .string("") else { throw unsupported(whole, "an empty text as an element of an array") }
        return .compare(field, isNegated ? .notEqual : .equal, value)
    }

    /// That an array has one of several elements.
    private func holdsOne(
        _ field: String, _ element: AttributeType, _ right: FetchExpression, _ isNegated: Bool, _ whole: FetchPredicate
    ) throws(RemoteError) -> StackMobCondition {
        let elements: [Value]
        switch try constant(right, in: whole) {
        case .list(let list): elements = list
        case .set(let set): elements = set.members
        default: throw unsupported(whole, "a right side that is not a list")
        }
        var values: [Value] = []
        for item in elements where !item.isNull { values.append(try value(item, element, whole)) }
        return isNegated ? .isNotIn(field, values) : .isIn(field, values)
    }

    /// A value that elements of a type may be equal to. Parameters have no types, so that another kind of value would find
    /// elements that only look the same.
    private func value(
        _ value: Value, _ element: AttributeType, _ whole: FetchPredicate
    ) throws(RemoteError) -> Value {
        switch (element, value) {
        case (.string, .string), (.boolean, .boolean): return value
        case (.boolean, .integer(let number)) where number == 0 || number == 1: return .boolean(number == 1)
        case (_, .boolean(let flag)) where element.isNumeric: return .integer(flag ? 1 : 0)
        case (_, .integer) where element.isNumeric: return value
        case (_, .double) where element.isNumeric: return value
        case (_, .decimal) where element.isNumeric: return value
        case (_, .null): throw unsupported(whole, "nil as an element of an array")
        default: throw unsupported(whole, "an element of type \(element.name) compared with another kind of value")
        }
    }
}
