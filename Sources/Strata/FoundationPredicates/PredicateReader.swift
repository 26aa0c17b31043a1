import Foundation

/// What a part of a Foundation predicate amounts to.
enum PredicatePart {
    /// A value. For a composite, the class whose attribute it is.
    case value(FetchExpression, owner: ManagedObject.Type? = nil)
    /// A truth value.
    case condition(FetchPredicate)
    /// A truth value that is nil where the first condition does not hold.
    case optionalCondition(exists: FetchPredicate, FetchPredicate)
    /// The ID of an object, or its URI.
    case identity(FetchExpression)
    /// A range.
    case range(FetchExpression, FetchExpression, isClosed: Bool)
}

/// A kind of expression that can be read. Foundation's expressions are generic structs; each conforms in its own few
/// lines, so that what is not there cannot be read.
protocol ReadableExpression {
    func part(_ reader: PredicateReader) throws(UnreadablePredicateError) -> PredicatePart
}

/// Walks a Foundation predicate.
struct PredicateReader {
    /// What the variables of the closures stand for.
    var variables: [PredicateExpressions.VariableID: PredicatePart]
    /// How many closures over members stand around this part.
    var depth = 0

    func part(_ expression: some PredicateExpression) throws(UnreadablePredicateError) -> PredicatePart {
        guard let readable = expression as? any ReadableExpression else {
            throw UnreadablePredicateError(
                part: Self.name(type(of: expression)), reason: "stores have nothing like it; test it in memory")
        }
        return try readable.part(self)
    }

    func value(_ expression: some PredicateExpression) throws(UnreadablePredicateError) -> FetchExpression {
        switch try part(expression) {
        case .value(let value, _): return value
        case .condition(let condition): return Self.value(of: condition)
        case .optionalCondition(let exists, let condition):
            return .ternary(exists, Self.value(of: condition), .constant(.null))
        case .identity:
            throw UnreadablePredicateError(
                part: "objectID", reason: "compare its uri with a URL only by == or !=")
        case .range: throw unreadable(expression, "a range can only be used with .contains")
        }
    }

    func condition(_ expression: some PredicateExpression) throws(UnreadablePredicateError) -> FetchPredicate {
        switch try part(expression) {
        case .condition(let condition): return condition
        case .optionalCondition(let exists, let condition): return exists && condition
        case .value(let value, _):
            if case .constant(.boolean(let flag)) = value.node { return .constant(flag) }
            return .comparison(value, .equal, .constant(.boolean(true)), [])
        case .identity, .range: throw unreadable(expression, "it is not a condition")
        }
    }

    /// The elements of a collection for which a condition holds.
    func subquery<Element>(
        _ collection: some PredicateExpression, _ variable: PredicateExpressions.Variable<Element>,
        _ test: some PredicateExpression, isNegated: Bool = false
    ) throws(UnreadablePredicateError) -> FetchExpression {
        var inner = self
        inner.depth += 1
        let name = TypedPath.memberName(level: inner.depth)
        inner.variables[variable.key] = .value(.variable(name))
        let condition = try inner.condition(test)
        return .subquery(try value(collection), name, isNegated ? .not(condition) : condition)
    }

    func unreadable(_ expression: some PredicateExpression, _ reason: String) -> UnreadablePredicateError {
        UnreadablePredicateError(part: Self.name(type(of: expression)), reason: reason)
    }

    /// The kind of an expression without its parts: `SequenceMaximum`.
    static func name(_ type: Any.Type) -> String {
        String(String(describing: type).prefix { $0 != "<" })
    }

    static func value(of condition: FetchPredicate) -> FetchExpression {
        .ternary(condition, .constant(.boolean(true)), .constant(.boolean(false)))
    }
}
