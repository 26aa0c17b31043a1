import StrataStore

// Unique constraints: a new object has the key values of a row that exists.

extension ConflictResolver {
    func resolveUnique(
        _ object: ManagedObject, _ conflict: StoreConflict, _ slots: [Int]
    ) throws(PersistenceError) {
        func refused() -> PersistenceError { .conflicts([ConflictDescription(core: core).describe(conflict)]) }
        guard object.isInserted else {
            // An object that has a row of its own cannot become another one: take its key values back, or give up.
            let policy = policy(of: object)
            guard policy == .storeWinsByProperty || policy == .rollback, let snapshot = object.changes?.snapshot else {
                throw refused()
            }
            for slot in slots { object.writeSlot(slot, from: snapshot.row) }
            return
        }
        let otherKey = conflict.storeRow?.row.key ?? conflict.otherKey ?? object.key
        guard otherKey != object.key else { throw refused() }
        let winning = winningSlots(of: object)
        if let survivor = core.object(conflict.entityIndex, otherKey) {
            if survivor.isFault { try core.faults.load(survivor) }
            absorb(object, into: survivor, winning)
        } else if let row = conflict.storeRow, row.row.entityIndex == object.binding.entity.index {
            become(row, object, winning)
        } else {
            throw refused()
        }
    }

    /// The slots of a new object that are to be written to the row that has its key: those that were assigned, whatever
    /// the value. A primary key stays as it is in the store: a server may have given the object another one.
    private func winningSlots(of object: ManagedObject) -> SlotSet {
        var slots: SlotSet
        switch policy(of: object) {
        case .objectWinsByProperty: slots = object.changedSlots.intersection(object.binding.storedSlots)
        case .overwrite: slots = object.binding.storedSlots
        case .error, .storeWinsByProperty, .rollback: return SlotSet()
        }
        let entity = object.binding.entity
        if let name = entity.primaryKeyField, let slot = entity.attribute(named: name)?.slots.first {
            slots.remove(slot)
        }
        return slots
    }

    /// The new object becomes the object of a row that the context did not know.
    private func become(_ storeRow: RowReference, _ object: ManagedObject, _ winning: SlotSet) {
        let oldKey = object.key
        let memory = RowReference(slab: object.slab, row: object.row)
        core.tracker.willChange(object)
        core.identityMap.rekey(object, to: storeRow.row.key)
        object.flags.remove(.inserted)
        object.flags.insert([.updated, .ownsRow])
        object.changes = ChangeRecord(slots: winning, snapshot: storeRow)
        object.slab = RowSlab.copy(of: storeRow.row, room: 64)
        let slots = object.layout
        for slot in winning
        where !memory.row.hasSameValue(as: storeRow.row, slot: slot, storage: slots[slot].storage) {
            RowEditing.copySlot(slot, layout: slots, from: memory.row, to: &object.slab)
        }
        object.row = object.slab.row
        object.forgetLoadedMembers()
        noteReplacement(oldKey, of: object, by: object)
    }

    /// The new object is removed; the one that the context has for the row survives.
    private func absorb(_ object: ManagedObject, into survivor: ManagedObject, _ winning: SlotSet) {
        for slot in winning where slot < survivor.binding.entity.slots.count {
            survivor.writeSlot(slot, from: object.row)
        }
        giveWay(object, to: survivor)
    }

    /// Takes the place of a new object by one that exists, which is given the values that were assigned to the new one.
    /// - Returns: Whether that changed it.
    func merge(_ object: ManagedObject, into survivor: ManagedObject) -> Bool {
        var isChanged = false
        let slots = survivor.binding.entity.slots
        for slot in object.changedSlots where slot < slots.count && slots[slot].isStored {
            guard !survivor.row.hasSameValue(as: object.row, slot: slot, storage: slots[slot].storage) else { continue }
            core.unloading.members(ledBackFrom: survivor, slot)
            survivor.writeSlot(slot, from: object.row)
            isChanged = true
        }
        if object.hasToManyChanges { isChanged = true }
        giveWay(object, to: survivor)
        return isChanged
    }

    private func giveWay(_ object: ManagedObject, to survivor: ManagedObject) {
        for (slot, relationship) in object.binding.toOnes { core.unloading.owner(object.row, slot, relationship) }
        for (index, state) in (object.extras?.toManys ?? []).enumerated() {
            guard let state, index < survivor.binding.entity.toManyIndexes.count else { continue }
            for member in state.added.values {
                core.unresolved.perform(on: survivor) { (core) throws(PersistenceError) in
                    try core.inverses.add(member, to: survivor, index)
                }
            }
            // The row may have them: the server has carried out what a lost answer was about, for instance.
            for member in state.removed.values where !member.flags.contains(.deleted) {
                core.unresolved.perform(on: survivor) { (core) throws(PersistenceError) in
                    try core.inverses.remove(member, from: survivor, index)
                }
            }
        }
        noteReplacement(object.key, of: object, by: survivor)
        core.tracker.remove(object)
        core.identityMap.noteAlias(object, to: survivor.key)
        object.mutatingAll {
            object.flags.remove(.inserted)
            object.flags.insert(.missing)
            object.someExtras.survivor = survivor.objectID
        }
        core.identityMap.detach(object)
    }

    private func noteReplacement(_ oldKey: Int64, of old: ManagedObject, by survivor: ManagedObject) {
        let root = survivor.binding.entity.rootIndex
        replacements[root, default: [:]][oldKey] = Replacement(old: old, survivor: survivor)
    }

    /// Leads the pending relationships that led to objects which gave way to those that survived.
    func redirect() {
        guard !replacements.isEmpty else { return }
        for object in core.tracker.objects where !object.flags.contains(.deleted) {
            for (slot, relationship) in object.binding.toOnes {
                guard let survivors = replacements[core.rootIndex(of: relationship.destinationIndex)],
                    let key = object.targetKey(slot), let survivor = survivor(of: key, survivors)
                else { continue }
                object.writeTargetKey(survivor.key, slot)
            }
            for (index, state) in (object.extras?.toManys ?? []).enumerated() {
                guard let state else { continue }
                let destination = object.relationship(toMany: index).destinationIndex
                if let survivors = replacements[core.rootIndex(of: destination)] { redirect(state, survivors) }
            }
        }
    }

    private func redirect(_ state: ToManyState, _ survivors: [Int64: Replacement]) {
        for key in Array(state.added.keys) {
            guard let survivor = survivor(of: key, survivors) else { continue }
            state.added[key] = nil
            state.added[survivor.key] = survivor
        }
        for key in Array(state.removed.keys) {
            guard let survivor = survivor(of: key, survivors) else { continue }
            state.removed[key] = nil
            if state.added[survivor.key] == nil { state.removed[survivor.key] = survivor }
        }
        // Objects that became rows are the same objects; only those that were absorbed must be exchanged.
        var exchanged: [ObjectIdentifier: ManagedObject] = [:]
        func exchange(_ object: ManagedObject) -> ManagedObject {
            guard let found = survivors[object.key], found.old === object, found.survivor !== object else {
                return object
            }
            let survivor = survivor(of: object.key, survivors) ?? found.survivor
            exchanged[ObjectIdentifier(object)] = survivor
            return survivor
        }
        if !state.appended.isEmpty { state.replaceAppended(exchange) }
        guard let members = state.members else { return }
        for member in members.objects {
            let survivor = exchange(member)
            guard survivor !== member else { continue }
            _ = members.remove(member)
            members.insert(survivor)
        }
    }

    /// Who is in the place of a key in the end: a survivor may have given way itself.
    private func survivor(of key: Int64, _ survivors: [Int64: Replacement]) -> ManagedObject? {
        guard var found = survivors[key] else { return nil }
        var seen: Set<Int64> = [key]
        while found.survivor.flags.contains(.detached), seen.insert(found.survivor.key).inserted,
            let next = survivors[found.survivor.key]
        {
            found = next
        }
        return found.survivor
    }
}

extension ManagedObject {
    /// The object that took the place of this one, after a unique constraint or an upsert made the two one; see
    /// ``MergePolicy``.
    public final var survivor: ObjectID? { extras?.survivor }
}
