extension ManagedObjectContext {
    /// Drops all changes: new objects are forgotten, changed and deleted ones are as they were read or saved last.
    public func rollback() {
        let objects = changedObjects
        changedObjects = []
        for object in objects { object.flags.remove(.listed) }
        for object in objects where !object.flags.contains(.inserted) { object.revert() }
        for object in objects where object.flags.contains(.inserted) {
            object.mutatingAll {
                object.flags.remove(.changed)
                object.flags.insert(.missing)
            }
            detach(object)
        }
    }

    /// Makes an object fresh again.
    /// - Parameters:
    ///   - object: An object of this context. A new one stays as it is.
    ///   - mergingChanges: True reads the row now and keeps the object's changes on top of it. False drops changes and turns the object into a
    ///     fault, which reads at the next touch.
    /// - Throws: The store's error if reading fails; nothing has changed then. An object whose row is gone is ``ManagedObject/isMissing``
    ///   after a refresh, unless it has changes: a save meets a conflict then.
    public func refresh(_ object: ManagedObject, mergingChanges: Bool = true) throws(PersistenceError) {
        guard object.contextReference === self, !object.isInserted, !object.flags.contains(.detached) else { return }
        coordinator.rowCache.invalidate([object.key], rootIndex: object.binding.entity.rootIndex)
        guard mergingChanges else {
            takeBackLinks(of: object)
            object.flags.remove(.changed)
            return object.turnIntoFault()
        }
        let rows = try sourceRows(entityIndex: object.binding.entity.index, keys: [object.key])
        guard let row = rows.first else {
            if !object.hasChanges { object.markMissing() }
            return
        }
        let before = object.sharedRow
        object.takeSnapshot(row)
        for (slot, relationship) in object.binding.toOnes
        where !before.row.hasSameValue(as: object.row, slot: slot, storage: .key) {
            unloadOwner(before.row, slot, relationship)
            unloadOwner(object.row, slot, relationship)
        }
        for state in object.extras?.toManys ?? [] where state?.isRearranged != true { state?.members = nil }
    }

    /// Sets relationships back to what was read or saved last, so that the other ends do not go on showing what the object is about to forget.
    private func takeBackLinks(of object: ManagedObject) {
        guard !object.flags.contains(.deleted) else { return }
        if let changes = object.changes, let snapshot = changes.snapshot {
            for (slot, relationship) in object.binding.toOnes
            where changes.slots.contains(slot) && !object.row.hasSameValue(as: snapshot.row, slot: slot, storage: .key) {
                let old = snapshot.row.isPresent(slot) ? Int64(bitPattern: snapshot.row.word(slot)) : nil
                let owner = old.flatMap { target($0, of: relationship, from: object, slot: slot) }
                object.setTarget(owner?.isDeleted == true ? nil : owner, slot)
                guard let owner, let index = model.inverse(of: relationship)?.toManyIndex,
                    let state = owner.extras?.toManys[index], !state.appended.isEmpty
                else { continue }
                // It has its old place in the order again, not the last one.
                state.appended.removeAll { $0 === object }
                unloadMembers(of: owner, index)
            }
        }
        for (index, state) in (object.extras?.toManys ?? []).enumerated() {
            guard let state else { continue }
            for member in state.added.values { object.remove(member, toMany: index) }
            for member in state.removed.values where !member.isDeleted { object.add(member, toMany: index) }
        }
    }

    /// Refreshes all objects of the context; unchanged ones become faults, changed ones keep their changes.
    /// - Throws: The store's error if reading fails.
    public func refreshAllObjects() throws(PersistenceError) {
        for object in allObjects {
            if object.hasChanges {
                try refresh(object, mergingChanges: true)
            } else {
                coordinator.rowCache.invalidate([object.key], rootIndex: object.binding.entity.rootIndex)
                object.turnIntoFault()
            }
        }
    }
}

extension ManagedObject {
    /// As read or saved last. Members of changed relationships are forgotten, to be loaded again.
    final func revert() {
        mutatingAll {
            if let snapshot = changes?.snapshot {
                row = snapshot.row
                slab = snapshot.slab
            }
            changes = nil
            flags.remove([.updated, .deleted, .deleting, .ownsRow])
            for state in extras?.toManys ?? [] where state?.hasChanges == true { state?.unload() }
        }
    }

    /// Takes a newer row as what was read, and keeps the changes on top of it.
    final func takeSnapshot(_ reference: RowReference) {
        mutatingAll {
            let slots = binding.entity.slots
            let mine = RowReference(slab: slab, row: row)
            let changed = changes.map { $0.slots } ?? SlotSet()
            guard !flags.contains(.fault), !changed.isEmpty || slots.contains(where: \.isTransient) else {
                row = reference.row
                slab = reference.slab
                flags.remove([.fault, .missing, .ownsRow])
                changes = nil
                return
            }
            let record = ChangeRecord(snapshot: reference)
            record.slots = changed
            changes = record
            slab = RowSlab.copy(of: reference.row, room: 64)
            for slot in slots where changed.contains(slot.index) || slot.isTransient {
                RowEditing.copySlot(slot.index, layout: slots, from: mine.row, to: &slab)
            }
            row = slab.row
            flags.insert(.ownsRow)
            flags.remove([.missing])
        }
    }
}
