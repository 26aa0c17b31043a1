import StrataStore

/// Shows unsaved changes in the results of fetches: what the store finds is judged again where an object has changed.
struct PendingChangesOverlay {
    let core: ContextCore

    private var model: ManagedObjectModel { core.model }

    /// The rows that the parent shows, or the store has.
    private func rows(_ plan: FetchPlan, _ prefetched: PrefetchedResult?) throws(PersistenceError) -> RowBatch {
        guard let parent = core.parent else { return try core.rows.rows(of: plan, prefetched) }
        let objects = try parent.core.overlay.objects(plan, prefetched)
        // A hook that ran meanwhile may have made a fault of one.
        for object in objects where object.isFault && !object.isPartial { try parent.core.faults.load(object) }
        return RowBatch(objects.map(\.sharedRow))
    }

    /// Whether unsaved changes of this context may change the answer.
    /// - Parameter left: Objects that are left out of it.
    func isNeeded(_ plan: FetchPlan, besides left: Set<ManagedObject> = []) -> Bool {
        guard !core.tracker.isEmpty else { return false }
        let roots = Set(plan.entityIndexes(in: model).map { model.entities[$0].rootIndex })
        return core.tracker.objects.contains {
            $0.hasChanges && roots.contains($0.binding.entity.rootIndex) && !left.contains($0)
        } || hidesEnds(plan)
    }

    /// Whether a relationship at the end of a path may lead to an object that is deleted in this context, and so to
    /// nothing.
    private func hidesEnds(_ plan: FetchPlan) -> Bool {
        guard core.tracker.objects.contains(where: { $0.flags.contains(.deleted) }) else { return false }
        let roots = Set(plan.relatedEntityIndexes(in: model, ends: true).map { model.entities[$0].rootIndex })
        return core.tracker.objects.contains {
            $0.flags.contains(.deleted) && roots.contains($0.binding.entity.rootIndex)
        }
    }

    /// What must be asked from below so that this context can give the answer: more than the plan says, if unsaved
    /// changes may alter what the store finds.
    func sourcePlan(_ plan: FetchPlan, besides left: Set<ManagedObject> = []) -> FetchPlan {
        guard isNeeded(plan, besides: left) else { return plan }
        let related = Set(plan.relatedEntityIndexes(in: model).map { model.entities[$0].rootIndex })
        let changed = changed(besides: left)
        var wider = plan
        wider.offset = 0
        if hidesEnds(plan) || changed.contains(where: { related.contains($0.binding.entity.rootIndex) }) {
            // The store would judge by old values of related objects, so all are judged here.
            wider.predicate = nil
            wider.sorts = []
            wider.limit = nil
        } else {
            // Each changed object may leave the answer; so many more are needed for the limit to hold afterwards.
            wider.limit = plan.limit.flatMap { $0.addingOrNil(plan.offset)?.addingOrNil(changed.count) }
        }
        return wider
    }

    /// The objects of a plan as this context sees them.
    /// - Parameters:
    ///   - refreshing: Which objects that the context has take newer rows.
    ///   - prefetched: The result of a request made ahead of time, if there was one.
    ///   - left: New objects that are left out of the answer.
    func objects(
        _ plan: FetchPlan, refreshing: RowRefresher.Extent = .none, _ prefetched: PrefetchedResult? = nil,
        besides left: Set<ManagedObject> = []
    ) throws(PersistenceError) -> [ManagedObject] {
        try core.nullifications.settle()
        guard isNeeded(plan, besides: left) || prefetched?.isWidened == true else {
            return core.refresher.objects(
                of: try rows(plan, prefetched), prefetched, refreshing: refreshing)
        }
        let entity = model.entities[plan.entityIndex]
        // A back end has named the result; only unsaved changes are judged here.
        let isResult = prefetched?.isResult == true
        var wider = isResult ? plan : sourcePlan(plan, besides: left)
        var plan = plan
        if isResult {
            wider.limit = nil
            wider.offset = 0
            if prefetched?.isWidened != true { plan.offset = 0 }
        }
        var objects = core.refresher.objects(
            of: try rows(wider, prefetched), prefetched, refreshing: refreshing)
        let changed = changed(besides: left)
        let found = Set(objects)
        let candidates = plan.includesSubentities ? entity.descendantIndexes : [entity.index]
        let others = changed.filter { candidates.contains($0.binding.entity.index) && !found.contains($0) }
        // What changed in a relationship of a fault does not tell whether there is a row: others may have deleted it.
        // An object of which a mirror has only the key is not among its results either.
        for object in others where object.isFault { try core.faults.loadStored(object) }
        objects += others.filter { $0.flags.isDisjoint(with: [.missing, .fault]) }
        // Conditions and orders may look at relationships that are to be loaded.
        objects = try core.reading { () throws(PersistenceError) in
            let environment = plan.environment ?? EvaluationEnvironment()
            var kept = try judged(objects, plan, environment, judgesAll: wider.predicate != plan.predicate)
            try sort(&kept, plan, environment)
            return kept
        }
        let rest = objects.dropFirst(plan.offset)
        return Array(plan.limit.map { rest.prefix($0) } ?? rest)
    }

    private func changed(besides left: Set<ManagedObject>) -> [ManagedObject] {
        core.tracker.objects.filter { $0.hasChanges && !left.contains($0) }
    }

    /// The objects that are not deleted and meet the condition of a plan.
    /// - Parameter judgesAll: Whether all must be judged, or only those that are changed.
    private func judged(
        _ objects: [ManagedObject], _ plan: FetchPlan, _ environment: EvaluationEnvironment, judgesAll: Bool
    ) throws(PersistenceError) -> [ManagedObject] {
        let predicate = plan.predicate.map { PreparedPredicate($0, environment) }
        var kept: [ManagedObject] = []
        for object in objects where !object.isDeleted {
            if let predicate, judgesAll || object.hasChanges {
                do throws(PredicateEvaluationError) {
                    guard try predicate.evaluate(on: ObjectSource(object: object)) else { continue }
                } catch {
                    throw .invalidFetch(entity: model.entities[plan.entityIndex].name, reason: error.description)
                }
            }
            kept.append(object)
        }
        return kept
    }

    /// Puts objects in the order of a plan. A condition that asks for the nearest gives one where the plan has none.
    private func sort(
        _ objects: inout [ManagedObject], _ plan: FetchPlan, _ environment: EvaluationEnvironment
    ) throws(PersistenceError) {
        let distance = plan.sorts.isEmpty ? plan.predicate?.nearestFirst : nil
        let sorts = distance.map { [FetchSort($0)] } ?? plan.sorts
        var keyed: [(object: ManagedObject, values: [Value])] = []
        keyed.reserveCapacity(objects.count)
        for object in objects {
            let source = ObjectSource(object: object)
            do throws(PredicateEvaluationError) {
                keyed.append(
                    (
                        object,
                        try sorts.map { (sort) throws(PredicateEvaluationError) in
                            try sort.value(of: source, environment: environment)
                        }
                    ))
            } catch {
                throw .invalidFetch(entity: model.entities[plan.entityIndex].name, reason: error.description)
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
}

extension ContextCore {
    var overlay: PendingChangesOverlay { PendingChangesOverlay(core: self) }
}

extension Int {
    /// The sum; nil if it is too large for an `Int`. A limit that is too large is not a limit.
    func addingOrNil(_ other: Int) -> Int? {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? nil : sum
    }
}
