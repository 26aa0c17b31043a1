import Foundation

extension ManagedObjectContext {
    /// The objects that a request asks for. Objects that the context has keep what they have, unless
    /// ``FetchRequest/refreshesRefetchedObjects`` says otherwise; changed ones count as they are now, deleted ones not
    /// at all, and the order, limit and offset hold for the result as a whole.
    ///
    /// One statement, and those of ``FetchRequest/prefetch``, unless unsaved changes make it necessary to look at related
    /// objects.
    /// - Throws: ``PersistenceError/unknownEntity(name:model:)``, ``PersistenceError/invalidFetch(entity:reason:)`` for
    ///   a property that does not exist, and the store's error.
    public func fetch<T>(_ request: FetchRequest<T>) throws(PersistenceError) -> [T] {
        processPendingChanges()
        let plan = try plan(for: request)
        return try objects(for: request, plan: plan, answer: try preparedNow(plan, request.storeOptions))
    }

    /// The first object that a request asks for.
    /// - Throws: As ``fetch(_:)``.
    public func fetchFirst<T>(_ request: FetchRequest<T>) throws(PersistenceError) -> T? {
        var request = request
        request.limit = min(request.limit ?? 1, 1)
        return try fetch(request).first
    }

    /// How many objects ``fetch(_:)`` would give.
    /// - Throws: As ``fetch(_:)``.
    public func count<T>(for request: FetchRequest<T>) throws(PersistenceError) -> Int {
        processPendingChanges()
        let plan = try plan(for: request)
        guard asksStore(plan, request) else {
            return try effectiveObjects(plan, try preparedNow(plan, request.storeOptions)).count
        }
        return try store { () throws(StoreError) in
            if let count = try coordinator.network?.countNow(plan, options: request.storeOptions) { return count }
            return try coordinator.store.count(plan)
        }
    }

    /// The IDs of the objects that ``fetch(_:)`` would give. Reads no rows unless unsaved changes ask for it.
    /// - Throws: As ``fetch(_:)``.
    public func fetchIDs<T>(_ request: FetchRequest<T>) throws(PersistenceError) -> [ObjectID] {
        processPendingChanges()
        let plan = try plan(for: request)
        let answer = try preparedNow(plan, request.storeOptions)
        return only(T.self, try identities(for: request, plan, answer), plan).map(objectID)
    }

    /// The objects that a request asks for, in an array that reads their rows when they are looked at: a page at a time,
    /// and lets go of them again. See ``FetchedArray``.
    ///
    /// One statement finds out which objects they are; each page takes another, when a property of one of its objects
    /// is read, and those of ``FetchRequest/prefetch``. Where unsaved changes may alter the answer, rows are read to
    /// find it.
    /// - Parameter batchSize: How many objects a page has, at least 1.
    /// - Throws: As ``fetch(_:)``, and ``PersistenceError/invalidFetch(entity:reason:)`` for a page of no objects.
    public func fetchLazily<T>(
        _ request: FetchRequest<T>, batchSize: Int = 100
    ) throws(PersistenceError) -> FetchedArray<T> {
        processPendingChanges()
        let plan = try plan(for: request)
        let entity = model.entities[plan.entityIndex]
        guard batchSize > 0 else { throw .invalidFetch(entity: entity.name, reason: "the batch size must be positive") }
        let answer = try preparedNow(plan, request.storeOptions)
        return FetchedArray(
            context: self, identities: only(T.self, try identities(for: request, plan, answer), plan),
            batchSize: batchSize, prefetch: try steps(of: request.prefetch, from: entity))
    }

    // MARK: Results

    /// The objects of a request.
    /// - Parameter answer: What the store was asked beforehand, if it was.
    func objects<T>(
        for request: FetchRequest<T>, plan: FetchPlan, answer: StoreAnswer?
    ) throws(PersistenceError) -> [T] {
        let paths = try steps(of: request.prefetch, from: model.entities[plan.entityIndex])
        let objects: [ManagedObject]
        if request.wantsKeysAlone {
            objects = faults(try identities(for: request, plan, answer))
        } else if request.includesPendingChanges {
            objects = try effectiveObjects(plan, refreshing: request.refreshesRefetchedObjects, answer)
        } else {
            objects = try take(storeBatch(plan, answer), refreshing: request.refreshesRefetchedObjects)
        }
        let areAll = plan.predicate == nil && plan.limit == nil && plan.offset == 0
        for path in paths { try prefetch(path, of: objects, areAll: areAll) }
        return typed(objects, plan)
    }

    /// The objects of a result that have a class.
    func typed<T: ManagedObject>(_ objects: [ManagedObject], _ plan: FetchPlan) -> [T] {
        guard hasOnly(T.self, plan) else { return objects.compactMap { $0 as? T } }
        // The bindings made the objects, and all their classes are T or inherit from it: to ask each object again, or to
        // copy the array, would cost as much as making them. An array of references has one layout whatever the class.
        return unsafeBitCast(objects, to: [T].self)
    }

    /// What a request asks for, without the objects.
    /// - Parameter answer: What the store was asked beforehand, if it was.
    func identities<T>(
        for request: FetchRequest<T>, _ plan: FetchPlan, _ answer: StoreAnswer? = nil
    ) throws(PersistenceError) -> [RowIdentity] {
        guard !asksStore(plan, request) else {
            return try store { () throws(StoreError) in
                try coordinator.store.fetchIdentities(answer?.result ?? plan, cancellation: nil)
            }
        }
        return try effectiveObjects(plan, answer).map {
            RowIdentity(entityIndex: $0.binding.entity.index, key: $0.key)
        }
    }

    private func hasOnly<T: ManagedObject>(_ type: T.Type, _ plan: FetchPlan) -> Bool {
        let binding = coordinator.bindings[plan.entityIndex]
        return binding.isClosed && binding.objectClass is T.Type
    }

    /// Leaves out what has another class.
    func only<T: ManagedObject>(
        _ type: T.Type, _ identities: [RowIdentity], _ plan: FetchPlan
    ) -> [RowIdentity] {
        hasOnly(type, plan)
            ? identities : identities.filter { coordinator.bindings[$0.entityIndex].objectClass is T.Type }
    }

    func objectID(_ identity: RowIdentity) -> ObjectID {
        ObjectID(
            entity: model.entities[identity.entityIndex], key: identity.key,
            storeIdentifier: coordinator.storeIdentifier)
    }

    /// Whether the store alone can answer: nothing unsaved matters, here or in the parents.
    func asksStore<T>(_ plan: FetchPlan, _ request: FetchRequest<T>) -> Bool {
        guard request.includesPendingChanges else { return true }
        var context: ManagedObjectContext? = self
        while let current = context {
            if current.needsOverlay(plan) { return false }
            context = current.parent
        }
        return true
    }
}
