import Foundation

/// A Swift type that an attribute can have.
///
///     func unboxed<T: AttributeValue>(_ value: Value, or standard: T) -> T { T(value) ?? standard }
///     print(unboxed(.integer(7), or: 0.0))  // 7.0
///
/// The types of the model conform: the integers, `Double`, `Float`, `Decimal`, `String`, `Bool`, `Date`, `Data`,
/// `UUID`, `URL` and ``GeoPoint``. Use it in generic code that boxes values as a ``Value`` and unboxes them again. Do
/// not conform types of your own: an enumeration conforms to ``EnumValue``, and a `Codable` type to
/// ``TransformableValue``.
public protocol AttributeValue: Sendable, Hashable {
    /// The value boxed for predicates and access by name.
    var attributeValue: Value { get }

    /// Unboxes a value. Whole numbers convert between widths if they fit. Numbers convert to floating point, which may
    /// round, and back to a whole number if they are one. Truth values convert to and from 0 and 1. All other kinds
    /// must match.
    /// - Returns: nil if `value` is null or of another kind, or does not fit.
    init?(_ value: Value)

    /// The value of a required property of an object whose row no longer exists: zero, empty, or the reference date.
    static var zeroValue: Self { get }
}

extension AttributeValue where Self: FixedWidthInteger {
    /// The number as ``Value/integer(_:)``.
    public var attributeValue: Value { .integer(Int64(self)) }
    /// Takes a whole number that fits.
    public init?(_ value: Value) {
        switch value {
        case .integer(let number): self.init(exactly: number)
        case .double(let number): self.init(exactly: number)
        case .boolean(let flag): self = flag ? 1 : 0
        default: return nil
        }
    }
    /// Zero.
    public static var zeroValue: Self { 0 }
}

extension Int: AttributeValue {}
extension Int16: AttributeValue {}
extension Int32: AttributeValue {}
extension Int64: AttributeValue {}

extension Double: AttributeValue {
    public var attributeValue: Value { .double(self) }
    public init?(_ value: Value) {
        switch value {
        case .double(let number): self = number
        case .integer(let number): self = Double(number)
        case .decimal(let number): self = (number as NSDecimalNumber).doubleValue
        default: return nil
        }
    }
    public static var zeroValue: Double { 0 }
}

extension Float: AttributeValue {
    public var attributeValue: Value { .double(Double(self)) }
    public init?(_ value: Value) {
        guard let number = Double(value) else { return nil }
        self = Float(number)
    }
    public static var zeroValue: Float { 0 }
}

extension Decimal: AttributeValue {
    public var attributeValue: Value { .decimal(self) }
    public init?(_ value: Value) {
        switch value {
        case .decimal(let number): self = number
        case .integer(let number): self = Decimal(number)
        case .double(let number):
            // Foundation traps on infinity, and makes NaN of what is out of range.
            guard number.isFinite else { return nil }
            let decimal = Decimal(number)
            guard !decimal.isNaN else { return nil }
            self = decimal
        default: return nil
        }
    }
    public static var zeroValue: Decimal { 0 }
}

extension String: AttributeValue {
    public var attributeValue: Value { .string(self) }
    public init?(_ value: Value) {
        guard case .string(let text) = value else { return nil }
        self = text
    }
    public static var zeroValue: String { "" }
}

extension Bool: AttributeValue {
    public var attributeValue: Value { .boolean(self) }
    public init?(_ value: Value) {
        switch value {
        case .boolean(let flag): self = flag
        case .integer(0): self = false
        case .integer(1): self = true
        default: return nil
        }
    }
    public static var zeroValue: Bool { false }
}

extension Date: AttributeValue {
    public var attributeValue: Value { .date(self) }
    public init?(_ value: Value) {
        guard case .date(let date) = value else { return nil }
        self = date
    }
    public static var zeroValue: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

extension Data: AttributeValue {
    public var attributeValue: Value { .binary(self) }
    public init?(_ value: Value) {
        guard case .binary(let data) = value else { return nil }
        self = data
    }
    public static var zeroValue: Data { Data() }
}

extension UUID: AttributeValue {
    public var attributeValue: Value { .uuid(self) }
    public init?(_ value: Value) {
        guard case .uuid(let uuid) = value else { return nil }
        self = uuid
    }
    public static var zeroValue: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
}

extension URL: AttributeValue {
    public var attributeValue: Value { .uri(self) }
    public init?(_ value: Value) {
        guard case .uri(let uri) = value else { return nil }
        self = uri
    }
    public static var zeroValue: URL { URL(string: "about:blank") ?? URL(fileURLWithPath: "/") }
}

extension GeoPoint: AttributeValue {
    public var attributeValue: Value { .geoPoint(self) }
    public init?(_ value: Value) {
        guard case .geoPoint(let point) = value else { return nil }
        self = point
    }
    public static var zeroValue: GeoPoint { GeoPoint(latitude: 0, longitude: 0) }
}

/// A Swift type that a transformable attribute can have: any `Codable` type with a zero value.
///
///     struct Palette: TransformableValue {
///         var colors: [String] = []
///         static let zeroValue = Palette()
///     }
///     Entity("Theme") { Attribute("palette", .transformable("Palette")) }
///
/// The value is kept as JSON. Use value types: change the attribute by assigning a new value, so that the change is
/// noticed. Arrays, dictionaries and sets of `Codable` types conform already. If conditions are to look at members,
/// choose the type ``AttributeType/json(_:)``, which takes the same Swift types.
///
/// Your `init(from:)` must read what earlier versions of the app wrote. Bytes that it cannot read give nil, or
/// ``zeroValue`` if a value is required, and an error to ``ManagedObjectContext/onFaultError``. If `encode(to:)`
/// throws, setting a generated property traps, and ``ManagedObject/setValue(_:forKey:)`` throws.
public protocol TransformableValue: Codable, Hashable {
    /// The value of a required property of an object whose row no longer exists.
    static var zeroValue: Self { get }
}

extension Array: TransformableValue where Element: Codable & Hashable {
    /// The empty array.
    public static var zeroValue: [Element] { [] }
}

extension Dictionary: TransformableValue where Key: Codable, Value: Codable & Hashable {
    /// The empty dictionary.
    public static var zeroValue: [Key: Value] { [:] }
}

extension Set: TransformableValue where Element: Codable {
    /// The empty set.
    public static var zeroValue: Set<Element> { [] }
}
