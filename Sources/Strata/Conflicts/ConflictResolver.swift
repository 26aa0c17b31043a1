import StrataStore

/// Brings pending changes into a state that the next attempt to save can write, by the merge policy: three-way merging of
/// the snapshot that was read, the object in memory, and the row in the store now.
///
/// One resolver serves one attempt. It collects what gave way to what and updates the rest of the graph once, at the end, so
/// that resolving takes time in proportion to the number of conflicts and of changed objects.
final class ConflictResolver {
    let core: ContextCore
    private let rules: MergeRules
    /// New objects that gave way, by the key that pending relationships refer to them by, for each hierarchy.
    var replacements: [Int: [Int64: Replacement]] = [:]
    /// Objects whose many-to-many relationships may show too much or too little.
    var unsettledPairs: [ManagedObject] = []
    /// Objects with values that nobody has validated: those that the application has decided for, and results of operations
    /// that were done again to what others have saved.
    private var unvalidated: [ManagedObject] = []

    /// What took the place of a new object.
    struct Replacement {
        let old: ManagedObject
        let survivor: ManagedObject
    }

    init(core: ContextCore) {
        self.core = core
        rules = core.settings.merging
    }

    var model: ManagedObjectModel { core.model }

    /// Resolves all conflicts of one attempt.
    /// - Throws: ``PersistenceError/conflicts(_:)`` where the policy has no answer; the store's error. The caller puts the
    ///   context back as it was.
    func resolve(_ conflicts: [StoreConflict]) throws(PersistenceError) {
        let refused = conflicts.filter(isRefused)
        guard refused.isEmpty else { throw .conflicts(refused.map(ConflictDescription(core: core).describe)) }
        var oneToOnes: [(object: ManagedObject, keys: [Int: Set<Int64>])] = []
        for conflict in conflicts {
            if case .version = conflict.reason { core.saves.checks.forget(conflict) }
            guard let object = core.object(conflict.entityIndex, conflict.key) else { continue }
            switch conflict.reason {
            case .version:
                let rows = [object.row, object.changes?.snapshot?.row, conflict.storeRow?.row].compactMap(\.self)
                oneToOnes.append((object, core.oneToOneRepair.keys(in: rows, object.binding)))
                try resolveVersion(object, conflict)
            case .unique(let slots): try resolveUnique(object, conflict, slots)
            }
        }
        redirect()
        core.unloading.pairs(with: unsettledPairs)
        for entry in oneToOnes { try core.oneToOneRepair.settle(entry.object, entry.keys) }
        try validate()
    }

    private func validate() throws(PersistenceError) {
        var failures: [ValidationFailure] = []
        for object in unvalidated where object.hasChanges && !object.flags.contains(.deleted) {
            object.collectFailures(&failures)
        }
        guard failures.isEmpty else { throw .validation(ValidationError(failures)) }
    }

    /// The policy that applies to an object.
    func policy(of object: ManagedObject) -> MergePolicy { rules.policy(for: object.binding.entity, in: model) }

    /// Whether a conflict ends the save: by the policy, unless single properties can be decided.
    private func isRefused(_ conflict: StoreConflict) -> Bool {
        guard rules.policy(for: model.entities[conflict.entityIndex], in: model) == .error else { return false }
        guard case .version = conflict.reason, conflict.storeRow != nil,
            let object = core.object(conflict.entityIndex, conflict.key), !object.flags.contains(.deleted)
        else { return true }
        if rules.decide != nil { return object.storedChanges.isEmpty }
        return !onlyOperates(object)
    }

    /// Whether nothing but operations was done to an object, which can be done to any value, and nobody has asked that others
    /// do not change it.
    private func onlyOperates(_ object: ManagedObject) -> Bool {
        guard object.flags.contains(.operated), !core.saves.checks.contains(object) else { return false }
        let operations = object.operations
        let slots = object.binding.entity.slots
        return object.storedChanges.allSatisfy { operations[$0] != nil || slots[$0].derivation != nil }
    }

    /// Whether the policy prefers an object in memory to the row in the store.
    private func keepsMemory(_ object: ManagedObject) -> Bool {
        let policy = policy(of: object)
        return policy == .objectWinsByProperty || policy == .overwrite
    }

    // MARK: Versions

    private func resolveVersion(_ object: ManagedObject, _ conflict: StoreConflict) throws(PersistenceError) {
        guard let storeRow = conflict.storeRow else { return resolveDeleted(object) }
        // Only checked: the row itself is not written.
        guard object.flags.contains(.deleted) || !object.storedChanges.isEmpty else {
            return core.refresher.take(storeRow, object)
        }
        guard object.flags.contains(.deleted) else { return try mergeRow(storeRow, into: object, conflict) }
        if keepsMemory(object) {
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
        guard keepsMemory(object), object.hasChanges else {
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
        // The row may come back under another key: what was changed here then goes on top of it.
        object.changes = ChangeRecord(slots: object.changedSlots, snapshot: nil)
        object.setRowVersion(0)
        object.forgetAllMembers()
        unsettledPairs.append(object)
    }

    /// Gives an object the row that the policy makes of snapshot, memory and store. Operations are done again to what the
    /// store has, under every policy.
    private func mergeRow(
        _ storeRow: RowReference, into object: ManagedObject, _ conflict: StoreConflict
    ) throws(PersistenceError) {
        let policy = policy(of: object)
        let operations = object.operations
        let slots = object.binding.entity.slots
        let memory = RowReference(slab: object.slab, row: object.row)
        let snapshot = object.changes?.snapshot ?? storeRow
        var merged = RowSlab.copy(of: storeRow.row, room: 64)
        var record = ChangeRecord(snapshot: storeRow)
        var hasNewValues = false
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
            var keepsMemory =
                switch policy {
                case .rollback: false
                case .overwrite: true
                case .objectWinsByProperty: differ(memory, snapshot)
                case .storeWinsByProperty, .error: differ(memory, snapshot) && !differ(storeRow, snapshot)
                }
            if policy != .overwrite, policy != .rollback, slot.derivation == nil, differ(memory, snapshot),
                differ(storeRow, snapshot), differ(memory, storeRow)
            {
                switch decide(slot, of: object, snapshot, memory, storeRow) {
                case .memory: keepsMemory = true
                case .store: keepsMemory = false
                case .policy:
                    guard policy != .error else {
                        throw .conflicts([ConflictDescription(core: core).describe(conflict)])
                    }
                case .value(let value):
                    try write(value, slot, of: object, to: &merged)
                    record.slots.insert(index)
                    hasNewValues = true
                    continue
                }
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
        core.recorder?.noteStored(object, since: memory, besides: record.slots)
        if hasNewValues || !operations.isEmpty { unvalidated.append(object) }
        if policy == .rollback { core.unloading.pendingPairs(of: object) }
        core.unloading.owners(from: memory.row, to: merged.row, object.binding)
    }

    /// Asks the application about a property that both sides changed.
    private func decide(
        _ slot: SlotDescription, of object: ManagedObject, _ snapshot: RowReference, _ memory: RowReference,
        _ store: RowReference
    ) -> PropertyConflict.Resolution {
        guard let decide = rules.decide else { return .policy }
        return decide(
            PropertyConflict(
                objectID: object.objectID, propertyName: slot.name, snapshot: snapshot.row.value(slot),
                memory: memory.row.value(slot), store: store.row.value(slot)))
    }

    /// Writes a value that the application has decided for.
    private func write(
        _ value: Value, _ slot: SlotDescription, of object: ManagedObject, to slab: inout RowSlab
    ) throws(PersistenceError) {
        let entity = object.binding.entity
        guard slot.relationshipIndex == nil else {
            throw .wrongType(
                entity: entity.name, property: slot.name, expected: "the target of one side, .memory or .store",
                value: "\(value)")
        }
        guard RowEditing.setValue(value, slot, layout: entity.slots, in: &slab) else {
            throw .wrongType(
                entity: entity.name, property: slot.name, expected: slot.type.map { "\($0)" } ?? "another type",
                value: "\(value)")
        }
    }
}
