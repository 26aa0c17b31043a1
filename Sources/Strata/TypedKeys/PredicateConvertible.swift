/// An operand that is a condition by itself: a predicate, or the key of a truth value.
///
///     let closed = Airport.where { !$0.isOpen }
///     let some = Airport.where { !$0.isOpen && $0.name.hasPrefix("A") }
///     let request = FetchRequest<Airport>(where: Airport.keys.isOpen.predicate)
///
/// Conditions combine with `&&`, `||` and `!`. A truth value that is nil counts as false: `$0.isOpen` does not find it, and
/// `!$0.isOpen` does.
///
/// Methods such as ``FetchRequest/where(_:)`` and ``ToManyOperand/any(_:)`` take any such operand. Where a ``FetchPredicate`` is
/// required, as in the initializer of ``FetchRequest``, write ``predicate``.
public protocol PredicateConvertible {
    /// The condition as a predicate.
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
    /// Both conditions hold.
    public static func && <B: PredicateConvertible>(a: Self, b: B) -> FetchPredicate { a.predicate && b.predicate }
    /// At least one of the conditions holds.
    public static func || <B: PredicateConvertible>(a: Self, b: B) -> FetchPredicate { a.predicate || b.predicate }
    /// The condition does not hold. There is no third truth value: what `a` does not find, `!a` finds.
    public static prefix func ! (a: Self) -> FetchPredicate { .not(a.predicate) }
}
