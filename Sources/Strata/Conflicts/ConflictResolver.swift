/// Brings pending changes into a state that the next attempt to save can write, by the merge policy: three-way merging of
/// the snapshot that was read, the object in memory, and the row in the store now.
///
/// One resolver serves one attempt. It collects what gave way to what and updates the rest of the graph once, at the end, so
/// that resolving takes time in proportion to the number of conflicts and of changed objects.
final class ConflictResolver {
    let core: ContextCore
    let policy: MergePolicy
    /// New objects that gave way, by the key that pending relationships refer to them by, for each hierarchy.
    var replacements: [Int: [Int64: Replacement]] = [:]
    /// Objects whose many-to-many relationships may show too much or too little.
    var unsettledPairs: [ManagedObject] = []

    /// Objects whose operations were done again to what others have made of their values.
    private var operated: [ManagedObject] = []

    /// What took the place of a new object.
    struct Replacement {
        let old: ManagedObject
        let survivor: ManagedObject
    }

    init(core: ContextCore) {
        self.core = core
        policy = core.settings.mergePolicy
    }

    var model: ManagedObjectModel { core.model }

    /// Resolves all conflicts of one attempt.
    /// - Throws: ``PersistenceError/conflicts(_:)`` where the policy has no answer; the store's error. The caller puts the
    ///   context back as it was.
    func resolve(_ conflicts: [StoreConflict]) throws(PersistenceError) {
        let description = ConflictDescription(core: core)
        guard policy != .error || conflicts.allSatisfy(concernsOperationsAlone) else {
            throw .conflicts(conflicts.map(description.describe))
        }
        var oneToOnes: [(object: ManagedObject, keys: [Int: Set<Int64>])] = []
        for conflict in conflicts {
            guard let object = core.object(conflict.entityIndex, conflict.key) else { continue }
            switch conflict.reason {
            case .version:
                let rows = [object.row, object.changes?.snapshot?.row, conflict.storeRow?.row].compactMap(\.self)
                oneToOnes.append((object, core.oneToOneRepair.keys(in: rows, object.binding)))
                try resolveVersion(object, storeRow: conflict.storeRow)
            case .unique(let slots): try resolveUnique(object, conflict, slots)
            }
        }
        redirect()
        core.unloading.pairs(with: unsettledPairs)
        for entry in oneToOnes { try core.oneToOneRepair.settle(entry.object, entry.keys) }
        try validateOperated()
    }

    /// Whether nothing but operations was done to the object of a conflict, which can be done to any value.
    private func concernsOperationsAlone(_ conflict: StoreConflict) -> Bool {
        guard case .version = conflict.reason, conflict.storeRow != nil,
            let object = core.object(conflict.entityIndex, conflict.key), object.flags.contains(.operated),
            !object.flags.contains(.deleted)
        else { return false }
        let operations = object.operations
        let slots = object.binding.entity.slots
        return object.storedChanges.allSatisfy { operations[$0] != nil || slots[$0].derivation != nil }
    }

    /// The rules were checked before others had changed the values, and neither side has seen the sum of both.
    private func validateOperated() throws(PersistenceError) {
        var failures: [ValidationFailure] = []
        for object in operated where object.hasChanges && !object.flags.contains(.deleted) {
            object.collectFailures(&failures)
        }
        guard failures.isEmpty else { throw .validation(ValidationError(failures)) }
    }

    /// Whether the policy prefers the object in memory to the row in the store.
    var keepsMemory: Bool { policy == .objectWinsByProperty || policy == .overwrite }

    // MARK: Versions

    private func resolveVersion(_ object: ManagedObject, storeRow: RowReference?) throws(PersistenceError) {
        guard let storeRow else { return resolveDeleted(object) }
        guard object.flags.contains(.deleted) else { return try mergeRow(storeRow, into: object) }
        if keepsMemory {
            object.changes = ChangeRecord(snapshot: storeRow)
        } else {
            // Deleted here, changed there: it comes back.
            core.tracker.willChange(object)
            object.flags.remove([.deleted, .updated])
            object.forgetMembers()
            object.mutatingAll { object.fill(storeRow) }
            core.unloading.owners(of: object.row, object.binding)
            unsettledPairs.append(object)
        }
    }

    /// The row was deleted in the store.
    private func resolveDeleted(_ object: ManagedObject) {
        guard keepsMemory else {
            object.flags.remove(.updated)
            core.tracker.remove(object)
            core.unloading.pendingPairs(of: object)
            core.unloading.owners(of: object.row, object.binding)
            return object.markMissing()
        }
        // Inserted again with the same ID.
        object.flags.remove([.updated, .deletedElsewhere])
        object.flags.insert(.inserted)
        // No version of the deleted row may come back, or those who have read that one would not notice.
        object.someExtras.firstVersion = ((object.version >> 32) &+ 1) << 32
        object.changes = nil
        object.setRowVersion(0)
        object.forgetLoadedMembers()
        unsettledPairs.append(object)
    }

    /// Gives an object the row that the policy makes of snapshot, memory and store. Operations are done again to what the
    /// store has, under every policy.
    private func mergeRow(_ storeRow: RowReference, into object: ManagedObject) throws(PersistenceError) {
        let operations = object.operations
        let slots = object.binding.entity.slots
        let memory = RowReference(slab: object.slab, row: object.row)
        let snapshot = object.changes?.snapshot ?? storeRow
        var merged = RowSlab.copy(of: storeRow.row, room: 64)
        var record = ChangeRecord(snapshot: storeRow)
        for slot in slots {
            let index = slot.index
            guard slot.isStored else {
                if slot.isTransient { RowEditing.copySlot(index, layout: slots, from: memory.row, to: &merged) }
                continue
            }
            if let done = operations[index] {
                guard done.apply(to: storeRow.row, slot, layout: slots, in: &merged) else {
                    throw object.inapplicable(slot, to: storeRow.row)
                }
                record.slots.insert(index)
                continue
            }
            func differ(_ a: RowReference, _ b: RowReference) -> Bool {
                !a.row.hasSameValue(as: b.row, slot: index, storage: slot.storage)
            }
            let keepsMemory =
                switch policy {
                case .error, .rollback: false
                case .overwrite: true
                case .objectWinsByProperty: differ(memory, snapshot)
                case .storeWinsByProperty: differ(memory, snapshot) && !differ(storeRow, snapshot)
                }
            if keepsMemory, differ(memory, storeRow) {
                RowEditing.copySlot(index, layout: slots, from: memory.row, to: &merged)
                record.slots.insert(index)
            }
        }
        object.mutatingAll {
            object.slab = merged
            object.row = merged.row
            object.changes = record
            object.operations = operations
            object.flags.insert(.ownsRow)
        }
        if !operations.isEmpty { operated.append(object) }
        if policy == .rollback { core.unloading.pendingPairs(of: object) }
        core.unloading.owners(from: memory.row, to: merged.row, object.binding)
    }
}
