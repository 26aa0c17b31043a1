// Comparisons are members of one protocol, with one generic form for keys and one for values: the fewer operators there
// are, the faster the compiler finds the right one in a long condition. Those with values are inlinable, so that a lookup by
// key, which programs do most, is compiled for the type of the key.

extension PredicateOperand where Operand: ComparableAttribute {
    @inlinable
    static func compare(_ a: Self, _ op: ComparisonOperator, _ b: Operand.Wrapped?) -> FetchPredicate {
        .comparison(a.expression, op, .constant(b?.attributeValue ?? .null), [])
    }

    fileprivate static func compare(_ a: Self, _ op: ComparisonOperator, _ b: some PredicateOperand) -> FetchPredicate {
        .comparison(a.expression, op, b.expression, [])
    }

    // MARK: With values

    /// Equal; with nil, that there is no value.
    @inlinable
    public static func == (a: Self, b: Operand.Wrapped?) -> FetchPredicate { compare(a, .equal, b) }
    /// Unequal; nil is unequal to every value.
    @inlinable
    public static func != (a: Self, b: Operand.Wrapped?) -> FetchPredicate { compare(a, .notEqual, b) }
    // MARK: With each other

    /// Equal, or both nil.
    public static func == <B: PredicateOperand>(a: Self, b: B) -> FetchPredicate
    where B.Operand: ComparableAttribute, B.Operand.Kind == Operand.Kind { compare(a, .equal, b) }
    /// Unequal; nil is unequal to every value.
    public static func != <B: PredicateOperand>(a: Self, b: B) -> FetchPredicate
    where B.Operand: ComparableAttribute, B.Operand.Kind == Operand.Kind { compare(a, .notEqual, b) }
    // MARK: With several values

    /// The value is one of the given ones.
    ///
    ///     let request = Country.where { $0.countryId.isIn(["PE", "CL", "BO"]) }
    ///
    /// Nil is not in any list. An empty list finds nothing.
    public func isIn(_ values: some Sequence<Operand.Wrapped>) -> FetchPredicate {
        .comparison(expression, .isIn, .constant(.list(values.map(\.attributeValue))), [])
    }
}

/// Order, for types that Swift orders, too.
extension PredicateOperand where Operand: ComparableAttribute, Operand.Wrapped: Comparable {
    /// Less; nil is not.
    public static func < (a: Self, b: Operand.Wrapped) -> FetchPredicate { compare(a, .less, b) }
    /// Less or equal; nil is not.
    public static func <= (a: Self, b: Operand.Wrapped) -> FetchPredicate { compare(a, .lessOrEqual, b) }
    /// Greater; nil is not.
    public static func > (a: Self, b: Operand.Wrapped) -> FetchPredicate { compare(a, .greater, b) }
    /// Greater or equal; nil is not.
    public static func >= (a: Self, b: Operand.Wrapped) -> FetchPredicate { compare(a, .greaterOrEqual, b) }

    /// Less; false if either is nil.
    public static func < <B: PredicateOperand>(a: Self, b: B) -> FetchPredicate
    where B.Operand: ComparableAttribute, B.Operand.Kind == Operand.Kind { compare(a, .less, b) }
    /// Less or equal; false if either is nil.
    public static func <= <B: PredicateOperand>(a: Self, b: B) -> FetchPredicate
    where B.Operand: ComparableAttribute, B.Operand.Kind == Operand.Kind { compare(a, .lessOrEqual, b) }
    /// Greater; false if either is nil.
    public static func > <B: PredicateOperand>(a: Self, b: B) -> FetchPredicate
    where B.Operand: ComparableAttribute, B.Operand.Kind == Operand.Kind { compare(a, .greater, b) }
    /// Greater or equal; false if either is nil.
    public static func >= <B: PredicateOperand>(a: Self, b: B) -> FetchPredicate
    where B.Operand: ComparableAttribute, B.Operand.Kind == Operand.Kind { compare(a, .greaterOrEqual, b) }

    /// Within a closed range, both ends included: `$0.population.isBetween(1_000...2_000)`.
    public func isBetween(_ range: ClosedRange<Operand.Wrapped>) -> FetchPredicate {
        .comparison(
            expression, .between,
            .constant(.list([range.lowerBound.attributeValue, range.upperBound.attributeValue])), [])
    }

    /// Within a range whose upper end does not belong to it: `$0.opened.isBetween(monday..<tuesday)`.
    public func isBetween(_ range: Range<Operand.Wrapped>) -> FetchPredicate {
        .and([
            .comparison(expression, .greaterOrEqual, .constant(range.lowerBound.attributeValue), []),
            .comparison(expression, .less, .constant(range.upperBound.attributeValue), []),
        ])
    }

    /// Within a closed range: `1_000...2_000 ~= $0.population`.
    public static func ~= (range: ClosedRange<Operand.Wrapped>, a: Self) -> FetchPredicate { a.isBetween(range) }
}

extension PredicateOperand {
    /// There is no value. For types that do not compare otherwise, such as transformables.
    @_disfavoredOverload
    public static func == (a: Self, b: _OptionalNilComparisonType) -> FetchPredicate {
        .comparison(a.expression, .equal, .constant(.null), [])
    }
    /// There is a value. For types that do not compare otherwise, such as transformables.
    @_disfavoredOverload
    public static func != (a: Self, b: _OptionalNilComparisonType) -> FetchPredicate {
        .comparison(a.expression, .notEqual, .constant(.null), [])
    }
}
