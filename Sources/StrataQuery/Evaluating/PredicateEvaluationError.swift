// Indirect, so that it is one word: a typed `throws` returns it in a register, and each `try` is shorter.

/// Why a condition cannot be evaluated.
///
///     let condition = try FetchPredicate(format: "population > $limit")
///     do {
///         print(try condition.evaluate(on: Value.composite(["population": 5])))
///     } catch {
///         print(error)  // $limit has no value; give it one with withVariables
///     }
///
/// Evaluation in memory throws it; a fetch throws it inside of ``StoreError/invalidPredicate(_:)``. It points to a
/// mistake in the condition, or to arguments of the wrong type, and not to single objects: nil, and for equality a
/// value of another kind, are not errors. Members of JSON, whose kind nothing guarantees, are never the cause.
///
/// A part whose answer no longer matters is not evaluated in memory, so the same mistake may go unnoticed for some
/// objects.
public indirect enum PredicateEvaluationError: Error, Sendable, Hashable {
    /// A `$name` has no value.
    case unboundVariable(name: String)
    /// The pattern of `MATCHES` is not a regular expression; the position counts the Unicode scalars before the fault.
    case invalidPattern(pattern: String, position: Int, reason: String)
    /// The pattern of `MATCHES` takes too many steps on a text of this many Unicode scalars; see
    /// ``RegularExpressions``.
    case costlyPattern(pattern: String, length: Int)
    /// The right side of `BETWEEN` is not a list of two.
    case invalidBounds(found: String)
    /// `ANY`, `ALL`, `NONE`, `SUBQUERY`, an aggregate function or a collection operator met something that is not a
    /// collection.
    case noCollection(found: String, context: String)
    /// Values of different kinds have no order, and functions take values of their own kind.
    case incomparable(left: String, right: String, context: String)
    /// A function or an operator met a value of a kind that it does not take.
    case wrongOperand(found: String, context: String)
    /// A component of a key path that begins with `@` is not a collection operator.
    case unknownOperator(name: String)
    /// A function has more or fewer arguments than it takes.
    case wrongArgumentCount(function: String, count: Int)
    /// A condition or an expression that was built in code has more than ``PredicateLimits/height`` levels.
    case nestedTooDeeply
}

extension PredicateEvaluationError: CustomStringConvertible {
    /// What happened and what to do.
    public var description: String {
        switch self {
        case .unboundVariable(let name): "$\(name) has no value; give it one with withVariables"
        case .invalidPattern(let pattern, let position, let reason):
            "\"\(pattern)\" is not a regular expression: at position \(position) \(reason)"
        case .costlyPattern(let pattern, let length):
            "\"\(pattern)\" takes too many steps on a text of \(length) characters; "
                + "write it without back references and with less look-around"
        case .invalidBounds(let found): "BETWEEN takes a list of two values on the right, not \(found)"
        case .noCollection(let found, let context): "\(context) takes a collection, not \(found)"
        case .incomparable(let left, let right, let context): "\(left) and \(right) have no order, in \(context)"
        case .wrongOperand(let found, let context): "\(context) does not take \(found)"
        case .unknownOperator(let name):
            "\(name) is not a collection operator; there are "
                + CollectionOperator.allCases.map(\.rawValue).joined(separator: ", ")
        case .wrongArgumentCount(let function, let count): "\(function) does not take \(count) arguments"
        case .nestedTooDeeply:
            "the condition is nested more than \(PredicateLimits.height) levels deep, which is the limit; "
                + "collect the conditions of a loop in a list, and combine them by and(_:) or or(_:)"
        }
    }
}
