/// What a store is asked for: objects of an entity that meet a condition, in an order.
///
/// Objects that agree in all sorts come in the order of their keys, so that pages never overlap.
public struct FetchPlan: Sendable, Hashable {
    /// The position of the entity in the model.
    public var entityIndex: Int
    /// Whether objects of entities that inherit from it count, too.
    public var includesSubentities = true
    /// The condition, or nil for all.
    public var predicate: FetchPredicate?
    /// The order; by key where it leaves a choice.
    public var sorts: [FetchSort] = []
    /// The greatest number of objects; nil for all.
    public var limit: Int?
    /// How many objects are left out at the beginning.
    public var offset = 0

    /// Asks for all objects of an entity.
    public init(entityIndex: Int) {
        self.entityIndex = entityIndex
    }
}
