/// A condition on objects: the one tree that is evaluated in memory and translated by stores.
///
/// It is made of typed keys, of a format string, or by hand. Conjunctions and disjunctions are flat lists of any
/// length. Everything else that is nested within itself costs stack to print, compare, evaluate and release; the parser
/// stops at ``PredicateLimits/nesting``, and trees made by hand must not be nested deeper either.
public indirect enum FetchPredicate: Sendable, Hashable {
    /// Always the same answer.
    case constant(Bool)
    /// Two expressions compared.
    case comparison(FetchExpression, ComparisonOperator, FetchExpression, ComparisonOptions)
    /// The elements of a collection on the left, each compared with the expression on the right.
    case quantified(
        ComparisonQuantifier, FetchExpression, ComparisonOperator, FetchExpression, ComparisonOptions)
    /// Where on the earth a point lies.
    case geo(GeoCondition)
    /// All hold; true if there are none.
    case and([FetchPredicate])
    /// At least one holds; false if there are none.
    case or([FetchPredicate])
    /// Does not hold.
    case not(FetchPredicate)

    /// Both conditions.
    public static func && (a: FetchPredicate, b: FetchPredicate) -> FetchPredicate {
        switch (a, b) {
        case (.and(let left), .and(let right)): .and(left + right)
        case (.and(let left), _): .and(left + [b])
        default: .and([a, b])
        }
    }

    /// Either condition.
    public static func || (a: FetchPredicate, b: FetchPredicate) -> FetchPredicate {
        switch (a, b) {
        case (.or(let left), .or(let right)): .or(left + right)
        case (.or(let left), _): .or(left + [b])
        default: .or([a, b])
        }
    }

    /// The opposite.
    public static prefix func ! (a: FetchPredicate) -> FetchPredicate { .not(a) }
}

/// Bounds of what a predicate may be.
public enum PredicateLimits {
    /// How deeply parentheses, functions, subqueries, negations and chains of arithmetic may be nested in a format.
    ///
    /// A tree of this depth is parsed, printed, compared, evaluated and released within the 512 KB of stack that the
    /// smallest threads have: the deepest shape takes 450 KB in a debug build, most far less.
    public static let nesting = 80
}
