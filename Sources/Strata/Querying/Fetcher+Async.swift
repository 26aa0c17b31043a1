import StrataStore

// The store is asked on another thread; objects are made where the context lives, after the answer has come.

extension Fetcher {
    nonisolated(nonsending) func fetch<T>(_ request: FetchRequest<T>) async throws(PersistenceError) -> [T] {
        core.processPendingChanges()
        let plan = try core.planner.plan(for: request)
        let found = try await prepared(plan, request)
        if request.wantsKeysAlone, asksStore(plan, request), found?.isWidened != true {
            return typed(core.refresher.faults(try await identities(found?.plan ?? plan)), plan)
        }
        let answer = try await ask(request.includesPendingChanges ? rootPlan(plan) : plan, found)
        let objects = try objects(for: request, plan: plan, answer)
        if core.coordinator.network(of: plan.entityIndex) != nil {
            for path in try core.prefetcher.steps(of: request.prefetch, from: core.model.entities[plan.entityIndex]) {
                try await core.networkLoader.load(path, of: objects, request.storeOptions)
            }
        }
        return objects
    }

    nonisolated(nonsending) func count<T>(_ request: FetchRequest<T>) async throws(PersistenceError) -> Int {
        core.processPendingChanges()
        let plan = try core.planner.plan(for: request)
        guard asksStore(plan, request) else {
            let answer = try await ask(rootPlan(plan), try await prepared(plan, request))
            return try core.overlay.objects(plan, answer).count
        }
        if let network = core.coordinator.network(of: plan.entityIndex) {
            do throws(StoreError) {
                if let count = try await network.count(plan, options: request.storeOptions) { return count }
            } catch {
                throw PersistenceError(error)
            }
        }
        return try await core.coordinator.read(from: core.reader) { (store, cancellation) throws(StoreError) in
            try store.count(plan, cancellation: cancellation)
        }
    }

    nonisolated(nonsending) func fetchIDs<T>(_ request: FetchRequest<T>) async throws(PersistenceError) -> [ObjectID] {
        only(T.self, try await identities(of: request), try core.planner.plan(for: request)).map(core.objectID)
    }

    nonisolated(nonsending) func fetchLazily<T>(
        _ request: FetchRequest<T>, batchSize: Int, in context: ManagedObjectContext
    ) async throws(PersistenceError) -> FetchedArray<T> {
        let plan = try core.planner.plan(for: request)
        let entity = core.model.entities[plan.entityIndex]
        guard batchSize > 0 else { throw .invalidFetch(entity: entity.name, reason: "the batch size must be positive") }
        let identities = only(T.self, try await identities(of: request), plan)
        return FetchedArray(
            context: context, identities: identities, batchSize: batchSize,
            prefetch: try core.prefetcher.steps(of: request.prefetch, from: entity))
    }

    private nonisolated(nonsending) func identities<T>(
        of request: FetchRequest<T>
    ) async throws(PersistenceError) -> [RowIdentity] {
        core.processPendingChanges()
        let plan = try core.planner.plan(for: request)
        let found = try await prepared(plan, request)
        guard asksStore(plan, request), found?.isWidened != true else {
            let answer = try await ask(rootPlan(plan), found)
            return try identities(for: request, plan, answer)
        }
        return try await identities(found?.plan ?? plan)
    }

    private nonisolated(nonsending) func identities(_ plan: FetchPlan) async throws(PersistenceError) -> [RowIdentity] {
        try await core.coordinator.read(from: core.reader) { (store, cancellation) throws(StoreError) in
            try store.fetchIdentities(plan, cancellation: cancellation)
        }
    }

    /// What the outermost parent asks the store in the end.
    func rootPlan(_ plan: FetchPlan) -> FetchPlan {
        let source = core.overlay.sourcePlan(plan)
        return core.parent?.core.fetcher.rootPlan(source) ?? source
    }

    /// Asks the store on another thread.
    ///
    /// Whether the answer still fits is seen when it is used: if somebody saved meanwhile, or other changes came to
    /// matter, the store is asked again there.
    /// - Parameter found: What gives the result in place of the plan, if anything does.
    nonisolated(nonsending) func ask(
        _ plan: FetchPlan, _ found: PrefetchedResult? = nil
    ) async throws(PersistenceError) -> PrefetchedResult {
        var answer = found ?? PrefetchedResult(plan: plan)
        let plan = answer.plan
        let stamp = core.rowCache.stamp
        answer.stamp = stamp
        answer.batch = try await core.coordinator.read(from: core.reader) { (store, cancellation) throws(StoreError) in
            try store.fetch(plan, known: nil, cancellation: cancellation)
        }
        return answer
    }
}
