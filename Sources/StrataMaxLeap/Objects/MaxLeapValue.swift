import Foundation

/// The value of a field of an object.
///
///     post["title"] = "Hello"
///     post["tags"] = ["red", "blue"]
///     post["at"] = .date(.now)
///     post["place"] = .geoPoint(GeoPoint(latitude: 48.86, longitude: 2.35))
///     if case .string(let title)? = post["title"] { print(title) }
///
/// Literals make texts, numbers, truth values, arrays and dictionaries. Whole and other numbers are one type on the server;
/// here they are kept as they were read. Dates have milliseconds. ``null`` is a stored null; to remove a field, set nil. A
/// value of a type that is not known stays a dictionary with its `__type`, and is sent back unchanged.
public indirect enum MaxLeapValue: Sendable, Hashable {
    /// A null that is stored.
    case null
    /// A truth value.
    case boolean(Bool)
    /// A whole number.
    case integer(Int64)
    /// A number in binary floating point.
    case double(Double)
    /// A number that neither 64 bits nor a double hold exactly.
    case decimal(Decimal)
    /// Text.
    case string(String)
    /// A point in time, to milliseconds.
    case date(Date)
    /// Bytes.
    case bytes(Data)
    /// Another object.
    case pointer(MaxLeapPointer)
    /// Another object with its fields: included in an answer, or new. It goes out as a pointer.
    case object(MaxLeapObject)
    /// The objects of a relation, of this class; which ones a query tells.
    case relation(String)
    /// A position on the earth.
    case geoPoint(GeoPoint)
    /// A file.
    case file(MaxLeapFile)
    /// Values in order.
    case array([MaxLeapValue])
    /// Values by name.
    case dictionary([String: MaxLeapValue])
}

extension MaxLeapValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
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
    public init(arrayLiteral elements: MaxLeapValue...) { self = .array(elements) }
    /// Makes a ``dictionary(_:)``. Of several values of one name, the last one counts.
    public init(dictionaryLiteral elements: (String, MaxLeapValue)...) {
        self = .dictionary(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}

extension MaxLeapValue {
    /// The text of a ``string(_:)``; nil for all other values.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The number, or the double nearest to it; nil for all other values.
    public var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): Double("\(number)")
        default: nil
        }
    }
    /// The elements of an ``array(_:)``; nil for all other values.
    public var elements: [MaxLeapValue]? { if case .array(let elements) = self { elements } else { nil } }
    /// The object that a ``pointer(_:)`` or ``object(_:)`` leads to; nil for all other values, and for new objects.
    public var pointer: MaxLeapPointer? {
        switch self {
        case .pointer(let pointer): pointer
        case .object(let object): object.pointer
        default: nil
        }
    }

    /// Whether two values are the same to the server: the same object, whatever is known of it; the same number, however
    /// it is kept; else equal ones.
    public func isSame(as other: MaxLeapValue) -> Bool {
        if let a = pointer, let b = other.pointer { return a == b }
        switch (self, other) {
        case (.integer(let a), .integer(let b)): return a == b
        case (.array(let a), .array(let b)): return a.count == b.count && zip(a, b).allSatisfy { $0.isSame(as: $1) }
        case (.dictionary(let a), .dictionary(let b)):
            return a.count == b.count && a.allSatisfy { name, value in b[name].map(value.isSame) ?? false }
        default:
            if let a = number, let b = other.number { return a == b }
            return self == other
        }
    }

    /// The sum of two numbers.
    /// - Returns: nil if one of them is not a number, or the sum is not finite.
    func adding(_ other: MaxLeapValue) -> MaxLeapValue? {
        if case .integer(let a) = self, case .integer(let b) = other {
            let (sum, overflow) = a.addingReportingOverflow(b)
            return overflow ? .decimal(Decimal(a) + Decimal(b)) : .integer(sum)
        }
        if let a = exact, let b = other.exact {
            if case .decimal = self { return .decimal(a + b) }
            if case .decimal = other { return .decimal(a + b) }
        }
        guard let a = number, let b = other.number, (a + b).isFinite else { return nil }
        return .double(a + b)
    }

    private var exact: Decimal? {
        switch self {
        case .integer(let number): Decimal(number)
        case .decimal(let number): number.isNaN ? nil : number
        default: nil
        }
    }

    /// The kind of value, for messages.
    var kind: String {
        switch self {
        case .null: "null"
        case .boolean: "a truth value"
        case .integer, .double, .decimal: "a number"
        case .string: "text"
        case .date: "a date"
        case .bytes: "bytes"
        case .pointer, .object: "an object"
        case .relation: "a relation"
        case .geoPoint: "a position"
        case .file: "a file"
        case .array: "an array"
        case .dictionary: "a dictionary"
        }
    }
}
