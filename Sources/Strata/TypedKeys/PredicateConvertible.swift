/// What is a condition by itself: a predicate, or a truth value such as `$0.isCapital`.
public protocol PredicateConvertible {
    /// The condition.
    var predicate: FetchPredicate { get }
}

extension FetchPredicate: PredicateConvertible {
    /// The condition itself.
    public var predicate: FetchPredicate { self }
}

extension AttributeKey: PredicateConvertible where Value: ComparableAttribute, Value.Wrapped == Bool {
    /// The attribute is true.
    public var predicate: FetchPredicate { .comparison(expression, .equal, .constant(.boolean(true)), []) }
}

extension PredicateConvertible {
    /// Both conditions.
    public static func && <B: PredicateConvertible>(a: Self, b: B) -> FetchPredicate { a.predicate && b.predicate }
    /// Either condition.
    public static func || <B: PredicateConvertible>(a: Self, b: B) -> FetchPredicate { a.predicate || b.predicate }
    /// The opposite.
    public static prefix func ! (a: Self) -> FetchPredicate { .not(a.predicate) }
}
