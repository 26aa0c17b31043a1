// Stores that keep a part of their data elsewhere: missing data is loaded before it is read. Other stores are not
// asked.

extension Fetcher {
    /// Has the store bring what a plan asks for.
    /// - Parameter paths: Key paths whose values are read as well.
    /// - Returns: What gives the result; nil if it is the plan itself.
    nonisolated(nonsending) func prepared<T>(
        _ plan: FetchPlan, _ request: FetchRequest<T>, reading paths: @autoclosure () -> [[String]] = []
    ) async throws(PersistenceError) -> PrefetchedResult? {
        guard let network = core.coordinator.network(of: plan.entityIndex) else { return nil }
        let wanted = asksStore(plan, request) ? plan : widened(plan)
        let found: FetchPlan
        do throws(StoreError) {
            found = try await network.prepare(wanted, reading: paths(), options: request.storeOptions)
        } catch {
            throw PersistenceError(error)
        }
        core.processPendingChanges()
        return found == wanted ? nil : PrefetchedResult(plan: found, isResult: true, isWidened: wanted != plan)
    }

    /// As ``prepared(_:_:reading:)``, for the synchronous forms.
    func preparedNow<T>(
        _ plan: FetchPlan, _ request: FetchRequest<T>, reading paths: @autoclosure () -> [[String]] = []
    ) throws(PersistenceError) -> PrefetchedResult? {
        guard let network = core.coordinator.network(of: plan.entityIndex) else { return nil }
        let wanted = asksStore(plan, request) ? plan : widened(plan)
        let paths = paths()
        let found = try core.store { (_) throws(StoreError) in
            try network.prepareNow(wanted, reading: paths, options: request.storeOptions)
        }
        core.processPendingChanges()
        return found == wanted ? nil : PrefetchedResult(plan: found, isResult: true, isWidened: wanted != plan)
    }

    /// As many objects more as unsaved changes may take away; those that are left out at the beginning are among them.
    private func widened(_ plan: FetchPlan) -> FetchPlan {
        var result = plan
        var count = 0
        var current: ContextCore? = core
        while let core = current {
            count += core.tracker.objects.count
            current = core.parent?.core
        }
        result.limit = plan.limit.flatMap { $0.addingOrNil(plan.offset)?.addingOrNil(count) }
        result.offset = 0
        return result
    }
}

/// Brings rows and relationships from elsewhere, for stores of which a part is there.
struct NetworkLoader {
    let core: ContextCore

    nonisolated(nonsending) func load(
        _ objects: [ManagedObject], options: (any StoreRequestOptions)?
    ) async throws(PersistenceError) {
        let byRoot = Dictionary(grouping: objects.filter(\.isFault)) { $0.binding.entity.rootIndex }
        for (root, faults) in byRoot.sorted(by: { $0.key < $1.key }) {
            if let network = core.coordinator.network(of: root) {
                do throws(StoreError) {
                    try await network.prepareRows(
                        entityIndex: root, keys: faults.map(\.key).sorted(), options: options)
                } catch {
                    throw PersistenceError(error)
                }
            }
            try core.faults.fill(faults)
        }
        if core.coordinator.hasNetwork { core.processPendingChanges() }
    }

    nonisolated(nonsending) func load(
        _ steps: [RelationshipDescription], of objects: [ManagedObject], _ options: (any StoreRequestOptions)?
    ) async throws(PersistenceError) {
        var current = objects
        for step in steps {
            try await load(current, options: options)
            current = current.filter { !$0.isDeleted && !$0.isFault }
            guard !current.isEmpty else { return }
            if let parent = core.parent, let index = step.toManyIndex {
                // The members that a child has are those of its parent, with their rows.
                var owners: [ManagedObject] = []
                for object in current where !object.isInserted {
                    owners.append(try parent.object(with: object.identity))
                }
                try await parent.core.networkLoader.load([step], of: owners, options)
                for object in current { core.unloading.members(of: object, index) }
            }
            if core.parent == nil {
                try await loadMembers(of: step, current, options)
                try await loadEnds(of: step, current, options)
            }
            current = try core.prefetcher.ends(of: step, current)
        }
        try await load(current, options: options)
    }

    /// Brings which objects are the members of a to-many relationship.
    private nonisolated(nonsending) func loadMembers(
        of step: RelationshipDescription, _ objects: [ManagedObject], _ options: (any StoreRequestOptions)?
    ) async throws(PersistenceError) {
        guard let index = step.toManyIndex else { return }
        for owners in owners(of: step, among: objects) {
            guard let network = core.coordinator.network(of: owners.entityIndex) else { continue }
            let isAnswered: Bool
            do throws(StoreError) {
                isAnswered = try await network.prepareMembers(
                    entityIndex: owners.entityIndex, relationshipIndex: owners.relationshipIndex, owners: owners.keys,
                    options: options)
            } catch {
                throw PersistenceError(error)
            }
            core.processPendingChanges()
            guard isAnswered else { continue }
            // A context that does not merge what others save has the answer, too, because it asked for it.
            for key in owners.keys {
                if let owner = core.object(owners.entityIndex, key) { core.unloading.members(of: owner, index) }
            }
        }
    }

    /// Brings the rows of objects whose class only the rows tell, before there are objects.
    private nonisolated(nonsending) func loadEnds(
        of step: RelationshipDescription, _ objects: [ManagedObject], _ options: (any StoreRequestOptions)?
    ) async throws(PersistenceError) {
        let destination = core.binding(at: step.destinationIndex).entity
        guard let network = core.coordinator.network(of: destination.index), destination.hasSubentities else { return }
        let keys = try ends(of: step, objects)
        do throws(StoreError) {
            try await network.prepareRows(entityIndex: destination.rootIndex, keys: keys, options: options)
        } catch {
            throw PersistenceError(error)
        }
    }

    /// The keys that a relationship of objects leads to, each once.
    private func ends(
        of step: RelationshipDescription, _ objects: [ManagedObject]
    ) throws(PersistenceError) -> [Int64] {
        if let slot = step.slot { return Set(objects.compactMap { $0.targetKey(slot) }).sorted() }
        var result: Set<Int64> = []
        for owners in owners(of: step, among: objects) {
            let pairs = try core.readStore { (store) throws(StoreError) in
                try store.memberKeys(
                    entityIndex: owners.entityIndex, relationshipIndex: owners.relationshipIndex, owners: owners.keys)
            }
            result.formUnion(pairs.map(\.member))
        }
        return result.sorted()
    }

    /// The objects that a store has, by entity, with the position that the relationship has there.
    private func owners(
        of step: RelationshipDescription, among objects: [ManagedObject]
    ) -> [(entityIndex: Int, relationshipIndex: Int, keys: [Int64])] {
        let stored = objects.filter { !$0.isInserted }
        return Dictionary(grouping: stored, by: { $0.binding.entity.index }).sorted { $0.key < $1.key }
            .compactMap { entityIndex, owners in
                core.model.entities[entityIndex].relationship(named: step.name).map {
                    (entityIndex, $0.index, owners.map(\.key).sorted())
                }
            }
    }
}

extension ContextCore {
    var networkLoader: NetworkLoader { NetworkLoader(core: self) }
}
