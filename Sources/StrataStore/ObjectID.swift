import Foundation

/// The identity of an object: which store, which hierarchy of entities, which key.
///
///     let id = lima.objectID
///     let name = try await container.read { context in
///         try context.existingObject(City.self, with: id).name
///     }
///     UserDefaults.standard.set(id.uri.absoluteString, forKey: "city")
///
/// An ID is final when its object is created, before the first save, and is the same in every context. It is `Sendable`: send
/// it to other threads instead of the object. To keep it, save its ``uri`` and read it with
/// `PersistentContainer.objectID(for:)`, which also works in the next launch and in another process with the same file.
///
/// Only a new object that a save writes to an existing row with the same unique key takes that row's ID. Keys are numbers of
/// one store and are not used again after a delete. To name an object on a server or another device, use its primary key.
public struct ObjectID: Sendable, Hashable, CustomStringConvertible {
    /// The key, unique within the store and the hierarchy of the entity. It is in the column `_id` of a SQLite store.
    public let key: Int64
    /// The store.
    public let storeIdentifier: UUID
    /// The entity as far as it was known when the ID was made: the object's own, or one that it inherits from.
    public let entity: EntityDescription

    /// Names an object.
    public init(entity: EntityDescription, key: Int64, storeIdentifier: UUID) {
        self.entity = entity
        self.key = key
        self.storeIdentifier = storeIdentifier
    }

    /// IDs are equal if store, hierarchy and key are.
    public static func == (a: ObjectID, b: ObjectID) -> Bool {
        a.key == b.key && (a.entity === b.entity || a.entity.rootName == b.entity.rootName)
            && a.storeIdentifier == b.storeIdentifier
    }

    /// Hashes the key and the hierarchy.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(entity.rootName)
    }

    /// The ID as a URI that other processes can read: `strata://<store>/<entity>/<key>`.
    public var uri: URL { uri(entityName: entity.name) }

    /// The one URI that all IDs of the object agree about: it names the topmost entity of the hierarchy.
    package var canonicalURI: URL { uri(entityName: entity.rootName) }

    private func uri(entityName: String) -> URL {
        var components = URLComponents()
        components.scheme = "strata"
        components.host = storeIdentifier.uuidString.lowercased()
        components.path = "/\(entityName)/\(key)"
        return components.url ?? URL(fileURLWithPath: "/")
    }

    /// Reads a URI made by ``uri``.
    /// - Parameter model: The model that knows the entity.
    /// - Returns: nil if it is not such a URI or the model lacks the entity.
    public init?(uri: URL, model: ManagedObjectModel) {
        guard let components = URLComponents(url: uri, resolvingAgainstBaseURL: false), components.scheme == "strata",
            let store = components.host.flatMap(UUID.init(uuidString:))
        else { return nil }
        let parts = components.path.split(separator: "/")
        guard parts.count == 2, let entity = model.entity(named: String(parts[0])), let key = Int64(parts[1]) else {
            return nil
        }
        self.init(entity: entity, key: key, storeIdentifier: store)
    }

    /// Entity and key: `City/42`.
    public var description: String { "\(entity.name)/\(key)" }
}
