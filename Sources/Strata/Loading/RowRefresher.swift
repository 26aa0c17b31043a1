import StrataStore

/// Gives objects newer rows, and keeps their changes on top.
struct RowRefresher {
    let core: ContextCore

    /// Which of the objects that the context has take the newer rows that a fetch reads.
    enum Extent {
        case none
        /// All, but one that has a conflict with its newer row still meets that when it is saved.
        case keepingConflicts
        /// All, as ``ManagedObjectContext/refresh(_:mergingChanges:)`` would give them.
        case all
    }

    /// The objects of rows that were read.
    /// - Parameters:
    ///   - prefetched: The result of the request that gave them, if it was made ahead of time.
    ///   - refreshing: Which objects that the context has take newer rows.
    func objects(of rows: RowBatch, _ prefetched: PrefetchedResult? = nil, refreshing: Extent) -> [ManagedObject] {
        if let prefetched, let told = prefetched.plan.toldSlots {
            return objects(of: rows, told, of: prefetched.plan.entityIndex, refreshing: refreshing)
        }
        guard refreshing != .none else { return core.factory.materialize(rows) }
        // Only objects that are kept alive until then can be told apart from those that the rows bring.
        var held: [ManagedObject] = []
        for index in 0..<rows.count {
            let row = rows[index]
            guard let known = core.object(row.row.entityIndex, row.row.key),
                known.binding.entity.index == row.row.entityIndex,
                known.flags.isDisjoint(with: [.fault, .missing, .inserted])
            else { continue }
            held.append(known)
            // The store sends only the headers of rows that the context has; members may have changed all the same.
            if row.row.isHeaderOnly {
                known.forgetLoadedMembers()
            } else {
                takeNewer(refreshing == .all ? row : known.keepingConflicts(with: row), known)
            }
        }
        let objects = withExtendedLifetime(held) { core.factory.materialize(rows) }
        core.oneToOneRepair.repairAll()
        return objects
    }

    /// Gives an object a row that is newer than its own, and keeps its changes on top. Its members are loaded again.
    func takeNewer(_ reference: RowReference, _ object: ManagedObject) {
        // Copies of the store show no less than the context has read, so an older row would be a mistake.
        guard core.replica == nil || reference.row.version >= object.version else { return }
        take(reference, object)
        object.forgetLoadedMembers()
    }

    /// Gives an object another row, and keeps its changes on top. The other ends of to-one relationships that lead elsewhere
    /// now are loaded again. The object may have missed rows in between, so only its own row tells which lists showed it.
    func take(_ reference: RowReference, _ object: ManagedObject) {
        let before = object.sharedRow
        object.takeSnapshot(reference)
        core.unloading.owners(from: before.row, to: object.row, object.binding)
    }

    /// Reads the row of an object now, and keeps its changes on top.
    func reread(_ object: ManagedObject) throws(PersistenceError) {
        core.rowCache.invalidate([object.key], rootIndex: object.binding.entity.rootIndex)
        let rows = try core.rows.rows(entityIndex: object.binding.entity.index, keys: [object.key])
        guard let row = rows.first else { return core.merger.noteDeletedElsewhere(object) }
        // The store has forgotten all but the key.
        guard !row.row.isHeaderOnly else { return }
        guard object.isFault else { return takeNewer(row, object) }
        object.fill(row)
        // A fault may have loaded and changed its relationships.
        object.forgetLoadedMembers()
    }

    /// The objects of some rows whose entity is known: those that the context has, faults for the others. Touching one
    /// reads the rows of all.
    func faults(_ identities: some Collection<RowIdentity>) -> [ManagedObject] {
        let map = core.identityMap
        // An object that was new when it was found may have become a row of another key since.
        let keys =
            map.aliases.isEmpty ? identities.map(\.key) : identities.map { map.key(of: core.objectID($0)) }
        let batch = keys.count > 1 ? FaultBatch(keys: keys) : nil
        var sources: [Int: RowSource] = [:]
        return zip(identities, keys).map { identity, key in
            let binding = core.binding(at: identity.entityIndex)
            if let known = core.object(identity.entityIndex, key) {
                if known.binding === binding {
                    if let batch, known.isFault { known.join(batch) }
                    return known
                }
                // It was created for an ID of another entity of the hierarchy, of which there is no such object.
                known.markMissing()
                map.detach(known)
            }
            let source =
                sources[identity.entityIndex]
                ?? core.factory.makeSource(binding, slab: binding.emptyRow.slab, batch: batch)
            sources[identity.entityIndex] = source
            return core.factory.makeFault(key: key, binding: binding, source: source)
        }
    }
}

extension ManagedObject {
    /// A newer row as the object takes it without losing a conflict: what was assigned here and changed by others stays as the
    /// object read it, and so does the version. The next save of the object then finds the conflict in just these properties.
    fileprivate final func keepingConflicts(with newer: RowReference) -> RowReference {
        guard hasChanges, newer.row.version != version else { return newer }
        let read = changes?.snapshot ?? RowReference(slab: slab, row: row)
        let layout = binding.entity.slots
        let operations = operations
        let conflicting = storedChanges.filter { slot in
            let storage = layout[slot].storage
            return operations[slot] == nil && !newer.row.hasSameValue(as: read.row, slot: slot, storage: storage)
                && !newer.row.hasSameValue(as: row, slot: slot, storage: storage)
        }
        if conflicting.isEmpty, !flags.contains(.deleted) { return newer }
        var mixed = RowSlab.copy(of: newer.row, room: 64)
        for slot in conflicting { RowEditing.copySlot(slot, layout: layout, from: read.row, to: &mixed) }
        RowEditing.setVersion(version, in: mixed)
        return RowReference(slab: mixed, row: mixed.row)
    }
}

extension ContextCore {
    var refresher: RowRefresher { RowRefresher(core: self) }
}
