/// The type of an attribute, as the model declares it, with the Swift type of its values. ``name`` is the spelling in
/// model files.
///
///     Entity("City") {
///         Attribute("name", .string)
///         Attribute("position", .geoPoint)
///         Attribute("languages", .array(.string))
///         Attribute("address", .composite([CompositeElement("street", .string)]), optional: true)
///     }
///
/// The type decides how the value is stored, what conditions can do with it, and which indexes it can have. For your
/// own `Codable` types, prefer ``json(_:)`` if conditions look at members, and ``transformable(_:)`` otherwise. Large
/// ``binary`` values can be kept outside of the database; see ``Attribute/externalStorage()``.
///
/// A change to a wider type needs no answer in a migration. A change to a narrower one is checked against the data;
/// ``ValueConversion`` says which values fit.
public enum AttributeType: Sendable, Hashable {
    /// A signed 16-bit integer; `Int16` in Swift.
    case integer16
    /// A signed 32-bit integer; `Int32` in Swift.
    case integer32
    /// A signed 64-bit integer; `Int64` in Swift.
    case integer64
    /// A signed 64-bit integer; `Int` in Swift. Stores keep it as they keep ``integer64``, so that a model may change from
    /// one to the other.
    case integer
    /// An exact decimal number of up to 38 digits; `Decimal` in Swift. Use it for money.
    case decimal
    /// A 64-bit floating-point number; `Double` in Swift.
    case double
    /// A 32-bit floating-point number; `Float` in Swift.
    case float
    /// Text; `String` in Swift. Compared and sorted by its UTF-8 bytes unless ``ComparisonOptions`` say otherwise.
    case string
    /// A truth value; `Bool` in Swift.
    case boolean
    /// A point in time without a time zone; `Date` in Swift, kept as seconds since 2001-01-01 00:00 UTC.
    case date
    /// Bytes; `Data` in Swift. Conditions can compare them only as a whole, and an index cannot cover them.
    case binary
    /// A UUID; `UUID` in Swift.
    case uuid
    /// A URI; `URL` in Swift. It can also refer to an object; see ``Attribute/references(_:)``.
    case uri
    /// A position on the earth; ``GeoPoint`` in Swift. For the conditions of ``GeoCondition`` and spatial indexes.
    case geoPoint
    /// Any ``TransformableValue``, kept as encoded bytes. The string names the Swift type. Conditions cannot look into
    /// it.
    case transformable(String)
    /// A `Codable` Swift type, kept as JSON text. Conditions can look at its members; an index cannot.
    case json(JSONType)
    /// An array of values of one type, in order; `[String]` and so on in Swift. Elements are text, truth values, whole
    /// and floating-point numbers, and none of them is nil. A required array begins empty. Stores keep the array as
    /// JSON text, and conditions can look at its elements.
    indirect case array(AttributeType)
    /// A group of named elements, kept in one column for each; a generated structure in Swift. Composites are not
    /// nested.
    case composite([CompositeElement])

    /// The name of the type in model files: `integer64`, `string`, `composite` and so on.
    public var name: String {
        switch self {
        case .integer16: "integer16"
        case .integer32: "integer32"
        case .integer64: "integer64"
        case .integer: "integer"
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
        case .json: "json"
        case .array: "array"
        case .composite: "composite"
        }
    }

    /// Whether values of the type are whole numbers.
    public var isInteger: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .integer: true
        default: false
        }
    }

    /// Whether values are kept as JSON text.
    public var isJSON: Bool {
        switch self {
        case .json, .array: true
        default: false
        }
    }

    /// The type of the elements of an ``array(_:)``; nil for everything else.
    public var element: AttributeType? { if case .array(let element) = self { element } else { nil } }

    /// Whether an ``array(_:)`` can have elements of the type.
    public var isElement: Bool {
        switch self {
        case .string, .boolean, .integer16, .integer32, .integer64, .integer, .double, .float: true
        default: false
        }
    }

    /// The name of the type as a store keeps it: types that differ in Swift only have one.
    package var storedName: String { self == .integer ? AttributeType.integer64.name : name }

    /// Whether values of the type are numbers of any kind.
    public var isNumeric: Bool { isInteger || self == .decimal || self == .double || self == .float }
}

/// An element of a composite attribute: a value with a name of its own inside the attribute.
///
///     Entity("Person") {
///         Attribute("address", .composite([
///             CompositeElement("street", .string),
///             CompositeElement("zip", .string, optional: true),
///         ]))
///         Index("address.zip")
///     }
///
/// Each element has a column. Conditions, orders and indexes name it by a path: `address.zip`. The type may be any but
/// a composite, JSON and an array; declare those as attributes. If the attribute is optional, all of its elements are.
/// You can add optional elements in a later version of the model without an answer in the migration.
public struct CompositeElement: Sendable, Hashable {
    /// The name of the element, in camelCase.
    public var name: String
    /// The type of the element: any but a composite, JSON and an array.
    public var type: AttributeType
    /// Whether the element may be nil. Elements of an optional composite are always optional in storage.
    public var isOptional: Bool
    /// The enumeration that the values of a string or a whole number belong to.
    public var enumeration: EnumerationType?

    /// Declares an element of a composite.
    public init(
        _ name: String, _ type: AttributeType, optional: Bool = false, enumeration: EnumerationType? = nil
    ) {
        self.name = name
        self.type = type
        self.isOptional = optional
        self.enumeration = enumeration
    }
}
