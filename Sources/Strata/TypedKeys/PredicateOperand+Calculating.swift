extension PredicateOperand {
    func calculated<Result>(_ function: FetchFunction, _ others: FetchExpression...) -> ValueExpression<Result> {
        ValueExpression(.function(function, [expression] + others))
    }
}

/// Arithmetic between numbers of one type. An undefined result, such as a division by zero or a sum that does not fit
/// 64 bits, is nil.
extension PredicateOperand where Operand: ComparableAttribute, Operand.Kind == NumberKind {
    /// The sum.
    public static func + (a: Self, b: Operand.Wrapped) -> ValueExpression<Operand> {
        a.calculated(.add, .constant(b.attributeValue))
    }
    /// The sum.
    public static func + <B: PredicateOperand>(a: Self, b: B) -> ValueExpression<Operand>
    where B.Operand: ComparableAttribute, B.Operand.Wrapped == Operand.Wrapped { a.calculated(.add, b.expression) }
    /// The difference.
    public static func - (a: Self, b: Operand.Wrapped) -> ValueExpression<Operand> {
        a.calculated(.subtract, .constant(b.attributeValue))
    }
    /// The difference.
    public static func - <B: PredicateOperand>(a: Self, b: B) -> ValueExpression<Operand>
    where B.Operand: ComparableAttribute, B.Operand.Wrapped == Operand.Wrapped {
        a.calculated(.subtract, b.expression)
    }
    /// The product.
    public static func * (a: Self, b: Operand.Wrapped) -> ValueExpression<Operand> {
        a.calculated(.multiply, .constant(b.attributeValue))
    }
    /// The product.
    public static func * <B: PredicateOperand>(a: Self, b: B) -> ValueExpression<Operand>
    where B.Operand: ComparableAttribute, B.Operand.Wrapped == Operand.Wrapped {
        a.calculated(.multiply, b.expression)
    }
    /// The quotient; for whole numbers, rounded towards zero.
    public static func / (a: Self, b: Operand.Wrapped) -> ValueExpression<Operand> {
        a.calculated(.divide, .constant(b.attributeValue))
    }
    /// The quotient; for whole numbers, rounded towards zero.
    public static func / <B: PredicateOperand>(a: Self, b: B) -> ValueExpression<Operand>
    where B.Operand: ComparableAttribute, B.Operand.Wrapped == Operand.Wrapped { a.calculated(.divide, b.expression) }

    /// The number without its sign.
    public var absolute: ValueExpression<Operand> { calculated(.absolute) }
    /// The number as a double, for arithmetic with fractions: `$0.population.asDouble / 3`.
    public var asDouble: ValueExpression<Double?> { calculated(.multiply, .constant(.double(1))) }
}

extension PredicateOperand where Operand: ComparableAttribute, Operand.Wrapped: BinaryInteger {
    /// What is left of a division, with the sign of the dividend.
    public static func % (a: Self, b: Operand.Wrapped) -> ValueExpression<Operand> {
        a.calculated(.modulus, .constant(b.attributeValue))
    }
}

extension PredicateOperand where Operand: ComparableAttribute, Operand.Wrapped: FloatingPoint {
    /// The square root; nil of a negative number.
    public var squareRoot: ValueExpression<Operand> { calculated(.squareRoot) }
    /// The largest whole number that is not greater.
    public var floor: ValueExpression<Operand> { calculated(.floor) }
    /// The smallest whole number that is not less.
    public var ceiling: ValueExpression<Operand> { calculated(.ceiling) }
    /// The number without what is after the point.
    public var truncated: ValueExpression<Operand> { calculated(.truncate) }
}
