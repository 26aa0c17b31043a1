extension ManagedObjectContext {
    /// Takes in the saves of other contexts, if ``automaticallyMergesChanges`` says so. Fetches, saves and `perform` do
    /// it by themselves.
    ///
    /// Unchanged objects take the new values. Changed ones keep their changes on top of them, and what was deleted here
    /// stays deleted. Deleted ones are ``ManagedObject/isMissing``, unless values of them are changed here: the save
    /// meets a conflict then.
    public func processPendingChanges() {
        let notices = mailbox.takeAll()
        guard automaticallyMergesChanges else { return }
        for notice in notices {
            merge(notice)
            mendOneToOnes()
        }
    }

    private func merge(_ notice: CommitNotice) {
        for (update, previous) in zip(notice.changes.updates, notice.previousRows) {
            mergeUpdate(update.row, previous: previous, slots: update.slots)
        }
        for insert in notice.changes.inserts {
            unloadOwners(of: insert.row.row, coordinator.bindings[insert.row.row.entityIndex])
            // An object of the key was deleted once, and now made again.
            guard let object = tables[insert.row.row.entityIndex].object(insert.row.row.key) else { continue }
            if object.flags.contains(.missing) {
                object.mutatingAll { object.fill(insert.row, isAwakening: isAwakening) }
            } else if object.flags.isDisjoint(with: [.fault, .inserted]), object.version < insert.row.row.version {
                object.takeSnapshot(insert.row)
            }
        }
        for clearing in notice.changes.clearings { take(clearing) }
        clearReferences(to: notice.changes.deletes, notice.effects.referrers, changed: changedObjects)
        takeOutOfPairs(notice.changes.deletes)
        for (delete, row) in zip(notice.changes.deletes, notice.deletedRows) { mergeDelete(delete, row: row) }
        for change in notice.changes.pairs { mergePairs(change) }
        for change in notice.changes.orders {
            let relationship = model.entities[change.entityIndex].relationships[change.relationshipIndex]
            if let owner = tables[change.entityIndex].object(change.owner), let index = relationship.toManyIndex {
                unloadMembers(of: owner, index)
            }
        }
    }

    private func mergeUpdate(_ reference: RowReference, previous: RowReference, slots: SlotSet) {
        let row = reference.row
        let binding = coordinator.bindings[row.entityIndex]
        if let object = tables[row.entityIndex].object(row.key), !object.flags.contains(.fault),
            object.version < row.version,
            !object.flags.contains(.inserted)
        {
            object.takeSnapshot(reference)
        }
        for (slot, relationship) in binding.toOnes where slots.contains(slot) {
            unloadOwner(previous.row, slot, relationship)
            unloadOwner(row, slot, relationship)
        }
    }

    private func mergeDelete(_ delete: ChangeSet.Delete, row: RowReference?) {
        if let row { unloadOwners(of: row.row, coordinator.bindings[delete.entityIndex]) }
        // A second one who deletes what is gone already brings no news.
        guard let object = tables[delete.entityIndex].object(delete.key), !object.flags.contains(.gone) else { return }
        noteGone(object)
    }

    /// Takes deleted objects out of the loaded members of relationships that are kept as pairs.
    private func takeOutOfPairs(_ deletes: [ChangeSet.Delete]) {
        let gone = deletes.compactMap { tables[$0.entityIndex].object($0.key) }
        guard !gone.isEmpty else { return }
        for owner in model.entities {
            for relationship in owner.relationships where relationship.declaringEntity == owner.name {
                guard case .pairs = relationship.storage, let index = relationship.toManyIndex else { continue }
                let members = gone.filter { $0.binding.entity.descends(from: relationship.destinationIndex, in: model) }
                guard !members.isEmpty else { continue }
                let side = PairSide(owner, toMany: index)
                for key in pairHolders[side] ?? [] {
                    guard let registered = tables[owner.index].object(key),
                        let state = registered.extras?.toMany(index), let loaded = state.members
                    else {
                        pairHolders[side]?.remove(key)
                        continue
                    }
                    guard registered.binding.entity.descends(from: owner.index, in: model) else { continue }
                    // A pair that is pending here stays, if the object is changed here and so lives on until the save.
                    for object in members where state.added[object.key] == nil && loaded.contains(object) {
                        registered.mutating(registered.observerIndex(toMany: index)) { _ = loaded.remove(object) }
                    }
                }
            }
        }
    }

    /// Others deleted an object. It lives on until the save if it is deleted here, too, or if values of it were
    /// changed; what was added to its relationships is no reason to keep it.
    func noteGone(_ object: ManagedObject) {
        if object.flags.contains(.deleted) || !object.storedChanges.isEmpty {
            object.forgetLoadedMembers()
            object.flags.insert(.gone)
            goneObjects.append(object)
            return
        }
        if object.hasChanges { dropPairs(of: object) }
        if object.flags.contains(.listed) {
            object.flags.remove(.listed)
            changedObjects.removeAll { $0 === object }
        }
        object.markMissing()
    }

    private func mergePairs(_ change: ChangeSet.PairChange) {
        let relationship = model.entities[change.entityIndex].relationships[change.relationshipIndex]
        guard let index = relationship.toManyIndex else { return }
        if let owner = tables[change.entityIndex].object(change.owner) { unloadMembers(of: owner, index) }
        guard let inverse = model.inverse(of: relationship)?.toManyIndex else { return }
        for key in change.added + change.removed {
            if let member = tables[relationship.destinationIndex].object(key) { unloadMembers(of: member, inverse) }
        }
    }
}

/// Where an object keeps the members of a relationship that is kept as pairs. All entities that inherit a relationship
/// keep it in one place; entities of one hierarchy that are not of one line may keep different ones there.
struct PairSide: Hashable {
    let rootIndex: Int
    let toManyIndex: Int

    init(_ entity: EntityDescription, toMany index: Int) {
        rootIndex = entity.rootIndex
        toManyIndex = index
    }
}
