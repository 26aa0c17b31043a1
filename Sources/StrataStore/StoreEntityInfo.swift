/// An entity of a store, for people who look after the store.
public struct StoreEntityInfo: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The name of the entity that it inherits from.
    public let parent: String?
    /// Whether there are no objects of this entity itself.
    public let isAbstract: Bool
    /// The table that keeps its objects.
    public let table: String
    /// How many objects of this entity itself there are, without those of entities that inherit from it.
    public let count: Int

    package init(name: String, parent: String?, isAbstract: Bool, table: String, count: Int) {
        self.name = name
        self.parent = parent
        self.isAbstract = isAbstract
        self.table = table
        self.count = count
    }
}
