import StrataStore

/// Reads rows from below: from the parent context, or from the store and its row cache.
struct RowReader {
    let core: ContextCore

    /// The rows of some keys, as the parent or the store has them.
    /// - Parameter batch: What keeps the rows in the row cache.
    func rows(entityIndex: Int, keys: [Int64], batch: FaultBatch? = nil) throws(PersistenceError) -> [RowReference] {
        if let parent = core.parent { return try parent.core.rows.shown(entityIndex: entityIndex, keys: keys) }
        let rootIndex = core.rootIndex(of: entityIndex)
        try core.nullifications.settle(rootIndex: rootIndex)
        let cache = core.rowCache
        let (found, missing) = cached(keys, rootIndex, cache)
        guard !missing.isEmpty else { return found }
        let stamp = cache.stamp
        let read = try core.readStore { (store) throws(StoreError) in
            try store.rows(entityIndex: entityIndex, keys: missing)
        }
        if let batch {
            batch.rows = read
            cache.add(read, rootIndex: rootIndex, stamp: stamp, owner: core.inbox.contextNumber)
        }
        return found + read.rows
    }

    /// The rows that the cache has of some keys, and the keys that are left.
    private func cached(
        _ keys: [Int64], _ rootIndex: Int, _ cache: RowCache
    ) -> (found: [RowReference], missing: [Int64]) {
        guard cache.hasRows(rootIndex: rootIndex) else { return ([], keys) }
        // Only the rows of the last commit can be older than another one.
        let isShared = cache !== core.coordinator.rowCache || core.coordinator.noticeForeignCommits() != .unknown
        return cache.rows(rootIndex: rootIndex, keys: keys, readBy: isShared ? nil : core.inbox.contextNumber)
    }

    /// The rows of some keys as this context shows them to a child: changed ones as they are now, deleted ones not at
    /// all.
    func shown(entityIndex: Int, keys: [Int64]) throws(PersistenceError) -> [RowReference] {
        try core.nullifications.settle(rootIndex: core.rootIndex(of: entityIndex))
        var result: [RowReference] = []
        var unknown: [Int64] = []
        for key in keys {
            let object = core.object(entityIndex, key)
            // An edit, or a delete, that was made while the row could not be read.
            if let object, object.isFault, object.hasChanges { try core.faults.load(object) }
            guard let object, !object.isFault else {
                unknown.append(key)
                continue
            }
            if !object.isDeleted { result.append(object.sharedRow) }
        }
        guard !unknown.isEmpty else { return result }
        return result + (try rows(entityIndex: entityIndex, keys: unknown))
    }

    /// The rows of a plan as the store has them.
    /// - Parameter prefetched: The answer to a request made ahead of time. It counts if it was this one, and nobody has
    ///   saved since; a plan that names the result takes the place of the given one.
    func rows(of plan: FetchPlan, _ prefetched: PrefetchedResult? = nil) throws(PersistenceError) -> RowBatch {
        guard let prefetched else { return try read(plan) }
        let plan = prefetched.result ?? plan
        let stamp = core.rowCache.stamp
        guard let batch = prefetched.batch, prefetched.plan == plan, prefetched.stamp == stamp else {
            return try read(plan)
        }
        keep(batch, plan, stamp: stamp)
        return batch
    }

    private func read(_ plan: FetchPlan) throws(PersistenceError) -> RowBatch {
        let stamp = core.rowCache.stamp
        let known = knownRows(entityIndex: plan.entityIndex)
        let batch = try core.readStore { (store) throws(StoreError) in
            try store.fetch(plan, known: known, cancellation: core.settings.readCancellation)
        }
        keep(batch, plan, stamp: stamp)
        return batch
    }

    /// Adds rows that a plan gave to the row cache. Rows of which only a part is known are left to those who asked for it.
    /// - Parameter stamp: What the cache's stamp was before the rows were read.
    private func keep(_ batch: RowBatch, _ plan: FetchPlan, stamp: Int) {
        guard plan.toldSlots == nil else { return }
        core.rowCache.add(
            batch, rootIndex: core.rootIndex(of: plan.entityIndex), stamp: stamp, owner: core.inbox.contextNumber)
    }

    /// Tells a store which rows of a hierarchy it need not read, because the object of each has it at the same version;
    /// nil if the context knows no object of the hierarchy.
    ///
    /// ``ObjectFactory`` takes the headers that come instead. Nobody else may be handed them: they have no slots, so that
    /// reading one traps, and the row cache leaves them out.
    private func knownRows(entityIndex: Int) -> KnownRows? {
        let table = core.identityMap.table(entityIndex)
        guard table.count > 0 else { return nil }
        return { entityIndex, key, version in
            guard let object = table.object(key) else { return false }
            return object.row.version == version && object.row.entityIndex == entityIndex
                && object.flags.isDisjoint(with: .unread)
        }
    }
}

extension ContextCore {
    var rows: RowReader { RowReader(core: self) }
}
