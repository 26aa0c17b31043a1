import Foundation

/// A JSON value (RFC 8259) that loses nothing of the text it was read from: whole numbers, decimals and truth values are
/// kept apart, and objects keep the order of their members.
///
/// A number that is read becomes the first of these that holds it exactly:
///
/// 1. ``integer(_:)`` if it has neither a fraction nor an exponent and fits 64 bits;
/// 2. ``double(_:)`` if it has a fraction or an exponent and the double nearest to it is printed as the same number. This
///    is so for up to 15 significant digits, and for every double that was written in its shortest form;
/// 3. ``decimal(_:)`` if it has at most 38 significant digits, among them all whole numbers of 64 bits without a sign; or
///    ``integer(_:)`` if it is whole, such as `9007199254740993.0`.
///
/// A number beyond the exponents of `Decimal` that has up to 17 digits is the nearest double, because 17 digits tell all
/// doubles apart. Any other number is an error with its place.
public enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A number without fraction and exponent that fits 64 bits.
    case integer(Int64)
    /// A number in binary floating point. Infinities and NaN have no form in JSON: writing them is an error.
    case double(Double)
    /// A number that neither 64 bits nor a double hold exactly. Writing `NaN` is an error.
    case decimal(Decimal)
    /// Text.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Values by name.
    case object(JSONObject)
}

extension JSONValue {
    /// The member of an object; nil for a name that it does not have, and for all other values.
    public subscript(name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The text of a string; nil for all other values.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The truth value; nil for all other values.
    public var boolean: Bool? {
        if case .boolean(let flag) = self { flag } else { nil }
    }

    /// The whole number; nil for numbers with a fraction, numbers beyond 64 bits, and all other values. `2.0` is a whole
    /// number.
    public var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .double(let number): Int64(exactly: number)
        case .decimal(let number): Int64("\(number)")
        default: nil
        }
    }

    /// The number, or the double nearest to it; nil for all other values.
    public var double: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): Double("\(number)")
        default: nil
        }
    }

    /// The number with the decimal digits that it is written with; nil for all other values, and for a double that
    /// `Decimal` cannot hold.
    public var decimal: Decimal? {
        switch self {
        case .integer(let number): Decimal(number)
        case .double(let number): JSONDigits.decimal(number.description)
        case .decimal(let number): number
        default: nil
        }
    }

    /// The elements of an array; nil for all other values.
    public var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members of an object; nil for all other values.
    public var members: JSONObject? {
        if case .object(let members) = self { members } else { nil }
    }

    /// Whether this is ``null``.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The type of the value as RFC 8259 names it: `null`, `boolean`, `number`, `string`, `array` or `object`.
    public var typeName: String {
        switch self {
        case .null: "null"
        case .boolean: "boolean"
        case .integer, .double, .decimal: "number"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates a ``string(_:)``.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an ``integer(_:)``.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a ``double(_:)``.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a ``boolean(_:)``.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Creates ``null``.
    public init(nilLiteral: ()) { self = .null }
    /// Creates an ``array(_:)``.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates an ``object(_:)`` with the members in the order of the literal. Of several members of one name, the last
    /// value counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(JSONObject(elements.map { (name: $0.0, value: $0.1) }))
    }
}
