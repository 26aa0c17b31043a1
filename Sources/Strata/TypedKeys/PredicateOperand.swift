/// An operand that gives a value in a typed condition: the key of an attribute, or a value calculated from keys.
///
///     let dense = Country.where { $0.population / 1_000 > $0.areaSquareKilometres }
///     let named = City.where { $0.name.lowercased().hasPrefix("san ") }
///     let sorts = [City.keys.population.descending, City.keys.name.ascending]
///
/// Comparisons, arithmetic, text and geographic functions, orders and aggregates are extensions of this protocol. Which of them
/// you can use depends on ``Operand``: text has `hasPrefix`, numbers have `+` and `sum`, and so on. All of them build a
/// ``FetchExpression`` or a ``FetchPredicate``, and nothing is read until you fetch.
///
/// ``AttributeKey``, ``ValueExpression``, ``JSONKeys`` and ``BulkValue`` conform. Write `some PredicateOperand` in a function of
/// yours that takes any of them.
public protocol PredicateOperand {
    /// The Swift type of the value.
    associatedtype Operand
    /// The value as an expression, which is the form that all predicates share.
    var expression: FetchExpression { get }
}

/// A value that is calculated from typed keys, with the Swift type of its result.
///
///     let request = City.where { $0.population * 2 > $0.country.population }
///     let bySize = FetchRequest<Country>(sortedBy: [Country.keys.cities.count.descending])
///     let total = City.keys.population.sum  // ValueExpression<Int64>, for `select`
///
/// Arithmetic, functions and aggregates of keys return it, and you use the result like a key: compare it, calculate with it,
/// sort by it, or select it as a column. A calculation without a result, such as a division by zero or a sum that does not
/// fit 64 bits, is nil and does not throw.
///
/// The store computes the value, so nothing is loaded. To look up objects by such a value often, keep it in a derived
/// attribute with an index.
public struct ValueExpression<Operand>: PredicateOperand, Sendable {
    /// The value as an expression, which is the form that all predicates share.
    public let expression: FetchExpression

    /// Gives a type to an expression, for instance to one that you parsed.
    ///
    ///     let half = ValueExpression<Int64>(try FetchExpression(format: "population / 2"))
    ///     let request = FetchRequest<City>(where: half > 500_000)
    ///
    /// Nothing checks that the expression has values of this type. A value of another type makes the fetch throw, or compares as
    /// values of different types do.
    /// - Parameter expression: An expression whose values are of type `Operand`.
    public init(_ expression: FetchExpression) { self.expression = expression }
}

/// A type of attribute that typed keys can compare: text, numbers, truth values, dates, identifiers and places, optional or not.
///
///     let request = City.where { $0.note != nil && $0.population >= 1_000_000 }
///
/// The scalar types of attributes conform, and so do enumerations (``EnumValue``) and ``ObjectReference``. Transformables,
/// composites, arrays and JSON compare only with nil, or by their elements. You do not conform types yourself.
///
/// A key of an optional attribute compares with values of the type that it wraps, and with nil. Nil is unequal to every value,
/// and `<` and the other orders are false for nil. Two keys compare if their ``Kind`` is the same type.
public protocol ComparableAttribute: FetchableValue {
    /// The type without its optionality.
    associatedtype Wrapped: AttributeValue
    /// Two keys compare if their kinds are one type: numbers of all types do, other types with themselves.
    associatedtype Kind = Wrapped
}

/// The ``ComparableAttribute/Kind`` of all numbers, so that numbers of different types compare with each other.
///
///     // An `Int` with an `Int64`, and a `Double` with an `Int64`:
///     let manyCities = Country.where { $0.cities.count > $0.areaSquareKilometres }
///     let dense = Country.where { $0.population.asDouble / 2.5 > $0.areaSquareKilometres }
///
/// Numbers compare by value, whatever their type. This applies to two keys. A literal or a variable that you compare a key with
/// has the type of the key, and both sides of `+` and the other arithmetic operators have the same type; use
/// ``PredicateOperand/asDouble`` to convert. The enumeration has no cases and no values.
public enum NumberKind {}

extension Int: ComparableAttribute {
    public typealias Wrapped = Int
    public typealias Kind = NumberKind
}
extension Int16: ComparableAttribute {
    public typealias Wrapped = Int16
    public typealias Kind = NumberKind
}
extension Int32: ComparableAttribute {
    public typealias Wrapped = Int32
    public typealias Kind = NumberKind
}
extension Int64: ComparableAttribute {
    public typealias Wrapped = Int64
    public typealias Kind = NumberKind
}
extension Double: ComparableAttribute {
    public typealias Wrapped = Double
    public typealias Kind = NumberKind
}
extension Float: ComparableAttribute {
    public typealias Wrapped = Float
    public typealias Kind = NumberKind
}
extension Bool: ComparableAttribute { public typealias Wrapped = Bool }
extension GeoPoint: ComparableAttribute { public typealias Wrapped = GeoPoint }
extension String: ComparableAttribute { public typealias Wrapped = String }
extension Optional: ComparableAttribute where Wrapped: AttributeValue & ComparableAttribute {
    public typealias Kind = Wrapped.Kind
}
