import Foundation

// The store is asked in another thread; objects are made where the context lives, after the answer has come.

extension ManagedObjectContext {
    /// As the `fetch(_:)` that waits, without blocking the caller: the statement runs in another thread, and the
    /// objects are made here when it is done. Unsaved changes count as they are then.
    ///
    /// Cancelling the task stops the statement.
    /// - Throws: ``PersistenceError/cancelled`` if the task was cancelled; all else as the method that waits.
    public nonisolated(nonsending) func fetch<T>(_ request: FetchRequest<T>) async throws(PersistenceError) -> [T] {
        processPendingChanges()
        let plan = try plan(for: request)
        let found = try await prepared(plan, request.storeOptions)
        if request.wantsKeysAlone, asksStore(plan, request) {
            return typed(faults(try await identities(found ?? plan)), plan)
        }
        let answer = try await ask(request.includesPendingChanges ? rootPlan(plan) : plan, found)
        let objects = try objects(for: request, plan: plan, answer: answer)
        if coordinator.network != nil {
            for path in try steps(of: request.prefetch, from: model.entities[plan.entityIndex]) {
                try await load(path, of: objects, request.storeOptions)
            }
        }
        return objects
    }

    /// As the method that waits, without blocking the caller; see ``fetch(_:)``.
    /// - Throws: As ``fetch(_:)``.
    public nonisolated(nonsending) func fetchFirst<T>(
        _ request: FetchRequest<T>
    ) async throws(PersistenceError) -> T? {
        var request = request
        request.limit = min(request.limit ?? 1, 1)
        return try await fetch(request).first
    }

    /// As the method that waits, without blocking the caller; see ``fetch(_:)``.
    /// - Throws: As ``fetch(_:)``.
    public nonisolated(nonsending) func count<T>(
        for request: FetchRequest<T>
    ) async throws(PersistenceError) -> Int {
        processPendingChanges()
        let plan = try plan(for: request)
        guard asksStore(plan, request) else {
            let answer = try await ask(rootPlan(plan), try await prepared(plan, request.storeOptions))
            return try effectiveObjects(plan, answer).count
        }
        if let network = coordinator.network {
            do throws(StoreError) {
                if let count = try await network.count(plan, options: request.storeOptions) { return count }
            } catch {
                throw PersistenceError(error)
            }
        }
        return try await coordinator.read { (store, cancellation) throws(StoreError) in
            try store.count(plan, cancellation: cancellation)
        }
    }

    /// As the method that waits, without blocking the caller; see ``fetch(_:)``.
    /// - Throws: As ``fetch(_:)``.
    public nonisolated(nonsending) func fetchIDs<T>(
        _ request: FetchRequest<T>
    ) async throws(PersistenceError) -> [ObjectID] {
        processPendingChanges()
        let plan = try plan(for: request)
        let found = try await prepared(plan, request.storeOptions)
        guard asksStore(plan, request) else {
            let answer = try await ask(rootPlan(plan), found)
            return only(T.self, try identities(for: request, plan, answer), plan).map(objectID)
        }
        return only(T.self, try await identities(found ?? plan), plan).map(objectID)
    }

    private nonisolated(nonsending) func identities(_ plan: FetchPlan) async throws(PersistenceError) -> [RowIdentity] {
        try await coordinator.read { (store, cancellation) throws(StoreError) in
            try store.fetchIdentities(plan, cancellation: cancellation)
        }
    }

    /// What the outermost parent asks the store in the end.
    func rootPlan(_ plan: FetchPlan) -> FetchPlan {
        let source = sourcePlan(plan)
        return parent?.rootPlan(source) ?? source
    }

    /// Asks the store in another thread.
    ///
    /// Whether the answer still fits is seen when it is used: if somebody saved meanwhile, or other changes came to
    /// matter, the store is asked again there.
    /// - Parameter found: What gives the result in place of the plan, if anything does.
    nonisolated(nonsending) func ask(
        _ plan: FetchPlan, _ found: FetchPlan? = nil
    ) async throws(PersistenceError) -> StoreAnswer {
        let plan = found ?? plan
        let stamp = coordinator.rowCache.stamp
        let batch = try await coordinator.read { (store, cancellation) throws(StoreError) in
            try store.fetch(plan, known: nil, cancellation: cancellation)
        }
        return StoreAnswer(plan: plan, batch: batch, stamp: stamp, isResult: found != nil)
    }
}

extension StoreCoordinator {
    /// Reads in a thread that may block, until it is done or the task is cancelled.
    func read<R: Sendable>(
        _ body: @escaping @Sendable (any PersistentStore, ReadCancellation) throws(StoreError) -> R
    ) async throws(PersistenceError) -> R {
        let cancellation = ReadCancellation()
        let store = store
        let result: Result<R, StoreError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    do throws(StoreError) {
                        continuation.resume(returning: .success(try body(store, cancellation)))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        do { return try result.get() } catch { throw PersistenceError(error) }
    }
}
