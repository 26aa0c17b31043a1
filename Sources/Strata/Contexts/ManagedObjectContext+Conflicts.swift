// Three-way merging: the snapshot that was read, the object in memory, the row in the store now.

extension ManagedObjectContext {
    /// Brings the changes into a state that the next attempt can write, by the merge policy.
    func resolve(_ conflicts: [StoreConflict]) throws(PersistenceError) {
        guard mergePolicy != .error else { throw .conflicts(conflicts.map(describe)) }
        var unsettled: [(object: ManagedObject, keys: [Int: Set<Int64>])] = []
        for conflict in conflicts {
            guard let object = tables[conflict.entityIndex].object(conflict.key) else { continue }
            switch conflict.reason {
            case .version:
                let rows = [object.row, object.changes?.snapshot?.row, conflict.storeRow?.row].compactMap(\.self)
                unsettled.append((object, oneToOneKeys(rows, object.binding)))
                resolveVersion(object, storeRow: conflict.storeRow)
            case .unique(let slots): try resolveUnique(object, conflict, slots)
            }
        }
        for entry in unsettled { try settleOneToOnes(of: entry.object, entry.keys) }
    }

    // MARK: Versions

    private func resolveVersion(_ object: ManagedObject, storeRow: RowReference?) {
        let keepsMemory = mergePolicy == .objectWinsByProperty || mergePolicy == .overwrite
        guard let storeRow else {
            if keepsMemory {
                // Deleted in the store: made again with the same ID.
                object.flags.remove([.updated, .gone])
                object.flags.insert(.inserted)
                // No version of the deleted row may come back, or others who have read that one would not notice.
                object.someExtras.firstVersion = ((object.version >> 32) + 1) << 32
                object.changes = nil
                object.setRowVersion(0)
                object.forgetLoadedMembers()
                unloadPairs(with: [object])
            } else {
                object.flags.remove([.updated, .listed])
                changedObjects.removeAll { $0 === object }
                dropPairs(of: object)
                unloadOwners(of: object.row, object.binding)
                object.markMissing()
            }
            return
        }
        if object.flags.contains(.deleted) {
            if keepsMemory {
                object.changes = ChangeRecord(snapshot: storeRow)
            } else {
                object.flags.remove([.deleted, .updated])
                object.forgetMembers()
                object.mutatingAll { object.fill(storeRow, isAwakening: isAwakening) }
                unloadOwners(of: object.row, object.binding)
                unloadPairs(with: [object])
            }
            return
        }
        mergeRow(storeRow, into: object)
    }

    /// Gives an object the row that the policy makes of snapshot, memory and store.
    private func mergeRow(_ storeRow: RowReference, into object: ManagedObject) {
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
            func differ(_ a: RowReference, _ b: RowReference) -> Bool {
                !a.row.hasSameValue(as: b.row, slot: index, storage: slot.storage)
            }
            let keepsMemory =
                switch mergePolicy {
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
            object.flags.insert(.ownsRow)
        }
        if mergePolicy == .rollback {
            dropPairs(of: object)
        }
        for (slot, relationship) in object.binding.toOnes
        where !memory.row.hasSameValue(as: merged.row, slot: slot, storage: .key) {
            unloadOwner(memory.row, slot, relationship)
            unloadOwner(merged.row, slot, relationship)
        }
    }

    /// Forgets the members of the relationships that lead back from a row's targets, so that they are loaded again.
    func unloadOwners(of row: RowPointer, _ binding: EntityBinding) {
        for (slot, relationship) in binding.toOnes { unloadOwner(row, slot, relationship) }
    }

    func unloadOwner(_ row: RowPointer, _ slot: Int, _ relationship: RelationshipDescription) {
        guard row.isPresent(slot), let index = model.inverse(of: relationship)?.toManyIndex,
            let owner = tables[relationship.destinationIndex].object(Int64(bitPattern: row.word(slot)))
        else { return }
        unloadMembers(of: owner, index)
    }

    /// Forgets loaded members, but not what is pending, nor an order that the application made.
    func unloadMembers(of owner: ManagedObject, _ index: Int) {
        guard let state = owner.extras?.toMany(index), state.members != nil, !owner.isInserted else { return }
        owner.mutating(owner.observerIndex(toMany: index)) { state.forgetLoaded() }
    }

    // MARK: Unique constraints

    private func resolveUnique(
        _ object: ManagedObject, _ conflict: StoreConflict, _ slots: [Int]
    ) throws(PersistenceError) {
        let table = tables[conflict.entityIndex]
        guard object.isInserted else {
            // An object that has a row of its own cannot become another one: take its key values back, or give up.
            guard mergePolicy == .storeWinsByProperty || mergePolicy == .rollback,
                let snapshot = object.changes?.snapshot
            else {
                throw .conflicts([describe(conflict)])
            }
            for slot in slots {
                object.beginWrite(slot)
                RowEditing.copySlot(slot, layout: object.layout, from: snapshot.row, to: &object.slab)
                object.row = object.slab.row
                object.endWrite(slot)
            }
            return
        }
        let otherKey = conflict.storeRow?.row.key ?? conflict.otherKey ?? object.key
        guard otherKey != object.key else { throw .conflicts([describe(conflict)]) }
        let winning = winningSlots(of: object)
        if let survivor = table.object(otherKey) {
            absorb(object, into: survivor, winning)
        } else if let row = conflict.storeRow {
            guard row.row.entityIndex == object.binding.entity.index else { throw .conflicts([describe(conflict)]) }
            become(row, object, winning)
        } else {
            throw .conflicts([describe(conflict)])
        }
    }

    /// The slots of a new object that are to be written to the row that has its key.
    private func winningSlots(of object: ManagedObject) -> [Int] {
        let slots = object.binding.entity.slots
        return switch mergePolicy {
        case .objectWinsByProperty:
            slots.filter {
                $0.isStored
                    && !object.row.hasSameValue(as: object.binding.defaultRow.row, slot: $0.index, storage: $0.storage)
            }.map(\.index)
        case .overwrite: slots.filter(\.isStored).map(\.index)
        case .error, .storeWinsByProperty, .rollback: []
        }
    }

    /// The new object becomes the object of a row that the context did not know.
    private func become(_ storeRow: RowReference, _ object: ManagedObject, _ winning: [Int]) {
        let table = tables[object.binding.entity.index]
        let oldKey = object.key
        let memory = RowReference(slab: object.slab, row: object.row)
        aliases[object.objectID] = storeRow.row.key
        table.remove(object, key: oldKey)
        object.key = storeRow.row.key
        table.insert(object, key: object.key)
        object.flags.remove(.inserted)
        object.flags.insert([.updated, .ownsRow])
        object.changes = ChangeRecord(slots: SlotSet(winning), snapshot: storeRow)
        object.slab = RowSlab.copy(of: storeRow.row, room: 64)
        for slot in winning {
            RowEditing.copySlot(slot, layout: object.layout, from: memory.row, to: &object.slab)
        }
        object.row = object.slab.row
        object.forgetLoadedMembers()
        redirect(from: oldKey, to: object, replacing: object)
    }

    /// The new object goes; the one that the context has for the row lives on.
    private func absorb(_ object: ManagedObject, into survivor: ManagedObject, _ winning: [Int]) {
        if survivor.isFault { fire(survivor) }
        for slot in winning where slot < survivor.binding.entity.slots.count {
            survivor.beginWrite(slot)
            RowEditing.copySlot(slot, layout: survivor.layout, from: object.row, to: &survivor.slab)
            survivor.row = survivor.slab.row
            survivor.endWrite(slot)
        }
        for (slot, relationship) in object.binding.toOnes { unloadOwner(object.row, slot, relationship) }
        for (index, state) in (object.extras?.toManys ?? []).enumerated() {
            guard let state, index < survivor.binding.entity.toManyIndexes.count else { continue }
            for member in state.added.values { survivor.add(member, toMany: index) }
        }
        redirect(from: object.key, to: survivor, replacing: object)
        changedObjects.removeAll { $0 === object }
        aliases[object.objectID] = survivor.key
        object.mutatingAll {
            object.flags.remove([.inserted, .listed])
            object.flags.insert(.missing)
            object.someExtras.survivor = survivor.objectID
        }
        detach(object)
    }

    /// Leads the pending relationships that led to a key to another object.
    private func redirect(from oldKey: Int64, to survivor: ManagedObject, replacing old: ManagedObject) {
        let root = survivor.binding.entity.rootIndex
        for object in changedObjects where !object.flags.contains(.deleted) {
            for (slot, relationship) in object.binding.toOnes
            where model.entities[relationship.destinationIndex].rootIndex == root && object.targetKey(slot) == oldKey {
                object.writeTargetKey(survivor.key, slot)
            }
            for (index, state) in (object.extras?.toManys ?? []).enumerated() {
                guard let state, model.entities[object.relationship(toMany: index).destinationIndex].rootIndex == root
                else { continue }
                if state.added.removeValue(forKey: oldKey) != nil { state.added[survivor.key] = survivor }
                if old !== survivor {
                    state.appended = state.appended.map { $0 === old ? survivor : $0 }
                    if state.members?.remove(old) == true { _ = state.members?.insert(survivor) }
                }
            }
        }
    }

    // MARK: Description

    func describe(_ conflict: StoreConflict) -> MergeConflict {
        let entity = model.entities[conflict.entityIndex]
        let identifier = coordinator.store.identifier
        let object = tables[conflict.entityIndex].object(conflict.key)
        let id = object?.objectID ?? ObjectID(entity: entity, key: conflict.key, storeIdentifier: identifier)
        if case .unique(let slots) = conflict.reason {
            let other = ObjectID(
                entity: entity, key: conflict.storeRow?.row.key ?? conflict.otherKey ?? conflict.key,
                storeIdentifier: identifier)
            return MergeConflict(
                objectID: id, reason: .unique(properties: slots.map { entity.slots[$0].name }, other: other),
                properties: [])
        }
        guard let store = conflict.storeRow else {
            return MergeConflict(objectID: id, reason: .deletedInStore, properties: [])
        }
        var properties: [(name: String, snapshot: Value, memory: Value, store: Value)] = []
        if let object, let snapshot = object.changes?.snapshot, !object.flags.contains(.deleted) {
            for slot in object.storedChanges {
                let description = object.binding.entity.slots[slot]
                guard !store.row.hasSameValue(as: snapshot.row, slot: slot, storage: description.storage) else {
                    continue
                }
                properties.append(
                    (
                        description.name, snapshot.row.value(description), object.row.value(description),
                        store.row.value(description)
                    ))
            }
        }
        return MergeConflict(objectID: id, reason: .changedInStore, properties: properties)
    }
}

extension ManagedObject {
    /// The object that lives on in the place of this one, after a unique constraint made the two one; see
    /// ``MergePolicy``.
    public final var survivor: ObjectID? { extras?.survivor }
}
