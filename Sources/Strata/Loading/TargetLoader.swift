/// Finds the targets of to-one relationships: always for a whole batch.
struct TargetLoader {
    let core: ContextCore

    /// The object of a key in a to-one slot. If the context does not know it, faults are created for the targets of the
    /// whole batch, so that they are filled together.
    /// - Parameter onLoad: Called after the store was asked, with the number of objects that it was asked for.
    func target(
        _ key: Int64, of relationship: RelationshipDescription, from object: ManagedObject, slot: Int,
        onLoad: (Int) -> Void = { _ in }
    ) throws(PersistenceError) -> ManagedObject? {
        let table = core.identityMap.table(relationship.destinationIndex)
        if let known = table.object(key) { return known }
        let keys = missingTargets(key, of: relationship, from: object, slot: slot)
        let rootIndex = core.rootIndex(of: relationship.destinationIndex)
        if core.isClosed {
            return try core.closedGraph.target(key, among: keys, rootIndex: rootIndex, from: object, onLoad)
        }
        let targets = try makeTargets(keys, destinationIndex: relationship.destinationIndex)
        object.batch?.hold(targets)
        if core.binding(at: relationship.destinationIndex).entity.hasSubentities { onLoad(keys.count) }
        // Most likely the rows that lead to them are older than the delete. The store knows. The next one who asks for a target of
        // another row of the batch finds a fault, and does not ask.
        let doubtful = targets.filter { $0.isFault && core.mayBeDeleted($0.key, rootIndex: rootIndex) }
        if !doubtful.isEmpty { try loadNew(targets, doubtful) }
        return targets.first { $0.key == key }
    }

    /// Loads some of the objects that were made for keys a moment ago. If there are no such objects, that is not a change:
    /// nobody was shown them.
    func loadNew(_ made: [ManagedObject], _ wanted: [ManagedObject]) throws(PersistenceError) {
        for object in made { object.flags.remove(.recorded) }
        defer { for object in made { object.flags.formUnion(core.factory.newFlags) } }
        for object in wanted where object.isFault { try core.faults.load(object) }
    }

    /// As ``target(_:of:from:slot:)``, with its row.
    func loaded(
        _ key: Int64, of relationship: RelationshipDescription, from object: ManagedObject, slot: Int
    ) throws(PersistenceError) -> ManagedObject? {
        let found = try target(key, of: relationship, from: object, slot: slot)
        if let found, found.isFault { try core.faults.load(found) }
        return found
    }

    /// The targets of a relationship of the whole batch of an object that the context does not know, the wanted one first.
    private func missingTargets(
        _ key: Int64, of relationship: RelationshipDescription, from object: ManagedObject, slot: Int
    ) -> [Int64] {
        guard let batch = object.batch else { return [key] }
        let table = core.identityMap.table(relationship.destinationIndex)
        let owners = core.identityMap.table(object.binding.entity.index)
        var keys: [Int64] = [key]
        var seen: Set<Int64> = [key]
        for ownerKey in batch.keys(around: object.key) {
            guard let owner = owners.object(ownerKey), !owner.isFault,
                slot < owner.binding.entity.slots.count,
                owner.relationship(slot: slot)?.hasSameDeclaration(as: relationship) == true,
                let target = owner.targetKey(slot), seen.insert(target).inserted, table.object(target) == nil
            else { continue }
            keys.append(target)
        }
        return keys
    }

    /// Objects for keys that the context does not know: faults, or objects with their rows where only the row tells the
    /// class. Objects without a row are left out then.
    func makeTargets(_ keys: [Int64], destinationIndex: Int) throws(PersistenceError) -> [ManagedObject] {
        guard !keys.isEmpty else { return [] }
        let binding = core.binding(at: destinationIndex)
        let batch = keys.count > 1 ? FaultBatch(keys: keys) : nil
        if !binding.entity.hasSubentities {
            return core.factory.makeFaults(keys: keys, binding: binding, batch: batch)
        }
        var rows = try core.rows.rows(entityIndex: destinationIndex, keys: keys, batch: batch)
        let absent = rows.filter(\.row.isHeaderOnly).map(\.row.key)
        if let network = core.coordinator.network(of: destinationIndex), core.parent == nil, !absent.isEmpty,
            (try? network.prepareRowsNow(entityIndex: destinationIndex, keys: absent.sorted())) != nil
        {
            rows = try core.rows.rows(entityIndex: destinationIndex, keys: keys, batch: batch)
        }
        return rows.map { core.factory.materialize($0, batch: batch) }
    }
}

extension ContextCore {
    var targets: TargetLoader { TargetLoader(core: self) }
}
