/// Reads what relationships of a whole result lead to, as faults would do for one object and its batch.
struct Prefetcher {
    let core: ContextCore

    private var model: ManagedObjectModel { core.model }

    /// The relationships of some paths.
    /// - Throws: As the function for one path.
    func steps(
        of paths: [any PrefetchPath], from entity: EntityDescription
    ) throws(PersistenceError) -> [[RelationshipDescription]] {
        var result: [[RelationshipDescription]] = []
        for path in paths { result.append(try steps(of: path, from: entity)) }
        return result
    }

    /// The relationships of a path.
    /// - Throws: ``PersistenceError/invalidFetch(entity:reason:)`` where a name is not a relationship.
    func steps(of path: any PrefetchPath, from entity: EntityDescription) throws(PersistenceError)
        -> [RelationshipDescription]
    {
        var current = entity
        var result: [RelationshipDescription] = []
        let names = path.prefetchPath
        for name in names {
            guard let relationship = current.relationship(named: name) else {
                let whole = names.joined(separator: ".")
                let reason =
                    current.attribute(named: name) == nil
                    ? "\(current.name) has no relationship \(name)"
                        + Spelling.suggestion(for: name, in: current.relationships.map(\.name))
                    : "\(current.name).\(name) is an attribute, which comes with its object"
                throw .invalidFetch(entity: entity.name, reason: "prefetch of \(whole): \(reason)")
            }
            result.append(relationship)
            current = model.destination(of: relationship)
        }
        return result
    }

    /// Reads what a path leads to, step by step.
    /// - Parameter areAll: Whether these are all objects that there are.
    func prefetch(
        _ steps: [RelationshipDescription], of objects: [ManagedObject], areAll: Bool
    ) throws(PersistenceError) {
        var current = objects
        for (position, step) in steps.enumerated() {
            // Others may have deleted what a relationship leads to.
            current = current.filter { !$0.isDeleted }
            guard let first = current.first else { return }
            core.settings.loads?.notePrefetch(step, first, count: current.count)
            if step.isToMany {
                try prefetchMembers(step, of: current, areAll: areAll && position == 0)
                // Members that a foreign key leads to come with their rows; pairs give keys.
                if position == steps.count - 1, case .inverseSlot = step.storage { return }
                current = try members(step, of: current)
                try core.faults.fill(current)
            } else {
                current = try prefetchTargets(step, of: current)
            }
        }
    }

    private func prefetchMembers(
        _ relationship: RelationshipDescription, of objects: [ManagedObject], areAll: Bool
    ) throws(PersistenceError) {
        guard let index = relationship.toManyIndex else { return }
        var owners: [Int64: ManagedObject] = [:]
        // Those that have loaded it are not read again, and then the others are not all.
        var areAll = areAll
        for object in objects where !object.isInserted {
            if object.extras?.toMany(index)?.members == nil { owners[object.key] = object } else { areAll = false }
        }
        try core.members.load(relationship, of: owners, areAll: areAll)
    }

    /// What a relationship leads to for all of some objects, each once; not necessarily with their rows.
    func ends(
        of step: RelationshipDescription, _ objects: [ManagedObject]
    ) throws(PersistenceError) -> [ManagedObject] {
        guard step.isToMany else { return try prefetchTargets(step, of: objects) }
        try prefetchMembers(step, of: objects, areAll: false)
        return try members(step, of: objects)
    }

    /// All members of some objects, each once.
    private func members(
        _ relationship: RelationshipDescription, of objects: [ManagedObject]
    ) throws(PersistenceError) -> [ManagedObject] {
        guard let index = relationship.toManyIndex else { return [] }
        var seen: Set<ManagedObject> = []
        var result: [ManagedObject] = []
        for object in objects {
            try object.loadedMembers(toMany: index).forEach { if seen.insert($0).inserted { result.append($0) } }
        }
        return result
    }

    private func prefetchTargets(
        _ relationship: RelationshipDescription, of objects: [ManagedObject]
    ) throws(PersistenceError) -> [ManagedObject] {
        guard let slot = relationship.slot else { return [] }
        let table = core.identityMap.table(relationship.destinationIndex)
        var seen: Set<Int64> = []
        var keys: [Int64] = []
        for object in objects {
            if let key = object.targetKey(slot), seen.insert(key).inserted { keys.append(key) }
        }
        keys.sort()
        let made = try core.targets.makeTargets(
            keys.filter { table.object($0) == nil }, destinationIndex: relationship.destinationIndex)
        let targets = withExtendedLifetime(made) { keys.compactMap { table.object($0) } }
        try core.faults.fill(targets)
        // The objects keep the targets, as they keep those of a fault.
        let loners = objects.filter { $0.batch == nil }
        if !loners.isEmpty { FaultBatch.join(loners) }
        var holding: Set<ObjectIdentifier> = []
        for object in objects {
            if let batch = object.batch, holding.insert(ObjectIdentifier(batch)).inserted { batch.hold(targets) }
        }
        return targets
    }
}

extension ContextCore {
    var prefetcher: Prefetcher { Prefetcher(core: self) }
}
