/// A feature that a store may lack if it declares so. Every store must do everything else.
///
///     struct KeyValueStores: ConformanceSubject {
///         let name = "Key-value store"
///         let omissions: Set<ConformanceFeature> = [.uniqueKeys, .orderedRelationships, .geoPoints]
///         func open(_ model: ManagedObjectModel, at place: URL) async throws -> any PersistentStore {
///             try MyStore(model: model, folder: place)
///         }
///     }
///
/// Name features in ``ConformanceSubject/omissions``. The suite then runs no check that needs them, and its model has no such
/// attributes and relationships, because a store refuses to open a model that it cannot keep. `BackendSubject.omissions`
/// of `StrataRemoteTesting` takes some of them, too.
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
