/// How the value of a slot is laid out in a packed row.
///
///     for slot in city.entity.slots where slot.storage == .text { print(slot.name, slot.type?.name ?? "-") }
///
/// Numbers, truth values, dates and keys fill the eight bytes of the slot itself; everything else comes after the
/// slots, and the slot holds its offset and length. Several types of attributes share a layout: all integers are
/// ``integer``, and strings, URIs, JSON and arrays are ``text``. Authors of stores use it to read and write rows. Apps
/// use the type of the attribute instead.
public enum SlotStorage: UInt8, Sendable, Hashable {
    /// An `Int64` in the slot; integers of all widths.
    case integer
    /// The bits of a `Double` in the slot; floats, too.
    case double
    /// 0 or 1 in the slot.
    case boolean
    /// Seconds since 2001-01-01 00:00 UTC as the bits of a `Double` in the slot.
    case date
    /// The `Int64` key of another object in the slot.
    case key
    /// UTF-8 text after the slots; URIs and JSON, too.
    case text
    /// The shortest plain decimal text after the slots.
    case decimal
    /// Bytes after the slots; the encoded form of transformables, too.
    case bytes
    /// 16 bytes after the slots.
    case uuid
    /// Latitude and longitude as two little-endian `Double`s after the slots.
    case geoPoint

    /// Whether the value fits in the eight bytes of the slot.
    @inlinable public var isInline: Bool { rawValue <= SlotStorage.key.rawValue }
}

/// A slot of an entity's rows: an attribute, an element of a composite, or a to-one relationship.
///
///     for slot in city.entity.slots where slot.isStored {
///         print(slot.index, slot.name, slot.isOptional ? "optional" : "required")
///     }
///
/// Authors of stores go through the slots to make columns, and to read and write rows. To-many relationships have no
/// slot. Counts, sums and paths have one without a column; see ``isStored``.
///
/// The slots of an entity begin with those of the entity that it inherits from, in the same order, so that an accessor
/// generated for the one reads the rows of the other. Positions depend on the order of the declarations; do not keep
/// them.
public struct SlotDescription: Sendable, Hashable {
    /// The position in the row, from 0.
    public let index: Int
    /// The property's name; for an element of a composite the path to it, `address.street`.
    public let name: String
    /// The layout.
    public let storage: SlotStorage
    /// The type of the value; nil for a to-one relationship.
    public let type: AttributeType?
    /// Whether the value may be nil.
    public let isOptional: Bool
    /// Whether the value is kept only in memory.
    public let isTransient: Bool
    /// How the value is computed, for derived attributes.
    public let derivation: Derivation?
    /// The enumeration that the values belong to.
    public let enumeration: EnumerationType?
    /// The position of the attribute in ``EntityDescription/attributes``; nil for a relationship.
    public let attributeIndex: Int?
    /// The position of the relationship in ``EntityDescription/relationships``; nil for an attribute.
    public let relationshipIndex: Int?

    /// ``name`` as a key path: more than one element for an element of a composite.
    package var path: [String] { name.split(separator: ".").map(String.init) }

    /// Whether the store keeps a column for the slot. Counts, sums and paths are computed when a row is read.
    public var isStored: Bool {
        if isTransient { return false }
        switch derivation {
        case .count, .sum, .path: return false
        default: return true
        }
    }
}
