/// The features that a store may lack if it declares so. Every store must do everything else.
public enum ConformanceFeature: String, Sendable, Hashable, CaseIterable {
    /// Saved objects exist when the store is opened again.
    case persistence
    /// A save with a conflict writes nothing at all.
    case atomicSaves
    /// A save on top of changes by others is a conflict.
    case versionConflicts
    /// Values that no two objects may share.
    case uniqueKeys
    /// Texts with the character U+0000.
    case zeroCharacters
    /// Exact decimal numbers.
    case decimals
    /// Bytes.
    case binaries
    /// UUIDs.
    case uuids
    /// URIs.
    case uris
    /// `Codable` values in their encoded form.
    case transformables
    /// Attributes of several elements.
    case composites
    /// Positions, and conditions on them.
    case geoPoints
    /// Entities that inherit from others.
    case inheritance
    /// To-many relationships whose members have an order.
    case orderedRelationships
    /// Relationships that lead to many from both ends.
    case manyToMany
    /// Values computed over groups of objects.
    case aggregates
    /// Several threads at once.
    case threads
}
