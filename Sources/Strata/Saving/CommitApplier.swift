import StrataStore

/// Applies the store's answer to a commit: the one place where objects become clean, rows take what the store made of them,
/// and the other contexts hear about the commit.
struct CommitApplier {
    let core: ContextCore

    private var model: ManagedObjectModel { core.model }

    /// - Parameter announcing: Whether other contexts and the row cache are told. A child's save changes no store.
    func apply(_ answer: CommitAnswer, announcing: Bool = true) {
        let known = Dictionary(
            answer.effects.rows.map { (identity($0), $0) }, uniquingKeysWith: { _, last in last })
        let committed = known.isEmpty ? answer.changes : answer.changes.replacingRows { known[identity($0)] ?? $0 }
        let notification = announcing ? makeNotification(committed, answer.effects) : nil
        if !announcing { takeBack(committed.updates) }
        let changed: [ManagedObject]
        if answer.isExact {
            changed = core.tracker.objects
            cleanAll()
            for row in answer.effects.rows { core.object(row.row.entityIndex, row.row.key)?.takeSnapshot(row) }
        } else {
            changed = answer.objects
            settle(answer, committed)
        }
        core.saves.checks.remove(answer.changes)
        if let recorder = core.recorder, recorder.isOn { recorder.note(committed, answer.effects) }
        for clearing in committed.clearings { core.merger.mergeNullification(clearing) }
        core.merger.clearReferences(to: committed.deletes, answer.effects, changed: changed)
        if let notification, !committed.isEmpty { core.coordinator.announce(notification) }
        core.settings.notifications?.didSave(committed, core)
    }

    /// A child's save has brought back what the parent had deleted and the child had changed.
    private func takeBack(_ updates: [ChangeSet.Update]) {
        for update in updates {
            let row = update.row.row
            guard let object = core.object(row.entityIndex, row.key), object.flags.contains(.deletedElsewhere) else {
                continue
            }
            core.tracker.willChangeAllMembers(object)
            object.flags.remove(.deletedElsewhere)
        }
    }

    private func identity(_ reference: RowReference) -> RowIdentity {
        RowIdentity(entityIndex: core.rootIndex(of: reference.row.entityIndex), key: reference.row.key)
    }

    private func makeNotification(_ saved: ChangeSet, _ effects: CommitEffects) -> CommitNotification {
        var changes = saved
        if !effects.alreadyDeleted.isEmpty { changes.deletes.removeAll { isKnown($0, effects) } }
        return CommitNotification(
            contextNumber: core.inbox.contextNumber, changes: changes, effects: effects,
            previousRows: changes.updates.map { update in
                core.object(update.row.row.entityIndex, update.row.row.key)?.changes?.snapshot ?? update.row
            },
            deletedRows: changes.deletes.map { delete in
                core.object(delete.entityIndex, delete.key).map { $0.changes?.snapshot ?? $0.sharedRow }
            })
    }

    /// Whether the other contexts were notified of a delete before. A mirror may have forgotten the row of an object that they
    /// still show.
    private func isKnown(_ delete: ChangeSet.Delete, _ effects: CommitEffects) -> Bool {
        let root = core.rootIndex(of: delete.entityIndex)
        return core.coordinator.network(of: root) == nil && effects.alreadyDeleted[root]?.contains(delete.key) == true
    }

    // MARK: Exact

    /// Everything was saved as it is: all objects are clean.
    private func cleanAll() {
        core.nullifications.removeAll()
        for object in core.tracker.removeAll() {
            if object.flags.contains(.deleted) {
                leave(object)
            } else if object.flags.contains(.deletedElsewhere) {
                object.markMissing()
            } else {
                object.flags.remove(.unsaved)
                object.changes = nil
                object.extras?.toManys.forEach { $0?.clearChanges() }
            }
        }
    }

    /// A deleted object leaves the context.
    private func leave(_ object: ManagedObject) {
        core.tracker.remove(object)
        object.flags.remove(.changed)
        object.flags.insert(.missing)
        core.identityMap.detach(object)
    }

    // MARK: With changes meanwhile

    /// Objects are clean as far as they still are what was saved. Those that were refused keep their changes.
    private func settle(_ answer: CommitAnswer, _ committed: ChangeSet) {
        let done = answer.changes
        let refused = answer.refused
        for (sent, now) in zip(done.inserts.map(\.row), committed.inserts.map(\.row)) { settle(sent, now) }
        for (sent, now) in zip(done.updates.map(\.row), committed.updates.map(\.row)) { settle(sent, now) }
        for delete in done.deletes {
            if let object = core.object(delete.entityIndex, delete.key) { leave(object) }
        }
        for pair in done.pairs { settle(pair) }
        for order in done.orders { settle(order) }
        // What was made and deleted again is nothing to save.
        for object in core.tracker.objects where object.isStillborn { leave(object) }
        for object in answer.objects where !refused.contains(object.identity) { clean(object) }
        touchOwners()
        core.nullifications.remove(done.clearings)
    }

    /// What is not saved yet may lead to objects that are clean now. Their members are not only those of the store, so
    /// that they stay changed, as they are when a relationship is set after the save.
    private func touchOwners() {
        for member in core.tracker.objects where member.flags.isDisjoint(with: [.deleted, .fault, .detached]) {
            for (slot, relationship) in member.binding.toOnes
            where member.isInserted || member.storedChanges.contains(slot) {
                guard let key = member.targetKey(slot), let index = model.inverse(of: relationship)?.toManyIndex,
                    let owner = core.object(relationship.destinationIndex, key), !owner.isInserted
                else { continue }
                let state = owner.toManyState(index)
                guard !state.isTouched else { continue }
                state.isTouched = true
                core.tracker.noteToManyChange(owner)
            }
        }
    }

    private func settle(_ sent: RowReference, _ now: RowReference) {
        guard let object = core.object(sent.row.entityIndex, sent.row.key) else { return }
        let former = object.changes?.snapshot
        var record = ChangeRecord(snapshot: sent)
        if core.saves.reverted.contains(ObjectIdentifier(object)) {
            // The other values are older ones, not changes that take back what was saved.
            record.slots = object.changedSlots
        } else {
            for slot in object.binding.entity.slots { record.slots.insert(slot.index) }
        }
        let later = object.operations.mapValues(\.unsealed).filter { !$0.value.isEmpty }
        // If the store's answer has been read before it was applied here, the value has the operations in it twice.
        for slot in object.operations.keys where later[slot] == nil { record.slots.remove(slot) }
        object.changes = record
        object.operations = later
        object.flags.remove([.inserted, .updated, .idTaken])
        object.takeSnapshot(former.flatMap { contested(object, $0, sent, now) } ?? now)
        if object.flags.contains(.deleted) { return }
        // Members may have come and gone while the save was under way.
        if !object.storedChanges.isEmpty || object.hasToManyChanges { object.flags.insert(.updated) }
    }

    /// The row to which an object's later changes are made if others have changed the same properties meanwhile: the one that
    /// they were made to, so that the next save is in conflict with those others.
    /// - Parameters:
    ///   - former: The object as the context had it from the store while the save was under way.
    ///   - sent: The object as it was saved.
    ///   - now: The object as the store has it now.
    /// - Returns: nil if others have changed nothing of that.
    private func contested(
        _ object: ManagedObject, _ former: RowReference, _ sent: RowReference, _ now: RowReference
    ) -> RowReference? {
        let slots = object.binding.entity.slots
        // Mostly the store has the very row that was saved.
        guard now.slab !== sent.slab, former.row.entityIndex == now.row.entityIndex,
            sent.row.entityIndex == now.row.entityIndex
        else { return nil }
        func isSame(_ one: RowReference, _ other: RowReference, _ slot: Int) -> Bool {
            one.row.hasSameValue(as: other.row, slot: slot, storage: slots[slot].storage)
        }
        // The store's answer to a value that was saved is that value as it has it.
        let list = object.differingSlots().filter {
            object.operations[$0] == nil && isSame(sent, former, $0) && !isSame(now, former, $0)
        }
        if list.isEmpty { return nil }
        var base = RowSlab.copy(of: now.row, room: 64)
        for slot in list { RowEditing.copySlot(slot, layout: slots, from: former.row, to: &base) }
        RowEditing.setVersion(former.row.version, in: base)
        return RowReference(slab: base, row: base.row)
    }

    private func settle(_ pair: ChangeSet.PairChange) {
        let relationship = model.entities[pair.entityIndex].relationships[pair.relationshipIndex]
        func settle(_ object: ManagedObject?, _ index: Int?, added: [Int64], removed: [Int64]) {
            guard let object, let index, let state = object.extras?.toMany(index) else { return }
            for key in added { state.added[key] = nil }
            for key in removed { state.removed[key] = nil }
            if !state.hasPendingMembers { state.isTouched = false }
        }
        settle(
            core.object(pair.entityIndex, pair.owner), relationship.toManyIndex, added: pair.added,
            removed: pair.removed)
        let inverse = model.inverse(of: relationship)?.toManyIndex
        let destination = relationship.destinationIndex
        for key in pair.added { settle(core.object(destination, key), inverse, added: [pair.owner], removed: []) }
        for key in pair.removed { settle(core.object(destination, key), inverse, added: [], removed: [pair.owner]) }
    }

    private func settle(_ order: ChangeSet.OrderChange) {
        let relationship = model.entities[order.entityIndex].relationships[order.relationshipIndex]
        guard let index = relationship.toManyIndex,
            let state = core.object(order.entityIndex, order.owner)?.extras?.toMany(index)
        else { return }
        switch order.kind {
        case .append(let keys):
            let saved = Set(keys)
            state.forgetAppended { saved.contains($0.key) }
        case .arrange(let keys):
            let shown = (state.members?.objects ?? state.arrangement).filter { !$0.isDeleted }
            guard shown.map(\.key) == keys else { return }
            state.forgetOrder()
        }
        if !state.hasPendingMembers { state.isTouched = false }
    }

    /// An object that has nothing left to save is no longer a changed one.
    private func clean(_ object: ManagedObject) {
        guard object.core === core, object.flags.isDisjoint(with: [.inserted, .deleted]) else { return }
        for case let state? in object.extras?.toManys ?? [] {
            // Their pairs are gone with them, whichever end wrote those.
            state.forgetPending { $0.flags.contains(.missing) }
            // The rows of the members say who was added and removed, or nobody was: it was set to what it had.
            if !state.hasPendingMembers { state.isTouched = false }
        }
        guard object.storedChanges.isEmpty, !object.hasToManyChanges else { return }
        core.tracker.remove(object)
        if object.flags.contains(.deletedElsewhere) { return object.markMissing() }
        object.flags.remove([.updated, .ownsRow])
        object.changes = nil
    }
}

extension ToManyState {
    /// Whether single members are still to be saved.
    fileprivate var hasPendingMembers: Bool { !added.isEmpty || !removed.isEmpty || !appended.isEmpty }
}

extension ChangeSet {
    /// The changes with other rows for its inserts and updates.
    fileprivate func replacingRows(_ row: (RowReference) -> RowReference) -> ChangeSet {
        var result = self
        result.inserts = inserts.map { Insert(row: row($0.row)) }
        result.updates = updates.map { Update(row: row($0.row), slots: $0.slots, baseVersion: $0.baseVersion) }
        return result
    }
}

extension ContextCore {
    var applier: CommitApplier { CommitApplier(core: self) }
}
