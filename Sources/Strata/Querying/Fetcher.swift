import StrataStore

/// Answers requests: asks the store, and puts unsaved changes on top.
struct Fetcher {
    let core: ContextCore

    // MARK: Waiting

    func fetch<T>(_ request: FetchRequest<T>) throws(PersistenceError) -> [T] {
        core.processPendingChanges()
        let plan = try core.planner.plan(for: request)
        return try objects(for: request, plan: plan, try preparedNow(plan, request))
    }

    /// As `fetch(request.first).first`, without a copy of the request.
    func fetchFirst<T>(_ request: FetchRequest<T>) throws(PersistenceError) -> T? {
        core.processPendingChanges()
        var plan = try core.planner.plan(for: request)
        plan.limit = min(plan.limit ?? 1, 1)
        let found = try untypedObjects(for: request, plan: plan, try preparedNow(plan, request))
        // Without an array of `T`: its type would be looked up at run time for each call.
        guard hasOnly(T.self, plan) else {
            for object in found { if let object = object as? T { return object } }
            return nil
        }
        return found.isEmpty ? nil : unsafeDowncast(found[0], to: T.self)
    }

    /// The objects of a request without some of which the caller knows that they meet it, or does not ask for.
    func fetch<T>(_ request: FetchRequest<T>, besides known: Set<ManagedObject>) throws(PersistenceError) -> [T] {
        guard !known.isEmpty else { return try fetch(request) }
        core.processPendingChanges()
        let plan = try core.planner.plan(for: request)
        return typed(try core.overlay.objects(plan, try preparedNow(plan, request), besides: known), plan)
    }

    func count<T>(_ request: FetchRequest<T>) throws(PersistenceError) -> Int {
        core.processPendingChanges()
        let plan = try core.planner.plan(for: request)
        guard asksStore(plan, request) else {
            return try core.overlay.objects(plan, try preparedNow(plan, request)).count
        }
        return try core.readStore { (store) throws(StoreError) in
            let network = core.coordinator.network(of: plan.entityIndex)
            if let count = try network?.countNow(plan, options: request.storeOptions) { return count }
            return try store.count(plan, cancellation: core.settings.readCancellation)
        }
    }

    func fetchIDs<T>(_ request: FetchRequest<T>) throws(PersistenceError) -> [ObjectID] {
        core.processPendingChanges()
        let plan = try core.planner.plan(for: request)
        let prefetched = try preparedNow(plan, request)
        return only(T.self, try identities(for: request, plan, prefetched), plan).map(core.objectID)
    }

    func fetchLazily<T>(
        _ request: FetchRequest<T>, batchSize: Int, in context: ManagedObjectContext
    ) throws(PersistenceError) -> FetchedArray<T> {
        core.processPendingChanges()
        let plan = try core.planner.plan(for: request)
        let entity = core.model.entities[plan.entityIndex]
        guard batchSize > 0 else { throw .invalidFetch(entity: entity.name, reason: "the batch size must be positive") }
        let prefetched = try preparedNow(plan, request)
        return FetchedArray(
            context: context, identities: only(T.self, try identities(for: request, plan, prefetched), plan),
            batchSize: batchSize, prefetch: try core.prefetcher.steps(of: request.prefetch, from: entity))
    }

    // MARK: Results

    /// The objects of a request.
    /// - Parameter prefetched: The result of a request made ahead of time, if there was one.
    func objects<T>(
        for request: FetchRequest<T>, plan: FetchPlan, _ prefetched: PrefetchedResult?
    ) throws(PersistenceError) -> [T] {
        typed(try untypedObjects(for: request, plan: plan, prefetched), plan)
    }

    private func untypedObjects<T>(
        for request: FetchRequest<T>, plan: FetchPlan, _ prefetched: PrefetchedResult?
    ) throws(PersistenceError) -> [ManagedObject] {
        let paths = try core.prefetcher.steps(of: request.prefetch, from: core.model.entities[plan.entityIndex])
        // A fetch that asked a back end uses its values. In a context that does not merge what others save, a change of the
        // same property is a conflict all the same.
        let refreshing: RowRefresher.Extent =
            if request.refreshesRefetchedObjects {
                .all
            } else if prefetched?.isResult == true {
                core.inbox.isOpen ? .all : .keepingConflicts
            } else {
                .none
            }
        let objects: [ManagedObject]
        if request.wantsKeysAlone {
            objects = core.refresher.faults(try identities(for: request, plan, prefetched))
        } else if request.includesPendingChanges {
            objects = try core.overlay.objects(plan, refreshing: refreshing, prefetched)
        } else {
            objects = core.refresher.objects(
                of: try core.rows.rows(of: plan, prefetched), prefetched, refreshing: refreshing)
        }
        let areAll = plan.predicate == nil && plan.limit == nil && plan.offset == 0 && plan.includesSubentities
        for path in paths { try core.prefetcher.prefetch(path, of: objects, areAll: areAll) }
        return objects
    }

    /// The objects of a result that have a class.
    func typed<T: ManagedObject>(_ objects: [ManagedObject], _ plan: FetchPlan) -> [T] {
        guard hasOnly(T.self, plan) else { return objects.compactMap { $0 as? T } }
        // The bindings made the objects, and all their classes are T or inherit from it: to ask each object again, or to
        // copy the array, would cost as much as making them. An array of references has one layout whatever the class.
        return unsafeBitCast(objects, to: [T].self)
    }

    /// The entities and keys of the objects of a request.
    /// - Parameter prefetched: The result of a request made ahead of time, if there was one.
    func identities<T>(
        for request: FetchRequest<T>, _ plan: FetchPlan, _ prefetched: PrefetchedResult? = nil
    ) throws(PersistenceError) -> [RowIdentity] {
        guard !asksStore(plan, request) || prefetched?.isWidened == true else {
            return try core.readStore { (store) throws(StoreError) in
                try store.fetchIdentities(prefetched?.result ?? plan, cancellation: core.settings.readCancellation)
            }
        }
        return try core.overlay.objects(plan, prefetched).map { object in
            // The ID may go anywhere from here.
            if object.isInserted { object.flags.insert(.idTaken) }
            return RowIdentity(entityIndex: object.binding.entity.index, key: object.key)
        }
    }

    private func hasOnly<T: ManagedObject>(_ type: T.Type, _ plan: FetchPlan) -> Bool {
        let binding = core.binding(at: plan.entityIndex)
        return binding.isClosed && binding.objectClass is T.Type
    }

    /// Leaves out what has another class.
    func only<T: ManagedObject>(
        _ type: T.Type, _ identities: [RowIdentity], _ plan: FetchPlan
    ) -> [RowIdentity] {
        hasOnly(type, plan)
            ? identities : identities.filter { core.binding(at: $0.entityIndex).objectClass is T.Type }
    }

    /// Whether the store can answer by itself: no unsaved change matters, here or in the parents.
    func asksStore<T>(_ plan: FetchPlan, _ request: FetchRequest<T>) -> Bool {
        !request.includesPendingChanges || !needsObjects(plan)
    }

    /// Whether unsaved changes matter, here or in the parents, so that objects must be looked at.
    func needsObjects(_ plan: FetchPlan) -> Bool {
        var current: ContextCore? = core
        while let core = current {
            if core.overlay.isNeeded(plan) { return true }
            current = core.parent?.core
        }
        return false
    }
}

extension ContextCore {
    var fetcher: Fetcher { Fetcher(core: self) }
}
