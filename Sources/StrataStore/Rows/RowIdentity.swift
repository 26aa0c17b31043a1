/// What tells a row from all others of a store: its entity and its key.
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
