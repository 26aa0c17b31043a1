/// Describes a fetch: objects of an entity that match a condition, in an order.
///
///     let request = FetchRequest<City>(where: City.keys.population > 1_000_000, sortedBy: [City.keys.name.ascending])
///     let cities = try context.fetch(request)
///
/// A request is a value that you can keep, change and send anywhere; nothing is read until you pass it to a method of a
/// context. Those methods decide the form of the answer: ``ManagedObjectContext/fetch(_:)`` gives objects, `count` a number,
/// ``ManagedObjectContext/fetchLazily(_:batchSize:)`` a list that reads a page at a time,
/// ``ManagedObjectContext/fetchValues(_:)`` columns, and ``ManagedObjectContext/live(_:sectionedBy:)`` a result that stays up
/// to date.
///
/// Generated classes make requests, too, and you can build one step by step:
///
///     let largest = City.where { $0.country.countryId == "PE" }.sorted(by: City.keys.population.descending).limit(10)
///
/// Without a condition, a request is for all objects of the entity, and of the entities that inherit from it. Names are checked
/// by the fetch, which throws ``PersistenceError/invalidFetch(entity:reason:)``.
public struct FetchRequest<Object: ManagedObject> {
    /// The name of the entity; nil for the entity of the class. Set it to fetch objects of ``ManagedObject`` without
    /// subclasses.
    public var entityName: String?
    /// The condition, or nil for all objects.
    ///
    ///     var request = FetchRequest<City>()
    ///     request.predicate = try FetchPredicate(format: "population > %d", 1_000_000)
    ///
    /// ``where(_:)`` adds a condition to the one that there is.
    public var predicate: FetchPredicate?
    /// The criteria of the order; the first one decides, and each other one decides among objects that are equal so far.
    ///
    /// Objects that are equal by all criteria are in the order of their keys, so pages do not overlap. Without criteria, the
    /// order is that of the keys, unless a condition such as `isNear` brings its own. Nil comes first in ascending order.
    public var sorts: [FetchSort]
    /// The maximum number of objects; nil for all. It applies to the result as a whole, including unsaved changes.
    public var limit: Int?
    /// How many objects to skip at the beginning, 0 or more.
    ///
    /// The store still finds the skipped objects. For a long list on the screen,
    /// ``ManagedObjectContext/fetchLazily(_:batchSize:)`` finds the objects once and reads their rows page by page.
    public var offset: Int
    /// Whether to include objects of entities that inherit from the entity. True unless you set it to false.
    public var includesSubentities = true
    /// Whether unsaved changes of the context and its parents affect the result. If false, only the store determines
    /// the objects and their order: an object that is deleted here but not yet in the store is included.
    public var includesPendingChanges = true
    /// Whether a fetch reads only keys. The first access to a property then reads the rows of all objects of the result
    /// together. False by default, unlike in Core Data: the fetch reads the rows.
    ///
    ///     var request = FetchRequest<City>()
    ///     request.returnsObjectsAsFaults = true
    ///     let ids = try context.fetch(request).map(\.objectID)    // no row is read
    ///
    /// Objects whose rows the context has keep them. Prefetching and refreshing need the rows, and unsaved changes may
    /// need them; the fetch reads them then.
    public var returnsObjectsAsFaults = false
    /// Whether objects that the context has take newer rows, as
    /// ``ManagedObjectContext/refresh(_:mergingChanges:)`` would give them: unchanged ones take them whole, changed ones
    /// keep their changes on top. If false, they stay as they are, so an object that a fetch finds by newer values may
    /// still show older ones.
    ///
    /// A child context takes what its parent has; the parent's objects are not refreshed.
    public var refreshesRefetchedObjects = false

    /// Relationships that are read together with the objects: typed keys, or dotted paths as text. Each step of a path is
    /// read for the whole result at once; walking it afterwards asks the store for nothing.
    ///
    ///     let request = FetchRequest<City>(prefetch: [City.keys.country, "country.continent"])
    ///     let cities = try context.fetch(request)                    // one statement, and one for each step
    ///     for city in cities { print(city.country.continent.name) }  // none
    ///
    /// Each step takes one statement, or two if the relationship is many-to-many or the store first counts rows to
    /// choose between lookups and a scan. Objects that the context has cost nothing.
    public var prefetch: [any PrefetchPath]

    /// Store-specific options for this fetch, such as where a remote store looks; nil to use the store's defaults.
    public var storeOptions: (any StoreRequestOptions)?

    /// Whether no row is needed for the result.
    // A call would look up the type of the request at run time.
    @inline(__always)
    var wantsKeysAlone: Bool { returnsObjectsAsFaults && prefetch.isEmpty && !refreshesRefetchedObjects }

    /// Requests objects of the class's entity.
    ///
    ///     let request = FetchRequest<City>(
    ///         where: City.keys.population > 1_000_000, sortedBy: [City.keys.name.ascending], limit: 20,
    ///         prefetch: [City.keys.country])
    ///
    /// - Parameters:
    ///   - predicate: The condition; nil for all objects.
    ///   - sorts: The criteria of the order, the most important one first.
    ///   - limit: The maximum number of objects; nil for all.
    ///   - offset: How many objects to skip at the beginning.
    ///   - prefetch: Relationships to read together with the objects.
    public init(
        where predicate: FetchPredicate? = nil, sortedBy sorts: [FetchSort] = [], limit: Int? = nil, offset: Int = 0,
        prefetch: [any PrefetchPath] = []
    ) {
        self.init(
            entityName: nil, where: predicate, sortedBy: sorts, limit: limit, offset: offset, prefetch: prefetch)
    }

    /// Requests objects of an entity by its name, for models without generated classes.
    ///
    ///     let request = FetchRequest<ManagedObject>(entity: "City", where: try FetchPredicate(format: "population > 1000000"))
    ///     for city in try context.fetch(request) { print(city["name"] ?? "") }
    ///
    /// - Parameters:
    ///   - entity: The name of the entity. Objects of the result whose class is not `Object` are left out.
    ///   - predicate: The condition; nil for all objects.
    ///   - sorts: The criteria of the order, the most important one first.
    ///   - limit: The maximum number of objects; nil for all.
    ///   - offset: How many objects to skip at the beginning.
    ///   - prefetch: Relationships to read together with the objects.
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
