import Foundation
import StrataStore

/// An object as a back end knows it, or some of its properties: what dialects turn wire formats into, and back.
///
///     let record = RemoteRecord(
///         entity: "City", id: "1",
///         values: ["name": .value(.string("Lima")), "note": .value(.null), "country": .reference("PE")],
///         version: "3")
///
/// Properties are named as in the model; the dialect decides how they are spelled on the wire. A property that is missing was
/// not in the answer, and keeps its value in the mirror; a nil value must be given. ``version`` is compared for equality only,
/// and ``modified`` tells which of two changes is later. For a service with JSON, ``JSONRecordCoder`` makes records.
public struct RemoteRecord: Sendable, Hashable {
    /// The name of the entity in the model.
    public var entity: String
    /// The primary key that client and back end share.
    public var id: String
    /// The values by property name. An absent property was not in the answer; nil is given as ``RemoteValue/value(_:)``
    /// of ``Value/null`` or ``RemoteValue/reference(_:)`` of nil.
    public var values: [String: RemoteValue]
    /// Identifies this state of the object on the server: an entity tag, or a time of change as text. nil if the back
    /// end reports none.
    public var version: String?
    /// When the object was last changed, by the server's clock.
    public var modified: Date?

    /// Describes an object.
    public init(
        entity: String, id: String, values: [String: RemoteValue] = [:], version: String? = nil, modified: Date? = nil
    ) {
        self.entity = entity
        self.id = id
        self.values = values
        self.version = version
        self.modified = modified
    }

    /// Which object it is.
    public var identity: RemoteIdentity { RemoteIdentity(entity: entity, id: id) }
}

/// The name of an object on a back end: its entity and primary key.
///
///     try store.sync.purge([RemoteIdentity(entity: "City", id: "7")])
///
/// Client and server share it, whereas an ``ObjectID`` is known only in one mirror. Reports, failed changes and errors name
/// objects by it. The entity is the name in the model, of the object itself or of one that it inherits from; primary keys that
/// are integers are given as text.
public struct RemoteIdentity: Sendable, Hashable, CustomStringConvertible {
    /// The name of the entity in the model.
    public var entity: String
    /// The primary key.
    public var id: String

    /// Names an object.
    public init(entity: String, id: String) {
        self.entity = entity
        self.id = id
    }

    /// Entity and primary key: `City/1234`.
    public var description: String { "\(entity)/\(id)" }
}

/// The value of one property of a ``RemoteRecord`` or a ``RemoteWrite``.
///
///     var record = RemoteRecord(entity: "City", id: "1")
///     record.values["name"] = .value(.string("Lima"))
///     record.values["country"] = .reference("PE")
///     record.values["twins"] = .references(["7", "8"])
///
/// Attributes are ``Value``s of the type that the model declares; a value of another type makes the record an
/// ``UnreadableRecord``. Relationships are given by primary key, or by the related objects themselves if an answer contains
/// them: the mirror then applies these, too. Nil is `.value(.null)` for attributes and `.reference(nil)` for relationships.
public indirect enum RemoteValue: Sendable, Hashable {
    /// An attribute; ``Value/null`` for nil.
    case value(Value)
    /// A to-one relationship: the primary key at the other end, or nil.
    case reference(String?)
    /// A to-many relationship: the primary keys of all members, in order.
    case references([String])
    /// A to-one relationship with the related object itself, in an answer that expands it. A store sends references.
    case record(RemoteRecord)
    /// A to-many relationship with its members themselves.
    case records([RemoteRecord])
}
