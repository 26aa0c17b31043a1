// What a fetch makes of rows and keys whose objects the context may have.

extension ManagedObjectContext {
    /// The objects of a batch.
    /// - Parameter refreshing: Whether objects that the context has take newer rows, as
    ///   ``refresh(_:mergingChanges:)`` would give them.
    func take(_ batch: RowBatch, refreshing: Bool) -> [ManagedObject] {
        guard refreshing else { return materialize(batch) }
        // Only what is kept alive until then can be told apart from what the batch brings.
        var held: [ManagedObject] = []
        for index in 0..<batch.count {
            let row = batch[index]
            guard let known = tables[row.row.entityIndex].object(row.row.key),
                known.binding.entity.index == row.row.entityIndex,
                known.flags.isDisjoint(with: [.fault, .missing, .inserted])
            else { continue }
            held.append(known)
            // The store sends the headers alone of rows that the context has; members may have changed all the same.
            if row.row.isHeaderOnly { known.forgetLoadedMembers() } else { takeNewer(row, known) }
        }
        let objects = withExtendedLifetime(held) { materialize(batch) }
        mendOneToOnes()
        return objects
    }

    /// Gives an object a row that is newer than its own, and keeps its changes on top.
    func takeNewer(_ reference: RowReference, _ object: ManagedObject) {
        let before = object.sharedRow
        object.takeSnapshot(reference)
        for (slot, relationship) in object.binding.toOnes
        where !before.row.hasSameValue(as: object.row, slot: slot, storage: .key) {
            unloadOwner(before.row, slot, relationship)
            unloadOwner(object.row, slot, relationship)
        }
        object.forgetLoadedMembers()
    }

    /// The objects of some rows whose entity is known: those that the context has, faults for the others. Touching one
    /// reads the rows of all.
    func faults(_ identities: some Collection<RowIdentity>) -> [ManagedObject] {
        // An object that was new when it was found may have become a row of another key since.
        let keys = aliases.isEmpty ? identities.map(\.key) : identities.map { key(of: objectID($0)) }
        let group = keys.count > 1 ? FetchGroup(keys: keys) : nil
        var origins: [Int: ObjectOrigin] = [:]
        return zip(identities, keys).map { identity, key in
            let binding = coordinator.bindings[identity.entityIndex]
            if let known = tables[identity.entityIndex].object(key) {
                if known.binding === binding {
                    if let group, known.isFault { known.join(group) }
                    return known
                }
                // It was made for an ID of another entity of the hierarchy, of which there is no such object.
                known.markMissing()
                detach(known)
            }
            let origin =
                origins[identity.entityIndex] ?? makeOrigin(binding, slab: binding.emptyRow.slab, group: group)
            origins[identity.entityIndex] = origin
            return makeFault(key: key, binding: binding, origin: origin)
        }
    }
}
