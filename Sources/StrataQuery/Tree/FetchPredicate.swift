/// A condition on objects: the one tree that is evaluated in memory and translated by stores.
///
///     let large = try FetchPredicate(format: "population > %d", 100_000)
///     let inPeru = City.keys.country.name == "Peru"
///     let request = FetchRequest<City>(where: large && inPeru)
///
/// Build it with typed keys, from a format string, or from the functions here, which are named like the cases of
/// ``Node``. Read it by switching over ``node``. It is a value that you can keep, compare, print as a format, and send
/// to other threads. It knows no model: the fetch checks that properties exist.
///
/// A tree is never higher than ``PredicateLimits/height``: a condition that would be higher becomes ``Node/tooDeep``,
/// which every evaluation and every fetch refuses with ``PredicateEvaluationError/nestedTooDeeply``. Conjunctions and
/// disjunctions are flat lists of any length and count as one level.
public struct FetchPredicate: Sendable, Hashable {
    /// What is at the top of a condition.
    public indirect enum Node: Sendable, Hashable {
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
        /// A condition that was nested more deeply than ``PredicateLimits/height``. It has no answer.
        case tooDeep
    }

    /// What is at the top.
    public let node: Node
    /// How many levels the tree has; 1 for a leaf.
    let height: UInt8

    private init(_ node: Node, over height: UInt8) {
        let isTooDeep = height >= PredicateLimits.height
        self.node = isTooDeep ? .tooDeep : node
        self.height = isTooDeep ? height : height + 1
    }

    /// Always the same answer.
    public static func constant(_ answer: Bool) -> FetchPredicate { FetchPredicate(.constant(answer), over: 0) }

    /// Two expressions compared.
    public static func comparison(
        _ left: FetchExpression, _ op: ComparisonOperator, _ right: FetchExpression, _ options: ComparisonOptions
    ) -> FetchPredicate {
        FetchPredicate(.comparison(left, op, right, options), over: max(left.height, right.height))
    }

    /// The elements of a collection on the left, each compared with the expression on the right.
    public static func quantified(
        _ quantifier: ComparisonQuantifier, _ left: FetchExpression, _ op: ComparisonOperator,
        _ right: FetchExpression, _ options: ComparisonOptions
    ) -> FetchPredicate {
        FetchPredicate(.quantified(quantifier, left, op, right, options), over: max(left.height, right.height))
    }

    /// Where on the earth a point lies.
    public static func geo(_ condition: GeoCondition) -> FetchPredicate {
        FetchPredicate(.geo(condition), over: condition.height)
    }

    /// All hold; true if there are none. Use it to combine conditions that you collect in a loop: a list of any length
    /// is one level of the tree.
    public static func and(_ parts: [FetchPredicate]) -> FetchPredicate {
        FetchPredicate(.and(parts), over: parts.height)
    }

    /// At least one holds; false if there are none. Use it to combine conditions that you collect in a loop: a list of
    /// any length is one level of the tree.
    public static func or(_ parts: [FetchPredicate]) -> FetchPredicate {
        FetchPredicate(.or(parts), over: parts.height)
    }

    /// Does not hold.
    public static func not(_ part: FetchPredicate) -> FetchPredicate {
        FetchPredicate(.not(part), over: part.height)
    }
}

extension FetchPredicate {
    // Both operators take their operands over, so that the list of a conjunction grows in place where the caller needs
    // the old one no longer, as in `all = all && next`.

    /// Both conditions. Conjunctions on either side are joined to one list.
    public static func && (a: consuming FetchPredicate, b: consuming FetchPredicate) -> FetchPredicate {
        var height = a.partHeight(isAnd: true)
        var parts: [FetchPredicate]
        if case .and(let list) = a.node { parts = list } else { parts = [a] }
        a = .constant(true)
        height = max(height, b.partHeight(isAnd: true))
        if case .and(let list) = b.node { parts += list } else { parts.append(b) }
        return FetchPredicate(.and(parts), over: height)
    }

    /// Either condition. Disjunctions on either side are joined to one list.
    public static func || (a: consuming FetchPredicate, b: consuming FetchPredicate) -> FetchPredicate {
        var height = a.partHeight(isAnd: false)
        var parts: [FetchPredicate]
        if case .or(let list) = a.node { parts = list } else { parts = [a] }
        a = .constant(true)
        height = max(height, b.partHeight(isAnd: false))
        if case .or(let list) = b.node { parts += list } else { parts.append(b) }
        return FetchPredicate(.or(parts), over: height)
    }

    /// The opposite.
    public static prefix func ! (a: FetchPredicate) -> FetchPredicate { .not(a) }

    /// The height of what the condition adds to a list of conditions: its parts where it is such a list itself.
    private func partHeight(isAnd: Bool) -> UInt8 {
        switch node {
        case .and where isAnd: height - 1
        case .or where !isAnd: height - 1
        default: height
        }
    }
}

extension [FetchPredicate] {
    fileprivate var height: UInt8 { reduce(0) { Swift.max($0, $1.height) } }
}

/// Bounds of what a predicate may be, so that one from a user or a server cannot overflow the stack.
///
///     let names = ["Lima", "Cusco", "Ica"]
///     let condition = FetchPredicate.or(try names.map { try FetchPredicate(format: "name == %@", $0) })
///
/// You meet them only if you nest conditions in a loop. ``FetchPredicate/and(_:)`` and ``FetchPredicate/or(_:)`` take
/// any number of conditions and add one level, as in the example. A format that is nested too deeply throws a
/// ``PredicateParseError``. A tree that you build too high is refused by the fetch. The length of a format, of a list
/// or of a conjunction has no bound.
public enum PredicateLimits {
    /// How deeply parentheses, functions, subqueries, negations and chains of arithmetic may be nested in a format.
    ///
    /// A tree of this depth is parsed, printed, compared, evaluated and released within the 512 KB of stack that the
    /// smallest threads have: the deepest shape takes 450 KB in a debug build, most far less.
    public static let nesting = 80

    /// How many levels a tree built in code may have: a few more than ``nesting``, because contexts and stores put
    /// conditions of their own around that of a request.
    public static let height: UInt8 = 88
}
