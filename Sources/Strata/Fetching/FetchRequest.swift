/// What to fetch: objects of an entity that meet a condition, in an order.
///
///     let request = FetchRequest<City>(where: City.keys.population > 1_000_000, sortedBy: [City.keys.name.ascending])
///     let cities = try context.fetch(request)
public struct FetchRequest<Object: ManagedObject> {
    /// The name of the entity; nil for the entity of the class.
    public var entityName: String?
    /// The condition, or nil for all objects.
    public var predicate: FetchPredicate?
    /// The order; ties are broken by key.
    public var sorts: [FetchSort]
    /// The maximum number of objects; nil for all.
    public var limit: Int?
    /// How many objects are left out at the beginning.
    public var offset: Int
    /// Whether objects of entities that inherit from the entity count, too.
    public var includesSubentities = true
    /// Whether unsaved changes of the context, and of its parents, count. Without them only the store says which
    /// objects there are, in which order: one that is deleted here and not yet there is among them, too.
    public var includesPendingChanges = true
    /// Whether a fetch reads only keys, and leaves the rows to the first touch of a property, which reads those of all
    /// objects of the result at once. False by default, unlike in Core Data: the rows come with the fetch.
    ///
    ///     var request = FetchRequest<City>()
    ///     request.returnsObjectsAsFaults = true
    ///     let ids = try context.fetch(request).map(\.objectID)    // no row is read
    ///
    /// Objects whose rows the context has keep them. Prefetching and refreshing need the rows, and unsaved changes may
    /// do so; then they are read after all.
    public var returnsObjectsAsFaults = false
    /// Whether objects that the context has take newer rows, as
    /// ``ManagedObjectContext/refresh(_:mergingChanges:)`` would give them: unchanged ones take them whole, changed ones
    /// keep their changes on top. False leaves them as they are, so that what a fetch finds by newer values may still
    /// show older ones.
    ///
    /// A child context takes what its parent has; the parent's objects are not refreshed.
    public var refreshesRefetchedObjects = false

    /// Relationships that are read together with the objects: typed keys, or dotted paths as text. Each step of a path is
    /// read for the whole result at once; walking it afterwards asks the store for nothing.
    ///
    ///     let request = FetchRequest<Country>(prefetch: [Country.keys.cities, "cities.tags"])
    ///
    /// A step takes one statement, or two where the relationship is many-to-many or the store first counts whether to
    /// look members up or to pass over them all; none for what the context has.
    public var prefetch: [any PrefetchPath]

    /// What the fetch asks of a kind of store beyond what every store can do; nil as the store is told. Where a remote
    /// store looks, for instance.
    public var storeOptions: (any StoreRequestOptions)?

    /// Whether no row is needed for the result.
    var wantsKeysAlone: Bool { returnsObjectsAsFaults && prefetch.isEmpty && !refreshesRefetchedObjects }

    /// Asks for objects of the entity that the class stands for.
    public init(
        where predicate: FetchPredicate? = nil, sortedBy sorts: [FetchSort] = [], limit: Int? = nil, offset: Int = 0,
        prefetch: [any PrefetchPath] = []
    ) {
        self.init(
            entityName: nil, where: predicate, sortedBy: sorts, limit: limit, offset: offset, prefetch: prefetch)
    }

    /// Asks for objects of an entity by name.
    public init(
        entity: String, where predicate: FetchPredicate? = nil, sortedBy sorts: [FetchSort] = [], limit: Int? = nil,
        offset: Int = 0, prefetch: [any PrefetchPath] = []
    ) {
        self.init(
            entityName: entity, where: predicate, sortedBy: sorts, limit: limit, offset: offset, prefetch: prefetch)
    }

    private init(
        entityName: String?, where predicate: FetchPredicate?, sortedBy sorts: [FetchSort], limit: Int?, offset: Int,
        prefetch: [any PrefetchPath]
    ) {
        self.entityName = entityName
        self.predicate = predicate
        self.sorts = sorts
        self.limit = limit
        self.offset = offset
        self.prefetch = prefetch
    }
}

extension FetchRequest: Sendable {}
