import Foundation

extension ManagedObjectContext {
    /// The objects that a request asks for. Objects that the context has keep what they have; changed ones count as
    /// they are now, deleted ones not at all, and the order, limit and offset hold for the result as a whole.
    ///
    /// One statement, and those of ``FetchRequest/prefetch``, unless unsaved changes make it necessary to look at related
    /// objects.
    /// - Throws: ``PersistenceError/unknownEntity(name:model:)``, ``PersistenceError/invalidFetch(entity:reason:)`` for
    ///   a property that does not exist, and the store's error.
    public func fetch<T>(_ request: FetchRequest<T>) throws(PersistenceError) -> [T] {
        processPendingChanges()
        let plan = try plan(for: request)
        var paths: [[RelationshipDescription]] = []
        for path in request.prefetch { paths.append(try steps(of: path, from: model.entities[plan.entityIndex])) }
        let objects =
            try request.includesPendingChanges
            ? effectiveObjects(plan) : materialize(storeBatch(plan)).filter { !$0.isDeleted }
        let areAll = plan.predicate == nil && plan.limit == nil && plan.offset == 0
        for path in paths { try prefetch(path, of: objects, areAll: areAll) }
        let candidates = model.entities[plan.entityIndex].descendantIndexes
        guard candidates.allSatisfy({ coordinator.bindings[$0].objectClass is T.Type }) else {
            return objects.compactMap { $0 as? T }
        }
        // The bindings made the objects, and all their classes are T or inherit from it: to ask each object again, or to
        // copy the array, would cost as much as making them. An array of references has one layout whatever the class.
        return unsafeBitCast(objects, to: [T].self)
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
        if parent == nil, !request.includesPendingChanges || !needsOverlay(plan) {
            return try store { () throws(StoreError) in try coordinator.store.count(plan) }
        }
        return try request.includesPendingChanges ? effectiveObjects(plan).count : storeBatch(plan).count
    }

    /// The IDs of the objects that ``fetch(_:)`` would give. Reads no rows unless unsaved changes ask for it.
    /// - Throws: As ``fetch(_:)``.
    public func fetchIDs<T>(_ request: FetchRequest<T>) throws(PersistenceError) -> [ObjectID] {
        processPendingChanges()
        let plan = try plan(for: request)
        let entity = model.entities[plan.entityIndex]
        guard parent == nil, !request.includesPendingChanges || !needsOverlay(plan), !entity.hasSubentities else {
            return try fetch(request).map(\.objectID)
        }
        return try store { () throws(StoreError) in try coordinator.store.fetchKeys(plan) }.map {
            ObjectID(entity: entity, key: $0, storeIdentifier: coordinator.store.identifier)
        }
    }

    // MARK: Plans

    private func plan<T>(for request: FetchRequest<T>) throws(PersistenceError) -> FetchPlan {
        let entity: EntityDescription
        if let name = request.entityName {
            guard let found = model.entity(named: name) else { throw .unknownEntity(name: name, model: model.name) }
            entity = found
        } else {
            guard let binding = coordinator.binding(for: T.self) else {
                throw .unknownEntity(name: "\(T.self)", model: model.name)
            }
            entity = binding.entity
        }
        guard request.offset >= 0, request.limit ?? 0 >= 0 else {
            throw .invalidFetch(entity: entity.name, reason: "limit and offset must not be negative")
        }
        var plan = FetchPlan(entityIndex: entity.index)
        plan.includesSubentities = request.includesSubentities
        plan.predicate = request.predicate
        plan.sorts = request.sorts
        plan.limit = request.limit
        plan.offset = request.offset
        for path in plan.keyPaths { try check(path, entity) }
        try settleClearings()
        return plan
    }

    /// Checks that a path leads through to-one relationships to a stored property.
    private func check(_ path: [String], _ entity: EntityDescription) throws(PersistenceError) {
        guard !path.isEmpty else {
            throw .invalidFetch(entity: entity.name, reason: "an empty key path names no property")
        }
        var current = entity
        for (position, name) in path.enumerated() {
            let isLast = position == path.count - 1
            if let slot = current.slot(named: isLast ? name : path[position...].joined(separator: ".")) {
                guard !slot.isTransient else {
                    throw .invalidFetch(
                        entity: entity.name,
                        reason: "\(path.joined(separator: ".")) is transient; the store does not know its values")
                }
                return
            }
            guard let relationship = current.relationship(named: name) else {
                throw .invalidFetch(entity: entity.name, reason: "\(current.name) has no property \(name)")
            }
            guard !relationship.isToMany else {
                throw .invalidFetch(
                    entity: entity.name,
                    reason:
                        "\(path.joined(separator: ".")): \(name) leads to many objects; a comparison needs one value")
            }
            current = model.destination(of: relationship)
        }
    }

    // MARK: Rows and objects

    private func storeBatch(_ plan: FetchPlan) throws(PersistenceError) -> RowBatch {
        let stamp = coordinator.rowCache.stamp
        let known = knownRows(entityIndex: plan.entityIndex)
        let batch = try store { () throws(StoreError) in try coordinator.store.fetch(plan, known: known) }
        coordinator.rowCache.add(batch, rootIndex: model.entities[plan.entityIndex].rootIndex, stamp: stamp)
        return batch
    }

    /// What the parent shows, or the store has.
    private func sourceBatch(_ plan: FetchPlan) throws(PersistenceError) -> RowBatch {
        guard let parent else { return try storeBatch(plan) }
        let objects = try parent.effectiveObjects(plan)
        // A hook that ran meanwhile may have made a fault of one.
        for object in objects where object.isFault { try parent.load(object) }
        return RowBatch(objects.map(\.sharedRow))
    }

    /// Whether unsaved changes of this context may change the answer.
    private func needsOverlay(_ plan: FetchPlan) -> Bool {
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

    /// The objects of a plan as this context sees them.
    private func effectiveObjects(_ plan: FetchPlan) throws(PersistenceError) -> [ManagedObject] {
        try settleClearings()
        guard needsOverlay(plan) else { return try materialize(sourceBatch(plan)) }
        let entity = model.entities[plan.entityIndex]
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
        var objects = try materialize(sourceBatch(wider))
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
        sort(&objects, by: plan.sorts)
        let rest = objects.dropFirst(plan.offset)
        return Array(plan.limit.map { rest.prefix($0) } ?? rest)
    }

    private func sort(_ objects: inout [ManagedObject], by sorts: [FetchSort]) {
        let keyed = objects.map { object in (object, sorts.map { ObjectSource(object: object).value(at: $0.keyPath) }) }
        objects = keyed.sorted { a, b in
            for (index, sort) in sorts.enumerated() {
                switch ValueComparison.sortOrder(a.1[index], b.1[index], sort.options) {
                case .orderedSame: continue
                case .orderedAscending: return sort.ascending
                case .orderedDescending: return !sort.ascending
                }
            }
            return a.0.key < b.0.key
        }.map(\.0)
    }
}

extension FetchPlan {
    /// All paths that the condition and the order look at.
    var keyPaths: [[String]] { (predicate?.keyPaths ?? []) + sorts.map(\.keyPath) }

    /// The entities that paths end at or lead through; with `ends`, those of relationships at the end of a path, too.
    func relatedEntityIndexes(in model: ManagedObjectModel, ends: Bool = false) -> Set<Int> {
        var result: Set<Int> = []
        for path in keyPaths {
            var current = model.entities[entityIndex]
            for name in ends ? path[...] : path.dropLast() {
                guard let relationship = current.relationship(named: name) else { break }
                current = model.destination(of: relationship)
                result.insert(current.index)
            }
        }
        return result
    }

    func entityIndexes(in model: ManagedObjectModel) -> Set<Int> {
        relatedEntityIndexes(in: model).union([entityIndex])
    }
}
