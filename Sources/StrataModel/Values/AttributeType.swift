/// The type of an attribute, as the model declares it.
///
/// `rawDescription` is the spelling used in model files and in version hashes.
public enum AttributeType: Sendable, Hashable {
    /// A signed 16-bit integer; `Int16` in Swift.
    case integer16
    /// A signed 32-bit integer; `Int32` in Swift.
    case integer32
    /// A signed 64-bit integer; `Int64` in Swift.
    case integer64
    /// An exact decimal number; `Decimal` in Swift.
    case decimal
    /// A 64-bit floating-point number; `Double` in Swift.
    case double
    /// A 32-bit floating-point number; `Float` in Swift.
    case float
    /// Text; `String` in Swift.
    case string
    /// A truth value; `Bool` in Swift.
    case boolean
    /// A point in time; `Date` in Swift, kept as seconds since 2001-01-01 00:00 UTC.
    case date
    /// Bytes; `Data` in Swift.
    case binary
    /// A UUID; `UUID` in Swift.
    case uuid
    /// A URI; `URL` in Swift.
    case uri
    /// A position on the earth; ``GeoPoint`` in Swift.
    case geoPoint
    /// Any `Codable` Swift type, kept in encoded form. The string names the Swift type.
    case transformable(String)
    /// A group of named elements, kept in one column each.
    case composite([CompositeElement])

    /// The name of the type in model files: `integer64`, `string`, `composite` and so on.
    public var name: String {
        switch self {
        case .integer16: "integer16"
        case .integer32: "integer32"
        case .integer64: "integer64"
        case .decimal: "decimal"
        case .double: "double"
        case .float: "float"
        case .string: "string"
        case .boolean: "boolean"
        case .date: "date"
        case .binary: "binary"
        case .uuid: "uuid"
        case .uri: "uri"
        case .geoPoint: "geoPoint"
        case .transformable: "transformable"
        case .composite: "composite"
        }
    }

    /// Whether values of the type are whole numbers.
    public var isInteger: Bool { self == .integer16 || self == .integer32 || self == .integer64 }

    /// Whether values of the type are numbers of any kind.
    public var isNumeric: Bool { isInteger || self == .decimal || self == .double || self == .float }
}

/// One element of a composite attribute.
public struct CompositeElement: Sendable, Hashable {
    /// The name of the element, in camelCase.
    public var name: String
    /// The type of the element: any but a composite.
    public var type: AttributeType
    /// Whether the element may be nil. Elements of an optional composite are always optional in storage.
    public var isOptional: Bool

    /// Declares an element of a composite.
    public init(_ name: String, _ type: AttributeType, optional: Bool = false) {
        self.name = name
        self.type = type
        self.isOptional = optional
    }
}
