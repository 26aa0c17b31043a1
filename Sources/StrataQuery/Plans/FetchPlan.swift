/// A fetch as stores see it: objects of an entity that match a condition, in an order.
///
///     var plan = FetchPlan(entityIndex: entity.index)
///     plan.predicate = try FetchPredicate(format: "population > %d", 100_000)
///     plan.sorts = [FetchSort("name")]
///     plan.limit = 50
///     let keys = try store.fetchKeys(plan)
///
/// A context makes the plan of a ``FetchRequest`` and passes it to its store; apps use requests. Authors of stores
/// carry out plans, and may pass them on to the store that they mirror. A plan names the entity by its position, so it
/// belongs to one model. Variables of the condition must have their values.
///
/// Objects that agree in all sorts come in the order of their keys, so that pages never overlap.
public struct FetchPlan: Sendable, Hashable {
    /// The position of the entity in the model.
    public var entityIndex: Int
    /// Whether objects of entities that inherit from it count, too.
    public var includesSubentities = true
    /// The condition, or nil for all.
    public var predicate: FetchPredicate?
    /// The sort order; ties are broken by key.
    public var sorts: [FetchSort] = []
    /// The maximum number of objects; nil for all.
    public var limit: Int?
    /// How many objects to skip at the beginning.
    public var offset = 0
    /// What `now()` means in the condition and the order; nil for the moment at which a store runs the plan. Set it if
    /// a store and memory answer one request together.
    public var environment: EvaluationEnvironment?
    /// The slots of the entity that are known of objects of which a mirror was told only those: bit n is slot n. Such objects
    /// are part of the result then; nil if they are not. A number, because plans are copied for each fetch.
    package var toldSlots: UInt64?

    /// Asks for all objects of an entity.
    public init(entityIndex: Int) {
        self.entityIndex = entityIndex
    }
}
