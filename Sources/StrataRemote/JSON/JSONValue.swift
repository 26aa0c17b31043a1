import Foundation

/// A JSON value (RFC 8259). Whole numbers and truth values are kept apart, and numbers with more digits than a double
/// holds keep them.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A number without fraction and exponent that fits 64 bits.
    case integer(Int64)
    /// Any other number.
    case double(Double)
    /// A number with more digits than a double holds.
    case decimal(Decimal)
    /// Text.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Values by name. Of several members of one name the last counts.
    case object([String: JSONValue])

    /// The member of an object; nil for all else.
    public subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The text of a string; nil for all else.
    public var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The whole number; nil for all else, also for numbers with a fraction. `2.0` is a whole number.
    public var whole: Int64? {
        switch self {
        case .integer(let number): number
        case .double(let number): Int64(exactly: number)
        default: nil
        }
    }

    /// The number as a double; nil for all else.
    public var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): Double("\(number)")
        default: nil
        }
    }

    /// The truth value; nil for all else.
    public var flag: Bool? {
        if case .boolean(let flag) = self { flag } else { nil }
    }

    /// The elements of an array; nil for all else.
    public var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members of an object; nil for all else.
    public var members: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// Whether this is ``null``.
    public var isNull: Bool { self == .null }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
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
    /// Makes an ``array(_:)``.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Makes an ``object(_:)``. Of several members of one name the last counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}
