import Foundation

/// A Swift type that an attribute can have.
///
/// The types of the model conform: the integers, `Double`, `Float`, `Decimal`, `String`, `Bool`, `Date`, `Data`,
/// `UUID`, `URL` and ``GeoPoint``.
public protocol AttributeValue: Sendable, Hashable {
    /// The value boxed for predicates and access by name.
    var attributeValue: Value { get }

    /// Unboxes a value. Whole numbers convert to floating point and between widths where nothing is lost; all other
    /// kinds must match.
    /// - Returns: nil if `value` is null or of another kind, or does not fit.
    init?(_ value: Value)

    /// What a property that the model requires reads as when it has no row any more: zero, empty, or the reference
    /// date.
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

/// A Swift type that a transformable attribute can have: any `Codable` value with a stand-in for "no row".
///
/// The value is kept as JSON. It is a value type by intent: change it by assigning a new one, so that the change is
/// seen.
public protocol TransformableValue: Codable, Hashable {
    /// What a required property reads as when it has no row any more.
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
