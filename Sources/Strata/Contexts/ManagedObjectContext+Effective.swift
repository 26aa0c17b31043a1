// Fetches see unsaved changes: what the store finds is judged again where an object has changed.

extension ManagedObjectContext {
    /// The rows of a plan as the store has them.
    /// - Parameter answer: What the store was asked beforehand; it counts if it was this, and nobody has saved since. What
    ///   is the result takes the place of the plan.
    func storeBatch(_ plan: FetchPlan, _ answer: StoreAnswer? = nil) throws(PersistenceError) -> RowBatch {
        let stamp = coordinator.rowCache.stamp
        let plan = answer?.result ?? plan
        let batch: RowBatch
        if let answer, let read = answer.batch, answer.plan == plan, answer.stamp == stamp {
            batch = read
        } else {
            let known = knownRows(entityIndex: plan.entityIndex)
            batch = try store { () throws(StoreError) in
                try coordinator.store.fetch(plan, known: known, cancellation: nil)
            }
        }
        coordinator.rowCache.add(batch, rootIndex: model.entities[plan.entityIndex].rootIndex, stamp: stamp)
        return batch
    }

    /// What the parent shows, or the store has.
    private func sourceBatch(_ plan: FetchPlan, _ answer: StoreAnswer?) throws(PersistenceError) -> RowBatch {
        guard let parent else { return try storeBatch(plan, answer) }
        let objects = try parent.effectiveObjects(plan, answer)
        // A hook that ran meanwhile may have made a fault of one.
        for object in objects where object.isFault { try parent.load(object) }
        return RowBatch(objects.map(\.sharedRow))
    }

    /// Whether unsaved changes of this context may change the answer.
    func needsOverlay(_ plan: FetchPlan) -> Bool {
        guard !changedObjects.isEmpty else { return false }
        let roots = Set(plan.entityIndexes(in: model).map { model.entities[$0].rootIndex })
        return changedObjects.contains { $0.hasChanges && roots.contains($0.binding.entity.rootIndex) }
            || hidesEnds(plan)
    }

    /// Whether a relationship at the end of a path may lead to an object that is deleted in this context, and so to
    /// nothing.
    private func hidesEnds(_ plan: FetchPlan) -> Bool {
        guard changedObjects.contains(where: { $0.flags.contains(.deleted) }) else { return false }
        let roots = Set(plan.relatedEntityIndexes(in: model, ends: true).map { model.entities[$0].rootIndex })
        return changedObjects.contains { $0.flags.contains(.deleted) && roots.contains($0.binding.entity.rootIndex) }
    }

    /// What must be asked from below so that this context can give the answer: more than the plan says, if unsaved
    /// changes may alter what the store finds.
    func sourcePlan(_ plan: FetchPlan) -> FetchPlan {
        guard needsOverlay(plan) else { return plan }
        let related = Set(plan.relatedEntityIndexes(in: model).map { model.entities[$0].rootIndex })
        let changed = changedObjects.filter { $0.hasChanges }
        var wider = plan
        wider.offset = 0
        if hidesEnds(plan) || changed.contains(where: { related.contains($0.binding.entity.rootIndex) }) {
            // The store would judge by old values of related objects, so all are judged here.
            wider.predicate = nil
            wider.sorts = []
            wider.limit = nil
        } else {
            // Each changed object may leave the answer; so many more are needed for the limit to hold afterwards.
            wider.limit = plan.limit.map { $0 + plan.offset + changed.count }
        }
        return wider
    }

    /// The objects of a plan as this context sees them.
    /// - Parameters:
    ///   - refreshing: Whether objects that the context has take newer rows.
    ///   - answer: What the store was asked beforehand, if it was.
    func effectiveObjects(
        _ plan: FetchPlan, refreshing: Bool = false, _ answer: StoreAnswer? = nil
    ) throws(PersistenceError) -> [ManagedObject] {
        try settleClearings()
        guard needsOverlay(plan) else { return try take(sourceBatch(plan, answer), refreshing: refreshing) }
        let entity = model.entities[plan.entityIndex]
        // What the store was told by others is the result: unsaved changes alone are judged here.
        var wider = answer?.isResult == true ? plan : sourcePlan(plan)
        wider.offset = 0
        let plan = answer?.isResult == true ? wider : plan
        var objects = try take(sourceBatch(wider, answer), refreshing: refreshing)
        let changed = changedObjects.filter { $0.hasChanges }
        let found = Set(objects)
        let candidates = plan.includesSubentities ? entity.descendantIndexes : [entity.index]
        let others = changed.filter { candidates.contains($0.binding.entity.index) && !found.contains($0) }
        // What changed in a relationship of a fault does not tell whether there is a row: others may have deleted it.
        for object in others where object.isFault { try load(object) }
        objects += others.filter { !$0.flags.contains(.missing) }
        let judgesAll = wider.predicate != plan.predicate
        var kept: [ManagedObject] = []
        for object in objects where !object.isDeleted {
            if let predicate = plan.predicate, judgesAll || object.hasChanges {
                do throws(PredicateEvaluationError) {
                    guard try predicate.evaluate(on: ObjectSource(object: object)) else { continue }
                } catch {
                    throw .invalidFetch(entity: entity.name, reason: error.description)
                }
            }
            kept.append(object)
        }
        objects = kept
        try sort(&objects, plan)
        let rest = objects.dropFirst(plan.offset)
        return Array(plan.limit.map { rest.prefix($0) } ?? rest)
    }

    /// Puts objects in the order of a plan. A condition that asks for the nearest gives one where the plan has none.
    private func sort(_ objects: inout [ManagedObject], _ plan: FetchPlan) throws(PersistenceError) {
        let distance = plan.sorts.isEmpty ? plan.predicate?.nearestFirst : nil
        let sorts = distance == nil ? plan.sorts : [FetchSort([])]
        var keyed: [(object: ManagedObject, values: [Value])] = []
        keyed.reserveCapacity(objects.count)
        for object in objects {
            let source = ObjectSource(object: object)
            if let distance {
                keyed.append((object, [try evaluate(distance, source, plan)]))
            } else {
                keyed.append((object, sorts.map { source.value(at: $0.keyPath) }))
            }
        }
        keyed.sort { a, b in
            for (index, sort) in sorts.enumerated() {
                switch ValueComparison.sortOrder(a.values[index], b.values[index], sort.options) {
                case .orderedSame: continue
                case .orderedAscending: return sort.ascending
                case .orderedDescending: return !sort.ascending
                }
            }
            return a.object.key < b.object.key
        }
        objects = keyed.map(\.object)
    }

    private func evaluate(
        _ expression: FetchExpression, _ source: ObjectSource, _ plan: FetchPlan
    ) throws(PersistenceError) -> Value {
        do throws(PredicateEvaluationError) {
            return try expression.evaluate(on: source)
        } catch {
            throw .invalidFetch(entity: model.entities[plan.entityIndex].name, reason: error.description)
        }
    }
}
