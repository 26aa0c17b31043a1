extension ManagedObjectContext {
    // MARK: Waiting

    /// Fetches the objects of a request.
    ///
    ///     let cities = try context.fetch(City.where { $0.population > 1_000_000 }.sorted(by: City.keys.name.ascending))
    ///
    /// The result includes unsaved changes: changed objects count with their current values, new ones are included, deleted
    /// ones are not, and the order, limit and offset apply to the result as a whole. Objects that the context has keep their
    /// values, unless ``FetchRequest/refreshesRefetchedObjects`` is set.
    ///
    /// It takes one statement, plus those of ``FetchRequest/prefetch``, and all rows of the result are read. For a long list
    /// use ``fetchLazily(_:batchSize:)``, for single columns ``fetchValues(_:)``, and for a number `count`. If unsaved changes
    /// of related objects could affect the condition, the fetch reads more rows and evaluates it in memory. In asynchronous
    /// code, write `try await`.
    /// - Throws: ``PersistenceError/unknownEntity(name:model:nearest:)``, ``PersistenceError/invalidFetch(entity:reason:)`` for
    ///   a property that does not exist, and the store's error.
    public func fetch<T>(_ request: FetchRequest<T>) throws(PersistenceError) -> [T] { try core.fetcher.fetch(request) }

    /// Fetches the first object of a request, in its order; nil if there is none.
    ///
    ///     let largest = try context.fetchFirst(FetchRequest<City>(sortedBy: [City.keys.population.descending]))
    ///
    /// It reads one row, whatever the limit of the request, unless unsaved changes may affect the answer. Without an order, the
    /// object with the smallest key is the first. To look an object up by its primary key, use `find`; to know only whether
    /// there is one, use `exists`.
    /// - Throws: As ``fetch(_:)``.
    public func fetchFirst<T>(_ request: FetchRequest<T>) throws(PersistenceError) -> T? {
        try core.fetcher.fetchFirst(request)
    }

    /// Counts the objects that ``fetch(_:)`` would return, without reading them.
    ///
    ///     let count = try context.count(City.where { $0.country == peru })
    ///
    /// Limit and offset apply: a request with a limit of 10 gives at most 10. It takes one statement; only if unsaved changes
    /// may affect the answer are the objects fetched and counted. For counts by group, use ``fetchValues(_:)`` with
    /// `grouped(by:)`.
    /// - Throws: As ``fetch(_:)``.
    public func count<T>(_ request: FetchRequest<T>) throws(PersistenceError) -> Int { try core.fetcher.count(request) }

    /// Whether ``fetch(_:)`` would return any object.
    ///
    ///     if try context.exists(City.where { $0.name == "Lima" }) { print("Lima is there") }
    ///
    /// It reads one key at most, so it costs less than a count or a fetch. If unsaved changes may alter the answer, the objects
    /// are read and examined in memory.
    /// - Throws: As ``fetch(_:)``.
    public func exists<T>(_ request: FetchRequest<T>) throws(PersistenceError) -> Bool {
        try !core.fetcher.fetchIDs(request.first).isEmpty
    }

    /// Fetches the IDs of the objects that ``fetch(_:)`` would return, in the same order.
    ///
    ///     let ids = try await context.fetchIDs(City.where { $0.note != nil })
    ///     try await background.perform { context in
    ///         for city in try context.fetch(City.where { $0.isIn(ids: ids) }) { city.note = nil }
    ///         try context.save()
    ///     }
    ///
    /// IDs are `Sendable` and small: use them to pass a result to another context, or to remember it. No rows are read unless
    /// unsaved changes may alter the answer.
    /// - Throws: As ``fetch(_:)``.
    public func fetchIDs<T>(_ request: FetchRequest<T>) throws(PersistenceError) -> [ObjectID] {
        try core.fetcher.fetchIDs(request)
    }

    /// Fetches objects into an array that reads their rows when you access them, a page at a time, and releases them
    /// again. See ``FetchedArray``.
    ///
    ///     let cities = try context.fetchLazily(FetchRequest<City>(sortedBy: [City.keys.name.ascending]), batchSize: 50)
    ///     for city in cities { print(city.name) }  // three pages at most are in memory
    ///
    /// Use it for long lists of which few objects are visible, and to go through many objects with little memory. One statement
    /// finds the objects; each page takes another, when a property of one of its objects is read, and those of
    /// ``FetchRequest/prefetch``. If unsaved changes could affect the result, the fetch reads rows to compute it.
    /// - Parameters:
    ///   - request: Which objects, in which order.
    ///   - batchSize: The number of objects of a page, at least 1.
    /// - Throws: As ``fetch(_:)``, and ``PersistenceError/invalidFetch(entity:reason:)`` for a page of no objects.
    public func fetchLazily<T>(
        _ request: FetchRequest<T>, batchSize: Int = 100
    ) throws(PersistenceError) -> FetchedArray<T> {
        try core.fetcher.fetchLazily(request, batchSize: batchSize, in: self)
    }

    /// Fetches values: columns of objects, aggregates, groups.
    ///
    ///     let request = City.where { $0.population > 100_000 }.select { ($0.name, $0.population) }
    ///     let rows = try context.fetchValues(request)  // one statement, and no objects
    ///
    /// Rows are tuples if you chose the columns in a closure, and ``FetchedRow``s otherwise. No object is created, so this is
    /// the cheapest way to fill a table or compute a sum; the rows are values that you can send anywhere.
    ///
    /// One statement, if no unsaved change of this context and its parents matters. Unsaved changes of the objects, or
    /// of objects that columns look at, count all the same: then the objects are fetched, and the values computed from
    /// them in memory, by the same rules.
    /// - Throws: As ``fetch(_:)``, and ``PersistenceError/invalidFetch(entity:reason:)`` for a column that does not
    ///   have a single value for each group, and for a value that does not fit the type of its column.
    public func fetchValues<T, Row>(_ request: ValueRequest<T, Row>) throws(PersistenceError) -> [Row] {
        try core.fetcher.values(request)
    }

    // MARK: Asynchronous

    /// Fetches like the blocking `fetch(_:)`, without blocking the caller: the statement runs on another thread, and
    /// the objects are created here when it has finished.
    ///
    ///     let cities = try await context.fetch(City.where { $0.population > 1_000_000 })
    ///
    /// Unsaved changes count as they are then, so changes that you make while you wait are in the result. Cancelling the task
    /// stops the statement.
    /// - Throws: ``PersistenceError/cancelled`` if the task was cancelled; everything else as the method that waits.
    public nonisolated(nonsending) func fetch<T>(_ request: FetchRequest<T>) async throws(PersistenceError) -> [T] {
        try await core.fetcher.fetch(request)
    }

    /// Fetches the first object of a request without blocking the caller; nil if there is none. Otherwise the same as the
    /// blocking form.
    /// - Throws: As ``fetch(_:)``, and ``PersistenceError/cancelled``.
    public nonisolated(nonsending) func fetchFirst<T>(
        _ request: FetchRequest<T>
    ) async throws(PersistenceError) -> T? {
        try await fetch(request.first).first
    }

    /// Counts the objects of a request without blocking the caller. Otherwise the same as the blocking form.
    /// - Throws: As ``fetch(_:)``, and ``PersistenceError/cancelled``.
    public nonisolated(nonsending) func count<T>(_ request: FetchRequest<T>) async throws(PersistenceError) -> Int {
        try await core.fetcher.count(request)
    }

    /// Whether a request finds any object, without blocking the caller. Otherwise the same as the blocking form.
    /// - Throws: As ``fetch(_:)``, and ``PersistenceError/cancelled``.
    public nonisolated(nonsending) func exists<T>(_ request: FetchRequest<T>) async throws(PersistenceError) -> Bool {
        try await !core.fetcher.fetchIDs(request.first).isEmpty
    }

    /// Fetches the IDs of the objects of a request without blocking the caller. Otherwise the same as the blocking form.
    /// - Throws: As ``fetch(_:)``, and ``PersistenceError/cancelled``.
    public nonisolated(nonsending) func fetchIDs<T>(
        _ request: FetchRequest<T>
    ) async throws(PersistenceError) -> [ObjectID] {
        try await core.fetcher.fetchIDs(request)
    }

    /// Finds the objects of an array of pages without blocking the caller; see ``FetchedArray``. The pages are read when you
    /// access them, and block then.
    /// - Parameters:
    ///   - request: Which objects, in which order.
    ///   - batchSize: The number of objects of a page, at least 1.
    /// - Throws: As the method that waits, and ``PersistenceError/cancelled``.
    public nonisolated(nonsending) func fetchLazily<T>(
        _ request: FetchRequest<T>, batchSize: Int = 100
    ) async throws(PersistenceError) -> FetchedArray<T> {
        try await core.fetcher.fetchLazily(request, batchSize: batchSize, in: self)
    }

    /// Fetches values without blocking the caller. Otherwise the same as the blocking form.
    /// - Throws: As the method that waits, and ``PersistenceError/cancelled``.
    public nonisolated(nonsending) func fetchValues<T, Row>(
        _ request: ValueRequest<T, Row>
    ) async throws(PersistenceError) -> [Row] {
        try await core.fetcher.values(request)
    }

    /// The results of a fetch as they come: one, or several where the store answers with what it has immediately and with
    /// what a server says later. A remote store does so under the policy `cacheThenNetwork`.
    ///
    ///     for try await cities in context.results(of: City.where { $0.population > 1_000_000 }) { show(cities) }
    ///
    /// Nothing is read before you ask for the first result. A result that fails ends the sequence.
    public func results<T>(of request: FetchRequest<T>) -> FetchResults<T> {
        let plan = core.coordinator.hasNetwork ? try? core.planner.plan(for: request) : nil
        let network = plan.flatMap { core.coordinator.network(of: $0.entityIndex) }
        let stages = network?.stages(request.storeOptions) ?? [request.storeOptions]
        return FetchResults(context: self, request: request, stages: stages)
    }

    // MARK: Loading

    /// Reads the rows of all faults among some objects, and brings from a back end those that the store has only the keys
    /// of: in one request for each entity, or as few as the back end allows.
    ///
    ///     try await context.load(cities)
    ///     for city in cities where !city.isMissing { print(city.name) }  // reads nothing
    ///
    /// Use it before you read properties on the main actor, where filling a fault would block, and with a remote store, where
    /// the rows may not be in the mirror yet. Objects that do not exist are ``ManagedObject/isMissing`` afterwards.
    ///
    /// Without the network, where the options or the store forbid it, such objects stay faults.
    /// - Parameters:
    ///   - objects: Objects of this context. Those whose rows have been read cost nothing.
    ///   - options: Options for the kind of store, or nil to use the store's defaults.
    /// - Throws: The store's error; ``PersistenceError/cancelled``.
    public nonisolated(nonsending) func load(
        _ objects: [ManagedObject], options: (any StoreRequestOptions)? = nil
    ) async throws(PersistenceError) {
        try await core.networkLoader.load(objects, options: options)
    }

    /// Reads what a path leads to for all of some objects at once, and brings from a back end the rows that the store has
    /// only the keys of; see ``load(_:options:)``. The objects themselves are loaded first.
    ///
    ///     try await context.load(City.keys.country, of: cities)
    ///     for city in cities { print(city.country.name) }
    /// - Parameters:
    ///   - path: A typed key, or names of relationships with dots between them.
    ///   - options: Options for the kind of store, or nil to use the store's defaults.
    /// - Throws: As ``load(_:options:)``; ``PersistenceError/invalidFetch(entity:reason:)`` for a name that is not a
    ///   relationship of the objects' entity.
    public nonisolated(nonsending) func load(
        _ path: any PrefetchPath, of objects: [ManagedObject], options: (any StoreRequestOptions)? = nil
    ) async throws(PersistenceError) {
        guard let first = objects.first else { return }
        let steps = try core.prefetcher.steps(of: path, from: first.binding.entity)
        try await core.networkLoader.load(steps, of: objects, options)
    }
}

extension FetchRequest {
    /// The same request for its first object only.
    var first: FetchRequest {
        var result = self
        result.limit = min(limit ?? 1, 1)
        return result
    }
}
