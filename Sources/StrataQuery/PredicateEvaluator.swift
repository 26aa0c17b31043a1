import Foundation

/// Something that predicates can be evaluated on.
public protocol PropertySource {
    /// The value at the end of a path through to-one relationships and composites; null where anything on the way is
    /// nil.
    func value(at path: [String]) -> Value
    /// The object itself, as ``Value/object(_:)``.
    var evaluatedObject: Value { get }
}

extension FetchExpression {
    /// The value of the expression for an object.
    public func evaluate(on source: some PropertySource) throws(PredicateEvaluationError) -> Value {
        switch self {
        case .constant(let value): return value
        case .keyPath(let path): return source.value(at: path)
        case .evaluatedObject: return source.evaluatedObject
        default: throw .wrongOperand(found: "\(self)", context: "evaluation in memory")
        }
    }
}

extension FetchPredicate {
    /// Whether the condition holds for an object. Never undecided: a comparison with nil is true or false.
    public func evaluate(on source: some PropertySource) throws(PredicateEvaluationError) -> Bool {
        switch self {
        case .constant(let flag): return flag
        case .and(let parts):
            for part in parts where try !part.evaluate(on: source) { return false }
            return true
        case .or(let parts):
            for part in parts where try part.evaluate(on: source) { return true }
            return false
        case .not(let part): return try !part.evaluate(on: source)
        case .comparison(let left, let op, let right, let options):
            return op.evaluate(try left.evaluate(on: source), try right.evaluate(on: source), options)
        case .quantified, .geo:
            throw .wrongOperand(found: "\(self)", context: "evaluation in memory")
        }
    }
}

extension ComparisonOperator {
    /// Whether the comparison holds for two values.
    public func evaluate(_ left: Value, _ right: Value, _ options: ComparisonOptions = []) -> Bool {
        switch self {
        case .equal: return ValueComparison.areEqual(left, right, options)
        case .notEqual: return !ValueComparison.areEqual(left, right, options)
        case .less: return ValueComparison.order(left, right, options) == .orderedAscending
        case .greater: return ValueComparison.order(left, right, options) == .orderedDescending
        case .lessOrEqual:
            let order = ValueComparison.order(left, right, options)
            return order == .orderedAscending || order == .orderedSame
        case .greaterOrEqual:
            let order = ValueComparison.order(left, right, options)
            return order == .orderedDescending || order == .orderedSame
        case .isIn:
            guard case .list(let elements) = right else { return false }
            return elements.contains { ValueComparison.areEqual(left, $0, options) }
        case .between:
            guard case .list(let bounds) = right, bounds.count == 2 else { return false }
            return Self.greaterOrEqual.evaluate(left, bounds[0], options)
                && Self.lessOrEqual.evaluate(left, bounds[1], options)
        case .beginsWith, .endsWith, .contains:
            guard case .string(let text) = left, case .string(let part) = right else { return false }
            let a = TextComparison.fold(text, options)
            let b = TextComparison.fold(part, options)
            return switch self {
            case .beginsWith: TextComparison.begins(a, with: b)
            case .endsWith: TextComparison.ends(a, with: b)
            default: TextComparison.contains(a, b)
            }
        case .like, .matches, .matchesText: return false
        }
    }
}
