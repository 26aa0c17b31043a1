/// What gives a value in a typed predicate: the key of an attribute, or something calculated from keys.
public protocol PredicateOperand {
    /// The Swift type of the value.
    associatedtype Operand
    /// The same in the one tree of all predicates.
    var expression: FetchExpression { get }
}

/// A calculated value: `$0.population * 2`, `$0.cities.count`, `$0.cities.max(\.population)`.
public struct ValueExpression<Operand>: PredicateOperand, Sendable {
    /// The same in the one tree of all predicates.
    public let expression: FetchExpression

    /// Takes an expression by hand; the caller vouches for the type.
    public init(_ expression: FetchExpression) { self.expression = expression }
}

/// What typed keys compare with: the type of the attribute, whether it is optional or not.
public protocol ComparableAttribute: FetchableValue {
    /// The type without its optionality.
    associatedtype Wrapped: AttributeValue
    /// Two keys compare if their kinds are one type: numbers of all types do, other types with themselves.
    associatedtype Kind = Wrapped
}

/// The ``ComparableAttribute/Kind`` of all numbers.
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
