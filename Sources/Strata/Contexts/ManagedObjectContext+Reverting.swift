extension ManagedObjectContext {
    /// Drops all changes: new objects are forgotten, changed and deleted ones are as they were read or saved last.
    public func rollback() {
        let objects = changedObjects
        changedObjects = []
        clearings = []
        for object in objects { object.flags.remove(.listed) }
        unloadEnds(of: objects)
        for object in objects where !object.flags.contains(.inserted) { object.revert() }
        for object in objects where object.flags.contains(.inserted) {
            object.mutatingAll {
                object.flags.remove(.changed)
                object.flags.insert(.missing)
            }
            detach(object)
        }
    }

    /// Forgets loaded members at the other ends of changed objects: they may have been loaded after the change, and so
    /// by it.
    func unloadEnds(of objects: [ManagedObject]) {
        for object in objects {
            unloadOwners(of: object.row, object.binding)
            if let snapshot = object.changes?.snapshot { unloadOwners(of: snapshot.row, object.binding) }
        }
        let deleted = objects.filter { $0.flags.contains(.deleted) }
        for object in deleted {
            for state in object.extras?.toManys ?? [] { state?.forgetLoaded() }
        }
        if !deleted.isEmpty { unloadPairs(with: deleted) }
    }

    /// Makes an object fresh again.
    /// - Parameters:
    ///   - object: An object of this context. A new one stays as it is.
    ///   - mergingChanges: True reads the row now and keeps the object's changes on top of it. False drops changes and
    ///     turns the object into a fault, which reads at the next touch.
    /// - Throws: The store's error if reading fails; nothing has changed then. An object whose row is gone is
    ///   ``ManagedObject/isMissing`` after a refresh, unless values of it are changed: a save meets a conflict then.
    public func refresh(_ object: ManagedObject, mergingChanges: Bool = true) throws(PersistenceError) {
        guard object.context === self, !object.isInserted, !object.flags.contains(.detached) else { return }
        coordinator.rowCache.invalidate([object.key], rootIndex: object.binding.entity.rootIndex)
        guard mergingChanges else {
            takeBackLinks(of: object)
            object.flags.remove(.changed)
            return object.turnIntoFault()
        }
        try reread(object)
        mendOneToOnes()
    }

    /// Reads the row of an object now, and keeps its changes on top.
    func reread(_ object: ManagedObject) throws(PersistenceError) {
        coordinator.rowCache.invalidate([object.key], rootIndex: object.binding.entity.rootIndex)
        let rows = try sourceRows(entityIndex: object.binding.entity.index, keys: [object.key])
        guard let row = rows.first else {
            return noteGone(object)
        }
        // The store has forgotten all but the key.
        guard !row.row.isHeaderOnly else { return }
        takeNewer(row, object)
    }

    /// Sets relationships back to what was read or saved last, so that the other ends do not go on showing what the
    /// object is about to forget.
    private func takeBackLinks(of object: ManagedObject) {
        guard !object.flags.contains(.deleted) else { return }
        if let changes = object.changes, let snapshot = changes.snapshot {
            for (slot, relationship) in object.binding.toOnes
            where changes.slots.contains(slot) && !object.row.hasSameValue(as: snapshot.row, slot: slot, storage: .key)
            {
                let old = snapshot.row.isPresent(slot) ? Int64(bitPattern: snapshot.row.word(slot)) : nil
                let owner = old.flatMap { target($0, of: relationship, from: object, slot: slot) }
                object.setTarget(owner?.isDeleted == true ? nil : owner, slot)
                guard let owner, let index = model.inverse(of: relationship)?.toManyIndex,
                    let state = owner.extras?.toMany(index), !state.appended.isEmpty
                else { continue }
                // It has its old place in the order again, not the last one.
                state.appended.removeAll { $0 === object }
                unloadMembers(of: owner, index)
            }
        }
        dropPairs(of: object)
    }

    /// Refreshes all objects of the context; unchanged ones become faults, changed ones keep their changes.
    /// - Throws: The store's error if reading fails.
    public func refreshAllObjects() throws(PersistenceError) {
        for object in allObjects {
            coordinator.rowCache.invalidate([object.key], rootIndex: object.binding.entity.rootIndex)
            if !object.hasChanges {
                object.turnIntoFault()
            } else if !object.isInserted {
                try reread(object)
            }
        }
        mendOneToOnes()
    }
}

extension ManagedObject {
    /// As read or saved last. Members of changed relationships are forgotten, to be loaded again.
    final func revert() {
        // Its changes were all that was left of it.
        if flags.contains(.gone) { return markMissing() }
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

    /// Slots with another value than what was read, transient ones included. A value that was set back is no change, so
    /// a newer row brings its own.
    private final var differingSlots: SlotSet {
        var result = SlotSet()
        guard let changes, let snapshot = changes.snapshot else { return result }
        for slot in changes.slots
        where !row.hasSameValue(as: snapshot.row, slot: slot, storage: binding.entity.slots[slot].storage) {
            result.insert(slot)
        }
        return result
    }

    /// Takes a newer row as what was read, and keeps the changes on top of it.
    final func takeSnapshot(_ reference: RowReference) {
        mutatingAll {
            flags.remove(.gone)
            let slots = binding.entity.slots
            let mine = RowReference(slab: slab, row: row)
            let changed = differingSlots
            guard !flags.contains(.fault), !changed.isEmpty || slots.contains(where: \.isTransient) else {
                row = reference.row
                slab = reference.slab
                flags.remove([.fault, .missing, .ownsRow])
                changes = nil
                return
            }
            var record = ChangeRecord(snapshot: reference)
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
