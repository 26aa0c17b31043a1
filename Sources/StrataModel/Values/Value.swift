import Foundation

/// A value of an attribute, detached from any object: what predicates, defaults, validation and access by name work
/// with.
///
///     let value: Value = 5
///     if case .integer(let number) = value { print(number) }  // 5
///     print(Double(value) ?? 0, Value.integer(1) == .double(1))  // 5.0 false
///
/// ``Value/null`` stands for nil and is unequal to every other value. Integers of all widths are ``integer(_:)``,
/// `Float` and `Double` are ``double(_:)``. Literals make values; to unbox one, switch over it, or use the initializer
/// of an ``AttributeValue``, which converts numbers.
///
/// The operator `==` compares kind and value, as a `Set` needs it: 1 and 1.0 differ. ``ValueComparison`` compares as
/// predicates do, where they are equal.
public enum Value: Sendable, Hashable {
    /// No value.
    case null
    /// A whole number of any declared width.
    case integer(Int64)
    /// A floating-point number.
    case double(Double)
    /// An exact decimal number.
    case decimal(Decimal)
    /// Text.
    case string(String)
    /// A truth value.
    case boolean(Bool)
    /// A point in time.
    case date(Date)
    /// Bytes. The encoded form of a transformable has this case, too.
    case binary(Data)
    /// A UUID.
    case uuid(UUID)
    /// A URI.
    case uri(URL)
    /// A position on the earth.
    case geoPoint(GeoPoint)
    /// A composite: values by element name.
    case composite([String: Value])
    /// The key of another object, in a to-one relationship. Unique within the hierarchy of the destination entity; see
    /// ``ObjectID``.
    case object(Int64)
    /// Several values in order, as on the right of an `IN`.
    case list([Value])
    /// Several values without order. A key path mapped over a set drops nil and what already exists; mapped over a
    /// ``list(_:)`` it keeps them.
    case set(ValueSet)

    /// Whether this is ``null``.
    public var isNull: Bool { self == .null }

    /// The name of the kind of value, for messages: `integer`, `string`, and `nil` for ``null``.
    public var kind: String {
        switch self {
        case .null: "nil"
        case .integer: "integer"
        case .double: "double"
        case .decimal: "decimal"
        case .string: "string"
        case .boolean: "boolean"
        case .date: "date"
        case .binary: "binary"
        case .uuid: "uuid"
        case .uri: "uri"
        case .geoPoint: "geoPoint"
        case .composite: "composite"
        case .object: "object"
        case .list: "list"
        case .set: "set"
        }
    }
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral
{
    /// Makes a ``string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes an ``integer(_:)``.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Makes a ``double(_:)``.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Makes a ``boolean(_:)``.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Makes ``null``.
    public init(nilLiteral: ()) { self = .null }
    /// Makes a ``list(_:)``.
    public init(arrayLiteral elements: Value...) { self = .list(elements) }
}

extension Value: CustomStringConvertible {
    /// The value as a person would write it: text in quotes, dates in ISO 8601, bytes as their count.
    public var description: String {
        switch self {
        case .null: "nil"
        case .integer(let value): String(value)
        case .double(let value): String(value)
        case .decimal(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        case .boolean(let value): String(value)
        case .date(let value): value.formatted(.iso8601)
        case .binary(let value): "\(value.count) bytes"
        case .uuid(let value): value.uuidString
        case .uri(let value): value.absoluteString
        case .geoPoint(let value): "(\(value))"
        case .composite(let values):
            "{" + values.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}"
        case .object(let key): "object \(key)"
        case .list(let values): "{" + values.map(\.description).joined(separator: ", ") + "}"
        case .set(let values): "{" + values.members.map(\.description).sorted().joined(separator: ", ") + "}"
        }
    }
}
