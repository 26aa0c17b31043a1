import StrataStore

/// Merges the commits of other contexts. Unchanged objects take the new values; pending changes are rebased onto the
/// merged state.
struct CommitMerger {
    let core: ContextCore

    private var model: ManagedObjectModel { core.model }

    /// Empties the inbox.
    func takeIn() {
        switch core.inbox.takeAll() {
        case .commits(let commits):
            guard core.inbox.isOpen else { return }
            for commit in commits {
                if let recorder = core.recorder, recorder.isOn { recorder.note(commit) }
                merge(commit)
                core.oneToOneRepair.repairAll()
            }
        case .keys(let keys):
            if let recorder = core.recorder, recorder.isOn { recorder.note(keys) }
            refresh(keys)
        case .everything:
            if let recorder = core.recorder, recorder.isOn { recorder.noteEverything() }
            refresh { _ in
                true
            } orPutBack: {
                .everything
            }
        }
    }

    /// Refreshes the objects of some keys, because there are too many to tell what changed in each.
    func refresh(_ keys: [Int: Set<Int64>]) {
        refresh {
            keys[$0.binding.entity.rootIndex]?.contains($0.key) == true
        } orPutBack: {
            .keys(keys)
        }
    }

    /// Refreshes objects, because there were too many commits to apply them one by one: unchanged ones become faults,
    /// and changed ones are read again.
    private func refresh(
        _ isAffected: (ManagedObject) -> Bool, orPutBack content: () -> CommitInbox.Content
    ) {
        core.identityMap.noteAnyMayBeDeleted()
        do throws(PersistenceError) {
            for object in core.identityMap.objects where !object.isInserted {
                // A new object may belong to any of them.
                core.unloading.allMembers(of: object)
                guard isAffected(object), !object.isFault || object.isPartial else { continue }
                if object.hasChanges {
                    if !object.flags.contains(.deletedElsewhere) { try core.refresher.reread(object) }
                } else {
                    object.turnIntoFault()
                }
            }
            core.oneToOneRepair.repairAll()
        } catch {
            // The store failed; the next boundary tries again.
            core.inbox.putBack(content())
        }
    }

    // MARK: One commit

    /// Applies what others wrote, or a bulk operation of this context.
    func merge(_ commit: CommitNotification) {
        let changes = commit.changes
        for (update, previous) in zip(changes.updates, commit.previousRows) {
            mergeUpdate(update.row, previous: previous, slots: update.slots)
        }
        for insert in changes.inserts { mergeInsert(insert.row) }
        for clearing in changes.clearings { mergeNullification(clearing) }
        clearReferences(to: changes.deletes, commit.effects, changed: core.tracker.objects)
        takeOutOfPairs(changes.deletes.compactMap { core.object($0.entityIndex, $0.key) })
        for (delete, row) in zip(changes.deletes, commit.deletedRows) { mergeDelete(delete, row: row) }
        for change in changes.pairs { mergePairs(change) }
        for change in changes.orders {
            let relationship = model.entities[change.entityIndex].relationships[change.relationshipIndex]
            if let owner = core.object(change.entityIndex, change.owner), let index = relationship.toManyIndex {
                core.unloading.members(of: owner, index)
            }
        }
    }

    private func mergeUpdate(_ reference: RowReference, previous: RowReference, slots: SlotSet) {
        let row = reference.row
        if let object = core.object(row.entityIndex, row.key) {
            if object.isPartial {
                object.turnIntoFault()
            } else if object.flags.isDisjoint(with: [.fault, .inserted]), object.version < row.version {
                core.refresher.take(reference, object)
            }
        }
        for (slot, relationship) in core.binding(at: row.entityIndex).toOnes where slots.contains(slot) {
            core.unloading.owner(previous.row, slot, relationship)
            core.unloading.owner(row, slot, relationship)
        }
    }

    private func mergeInsert(_ reference: RowReference) {
        let row = reference.row
        core.unloading.owners(of: row, core.binding(at: row.entityIndex))
        // An object of the key was deleted once, and is inserted again now.
        guard let object = core.object(row.entityIndex, row.key) else { return }
        if object.flags.contains(.missing) {
            object.mutatingAll { object.fill(reference) }
        } else if object.flags.isDisjoint(with: [.fault, .inserted]), object.version < row.version {
            core.refresher.take(reference, object)
        }
    }

    private func mergeDelete(_ delete: ChangeSet.Delete, row: RowReference?) {
        if let row { core.unloading.owners(of: row.row, core.binding(at: delete.entityIndex)) }
        // A second delete of the same row brings no news.
        guard let object = core.object(delete.entityIndex, delete.key), !object.flags.contains(.deletedElsewhere)
        else { return }
        // The object was inserted again after this delete, and that was heard about first.
        if let version = delete.baseVersion, !object.isFault, object.version > version { return }
        noteDeletedElsewhere(object)
    }

    private func mergePairs(_ change: ChangeSet.PairChange) {
        let relationship = model.entities[change.entityIndex].relationships[change.relationshipIndex]
        guard let index = relationship.toManyIndex else { return }
        if let owner = core.object(change.entityIndex, change.owner) { core.unloading.members(of: owner, index) }
        guard let inverse = model.inverse(of: relationship)?.toManyIndex else { return }
        for key in change.added + change.removed {
            if let member = core.object(relationship.destinationIndex, key) {
                core.unloading.members(of: member, inverse)
            }
        }
    }

    // MARK: Deletes

    /// Others deleted an object. It is kept until the save if it is deleted here, too, or if values of it were changed;
    /// members that were added to its relationships are not a reason to keep it.
    func noteDeletedElsewhere(_ object: ManagedObject) {
        if object.flags.contains(.deleted) || !object.storedChanges.isEmpty { return keepDeletedElsewhere(object) }
        if object.hasChanges { core.unloading.pendingPairs(of: object) }
        core.tracker.remove(object)
        object.markMissing()
    }

    /// Keeps an object that others deleted until the save, which reports the conflict. Its pairs are gone from the store, though it
    /// is still shown.
    func keepDeletedElsewhere(_ object: ManagedObject) {
        if object.flags.contains(.recorded) { core.tracker.willChangeAllMembers(object) }
        object.forgetLoadedMembers()
        object.flags.insert(.deletedElsewhere)
        takeOutOfPairs([object])
        core.tracker.addDeletedElsewhere(object)
    }

    /// Takes objects that others deleted out of the loaded members of many-to-many relationships. Those that are kept because they
    /// have changes would be shown there.
    func takeOutOfPairs(_ gone: [ManagedObject]) {
        guard !gone.isEmpty else { return }
        for owner in model.entities {
            for relationship in owner.relationships where relationship.declaringEntity == owner.name {
                guard case .pairs = relationship.storage, let index = relationship.toManyIndex else { continue }
                let members = gone.filter { $0.binding.entity.descends(from: relationship.destinationIndex, in: model) }
                guard !members.isEmpty else { continue }
                for (registered, state) in core.pairOwners.owners(ToManySide(owner, toMany: index)) {
                    guard registered.binding.entity.descends(from: owner.index, in: model) else { continue }
                    // A pair that is pending here stays, if the object is changed here and so is kept until the save.
                    for object in members
                    where state.added[object.key] == nil && state.members?.contains(object) == true {
                        registered.mutating(registered.observerIndex(toMany: index)) { state.hide(object) }
                    }
                }
            }
        }
    }

    /// Rows in memory follow what the store did by itself: a save has nullified references, here or in another context.
    func mergeNullification(_ clearing: ChangeSet.Clearing) {
        let targets = Set(clearing.targets)
        let table = core.identityMap.table(clearing.entityIndex)
        for key in clearing.keys {
            guard let object = table.object(key), object.flags.isDisjoint(with: [.fault, .inserted, .missing]) else {
                continue
            }
            let read = object.changes?.snapshot ?? RowReference(slab: object.slab, row: object.row)
            guard clearing.slot < read.row.slotCount, read.row.isPresent(clearing.slot),
                targets.contains(Int64(bitPattern: read.row.word(clearing.slot)))
            else { continue }
            let slab = RowSlab.copy(of: read.row)
            RowEditing.setNil(clearing.slot, in: slab)
            RowEditing.setVersion(read.row.version &+ 1, in: slab)
            object.takeSnapshot(RowReference(slab: slab, row: slab.row))
        }
        // The deleted object may have come back: a merge policy preferred what others had made of it.
        let toOnes = core.binding(at: clearing.entityIndex).toOnes
        guard let relationship = toOnes.first(where: { $0.slot == clearing.slot })?.relationship,
            let index = model.inverse(of: relationship)?.toManyIndex
        else { return }
        for target in clearing.targets {
            if let owner = core.object(relationship.destinationIndex, target) {
                core.unloading.members(of: owner, index)
            }
        }
    }

    /// After a commit with deletes: the store has set references to the deleted objects to nil, including those that
    /// the deleting context did not know and so did not write. Rows in memory follow, as if they had been read now.
    /// - Parameters:
    ///   - effects: Its referrers are the rows that the store knows to have referred to them.
    ///   - changed: Objects that were changed here, and so may refer to them where the store does not.
    func clearReferences(to deletes: [ChangeSet.Delete], _ effects: CommitEffects, changed: [ManagedObject]) {
        guard !deletes.isEmpty else { return }
        var keys: [Int: Set<Int64>] = [:]
        for delete in deletes { keys[core.rootIndex(of: delete.entityIndex), default: []].insert(delete.key) }
        core.identityMap.noteDeleted(keys)
        func clear(_ object: ManagedObject) {
            guard object.flags.isDisjoint(with: [.fault, .inserted, .deleted]) else { return }
            for (slot, relationship) in object.binding.toOnes {
                guard let gone = keys[core.rootIndex(of: relationship.destinationIndex)] else { continue }
                object.clearReference(slot, to: gone)
            }
        }
        for object in changed where !object.flags.contains(.detached) { clear(object) }
        for (root, keys) in effects.referrers {
            for key in keys { core.object(root, key).map(clear) }
        }
        for (root, versions) in effects.referrerVersions {
            for (key, version) in versions { core.object(root, key)?.takeNextVersion(version) }
        }
    }
}

extension ContextCore {
    var merger: CommitMerger { CommitMerger(core: self) }

    /// Merges the commits of other contexts, if the context wants them, and makes relationship changes that waited for
    /// rows which could not be read. A merge is a boundary on its own.
    func processPendingChanges() {
        if parent == nil, inbox.isOpen { coordinator.noticeForeignCommits() }
        if inbox.hasContent {
            recorder?.close(.beforeMerge)
            merger.takeIn()
            recorder?.close(.merge)
        }
        // What still cannot be read goes on waiting; the save says why.
        if !unresolved.isEmpty { try? unresolved.resolve() }
    }
}
