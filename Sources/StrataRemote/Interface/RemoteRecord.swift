import Foundation
import StrataStore

/// An object as a back end knows it, or some of its properties: what dialects turn wire formats into, and back.
///
/// Properties are named as in the model; the dialect decides how they are spelled on the wire.
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

/// Which object of a back end: its entity and primary key.
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

    /// Entity and primary key: `Todo/1234`.
    public var description: String { "\(entity)/\(id)" }
}

/// The value of one property of a ``RemoteRecord``.
public indirect enum RemoteValue: Sendable, Hashable {
    /// An attribute; ``Value/null`` for nil.
    case value(Value)
    /// A to-one relationship: the primary key at the other end, or nil.
    case reference(String?)
    /// A to-many relationship: the primary keys of all members, in order.
    case references([String])
    /// A to-one relationship with the related object itself: in an answer that expands it, or to create it along with
    /// its owner.
    case record(RemoteRecord)
    /// A to-many relationship with its members themselves.
    case records([RemoteRecord])
}
