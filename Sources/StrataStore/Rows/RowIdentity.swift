/// The entity and key that tell a row from all others of a store.
///
///     let identities = try store.fetchIdentities(plan, cancellation: nil)
///     let ids = identities.map {
///         ObjectID(entity: model.entities[$0.entityIndex], key: $0.key, storeIdentifier: store.identifier)
///     }
///
/// ``StoreReader/fetchIdentities(_:cancellation:)`` returns it, for a fetch that needs no values. The entity is the row's own
/// one, not the entity of the plan, which may be a parent. Two rows of one hierarchy never have the same key, so the key and
/// the topmost entity suffice to name an object; see ``ObjectID``.
public struct RowIdentity: Sendable, Hashable {
    /// The position of the row's own entity in the model.
    public var entityIndex: Int
    /// The key; unique within the hierarchy of the entity.
    public var key: Int64

    /// Names a row.
    public init(entityIndex: Int, key: Int64) {
        self.entityIndex = entityIndex
        self.key = key
    }
}
