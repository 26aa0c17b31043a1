import StrataStore

extension ManagedObjectContext {
    /// Drops all changes: new objects are removed, and changed and deleted objects return to the state that was last
    /// read or saved.
    ///
    ///     do {
    ///         try context.save()
    ///     } catch {
    ///         context.rollback()
    ///         throw error
    ///     }
    ///
    /// Nothing is read from the store, so the objects do not get newer values; ``refreshAllObjects()`` does that. A new object
    /// that your code still holds no longer belongs to the context, and its ``ManagedObject/isDeleted`` is true. The steps of
    /// ``undoManager`` are forgotten. To try changes and keep others, make them in a child context, ``makeChild()``, and drop
    /// that.
    ///
    /// An asynchronous save that is under way is not taken back: when it ends, the objects show what it has written.
    public func rollback() {
        core.dropPendingChanges()
        core.recorder?.close(.rollback)
    }

    /// Gives an object the values that the store has now.
    ///
    ///     try context.refresh(city)                          // newer values, with your changes on top
    ///     try context.refresh(city, mergingChanges: false)   // your changes are dropped, and the object is a fault
    ///
    /// You need it in a context that does not merge the commits of others (``automaticallyMergesChanges``), after a conflict,
    /// or to see an attribute that the store derives. To refresh what a fetch finds, set
    /// ``FetchRequest/refreshesRefetchedObjects`` instead. An object of another context is ignored.
    /// - Parameters:
    ///   - object: An object of this context. A new one stays as it is, except for its fetched properties.
    ///   - mergingChanges: If true, reads the row now and keeps the object's changes on top of it. If false, drops the
    ///     changes and turns the object into a fault, which is read at the next access.
    /// - Throws: The store's error if reading fails; nothing has changed then. An object whose row no longer exists is
    ///   ``ManagedObject/isMissing`` after a refresh. If it has changed values, the next save meets a conflict instead.
    public func refresh(_ object: ManagedObject, mergingChanges: Bool = true) throws(PersistenceError) {
        let core = core
        guard object.core === core else { return }
        if object.isInserted { return object.forgetFetched() }
        core.rowCache.invalidate([object.key], rootIndex: object.binding.entity.rootIndex)
        guard mergingChanges else {
            core.tracker.willChange(object)
            try takeBackLinks(of: object)
            core.unresolved.removeAll(of: object)
            object.flags.remove(.changed)
            core.saves.noteReverted(object)
            return object.turnIntoFault()
        }
        try core.refresher.reread(object)
        core.oneToOneRepair.repairAll()
    }

    /// Sets relationships back to the targets that were last read or saved, so that the other ends do not go on showing
    /// what the object is about to forget.
    private func takeBackLinks(of object: ManagedObject) throws(PersistenceError) {
        guard !object.flags.contains(.deleted) else { return }
        if let changes = object.changes, let snapshot = changes.snapshot {
            for (slot, relationship) in object.binding.toOnes
            where changes.slots.contains(slot) && !object.row.hasSameValue(as: snapshot.row, slot: slot, storage: .key)
            {
                var owner: ManagedObject?
                if snapshot.row.isPresent(slot) {
                    let old = Int64(bitPattern: snapshot.row.word(slot))
                    owner = try core.targets.target(old, of: relationship, from: object, slot: slot)
                }
                object.setTarget(owner?.isDeleted == true ? nil : owner, slot)
                guard let owner, let index = model.inverse(of: relationship)?.toManyIndex,
                    let state = owner.extras?.toMany(index), !state.appended.isEmpty
                else { continue }
                // It has its old place in the order again, not the last one.
                state.forgetAppended { $0 === object }
                core.unloading.members(of: owner, index)
            }
        }
        core.unloading.pendingPairs(of: object)
    }

    /// Refreshes all objects of the context: unchanged ones become faults, and changed ones take newer values and keep their
    /// changes.
    ///
    ///     try context.refreshAllObjects()
    ///     print(city.population)  // read again, together with the other faults of its fetch
    ///
    /// Use it to show the present state of the store in a context that does not merge the commits of others. Each changed
    /// object takes a statement, and unchanged ones are read again when you use them. Relationships and fetched properties are
    /// read again, too.
    /// - Throws: The store's error if reading fails.
    public func refreshAllObjects() throws(PersistenceError) {
        let core = core
        let objects = core.identityMap.objects
        for (root, objects) in Dictionary(grouping: objects, by: { $0.binding.entity.rootIndex }) {
            core.rowCache.invalidate(objects.map(\.key), rootIndex: root)
        }
        for object in objects {
            if !object.hasChanges {
                object.turnIntoFault()
            } else if object.isInserted {
                object.forgetFetched()
            } else {
                try core.refresher.reread(object)
            }
        }
        // All other references are read again.
        core.identityMap.noteDeleted(core.tracker.pendingTargets)
        core.oneToOneRepair.repairAll()
    }
}

extension ManagedObject {
    /// As last read or saved. Members of changed relationships are forgotten, to be loaded again.
    final func revert() {
        // Only its changes were left of it.
        if flags.contains(.deletedElsewhere) { return markMissing() }
        for (index, state) in (extras?.toManys ?? []).enumerated() where state?.hasChanges == true {
            source.tracker?.willChangeMembers(self, index)
        }
        mutatingAll {
            if let snapshot = changes?.snapshot {
                row = snapshot.row
                slab = snapshot.slab
            } else if flags.contains(.fault) {
                row = binding.emptyRow.row
                slab = binding.emptyRow.slab
            }
            changes = nil
            flags.remove([.updated, .deleted, .deleting, .ownsRow])
            for state in extras?.toManys ?? [] where state?.hasChanges == true { state?.unload() }
        }
    }

    /// Takes a newer row as the snapshot, and keeps the changes on top of it.
    final func takeSnapshot(_ reference: RowReference) {
        if flags.contains(.fault) { return mutatingAll { fill(reference) } }
        mutatingAll {
            flags.remove(.deletedElsewhere)
            let slots = binding.entity.slots
            let mine = RowReference(slab: slab, row: row)
            let operations = operations
            var changed = differingSlots()
            for slot in operations.keys { changed.insert(slot) }
            defer { core?.recorder?.noteStored(self, since: mine, besides: changed) }
            guard !changed.isEmpty || slots.contains(where: \.isTransient) else {
                row = reference.row
                slab = reference.slab
                flags.remove([.missing, .ownsRow])
                changes = nil
                return
            }
            var record = ChangeRecord(snapshot: reference)
            record.slots = changed
            changes = record
            slab = RowSlab.copy(of: reference.row, room: 64)
            for slot in slots where changed.contains(slot.index) || slot.isTransient {
                if let done = operations[slot.index], done.apply(to: reference.row, slot, layout: slots, in: &slab) {
                    continue
                }
                RowEditing.copySlot(slot.index, layout: slots, from: mine.row, to: &slab)
            }
            row = slab.row
            flags.insert(.ownsRow)
            flags.remove([.missing])
            self.operations = operations
        }
    }
}

extension ContextCore {
    /// Drops all changes, without a boundary.
    func dropPendingChanges() {
        let objects = tracker.removeAll()
        nullifications.removeAll()
        unresolved.removeAll()
        saves.checks.removeAll()
        saves.source?.startAnew()
        unloading.ends(of: objects)
        for object in objects where !object.flags.contains(.inserted) {
            object.revert()
            saves.noteReverted(object)
        }
        var dropped: [Int: Set<Int64>] = [:]
        for object in objects where object.flags.contains(.inserted) {
            dropped[object.binding.entity.rootIndex, default: []].insert(object.key)
            object.mutatingAll {
                object.flags.remove(.changed)
                object.flags.insert(.missing)
            }
            identityMap.detach(object)
        }
        // Unsaved references of a child may still lead to them.
        if !dropped.isEmpty { identityMap.noteDropped(dropped) }
    }
}
