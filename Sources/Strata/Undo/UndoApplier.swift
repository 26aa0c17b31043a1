import StrataStore

/// Takes a context from one end of a step to the other.
///
/// Objects come back as the same instances with the same IDs, and no hook of creation runs. Relationships are set through
/// ``InverseMaintenance``, so that both ends agree also where others have changed one of them.
struct UndoApplier {
    let core: ContextCore
    /// Whether properties are set back that are no longer what the step left.
    let forces: Bool

    /// - Throws: The store's error, before anything has changed.
    func apply(_ step: UndoStep, undoing: Bool) throws(PersistenceError) -> UndoReport {
        let faults = step.items.map(\.object).filter { $0.isFault && $0.core === core }
        for (_, faults) in Dictionary(grouping: faults, by: { $0.binding.entity.rootIndex }) {
            try core.faults.fill(faults)
        }
        for item in step.items { try load(item) }
        var report = UndoReport()
        // Decided before anything changes: to set one end of a relationship changes others.
        let changes = propertiesToSet(step, undoing: undoing, &report)
        var revived: [(item: UndoStep.Item, row: RowReference)] = []
        for item in step.items {
            let target = undoing ? item.before : item.after
            guard target.isShown, !item.object.isShown, (undoing ? item.after : item.before).isShown == false else {
                continue
            }
            guard let row = target.row else {
                report.skip(item, nil, .deletedElsewhere)
                continue
            }
            revive(item.object, row)
            revived.append((item, row))
        }
        for (item, row) in revived { link(item, row, &report) }
        // Twice, because a one-to-one relationship that is set first may lose its partner to one that is set later.
        for isLast in [false, true] {
            for change in changes { set(change, isLast: isLast, &report) }
        }
        setPairs(step, undoing: undoing)
        for item in step.items where !(undoing ? item.before : item.after).isShown && item.object.isShown {
            core.deletion.delete(item.object)
        }
        for (item, _) in revived where item.object.isShown { removeStrangers(item.object) }
        for item in step.items where item.object.isShown { try? setOrders(item, undoing: undoing) }
        return report
    }

    /// Reads what is needed, so that nothing has to be read once something has changed.
    private func load(_ item: UndoStep.Item) throws(PersistenceError) {
        guard item.object.core === core, item.object.isShown else { return }
        for index in item.orders.keys { _ = try item.object.loadedMembers(toMany: index) }
    }

    // MARK: Objects

    /// Brings an object back that was deleted.
    private func revive(_ object: ManagedObject, _ row: RowReference) {
        core.tracker.willChange(object)
        if object.flags.contains(.detached) {
            reinsert(object)
        } else {
            object.mutatingAll { object.flags.remove(.deleted) }
        }
        for slot in object.binding.entity.slots {
            if slot.relationshipIndex != nil {
                // It is linked again when all objects are back.
                if object.row.isPresent(slot.index) { object.writeTargetKey(nil, slot.index) }
            } else if !object.row.hasSameValue(as: row.row, slot: slot.index, storage: slot.storage) {
                object.writeSlot(slot.index, from: row.row)
            }
        }
        core.tracker.add(object)
    }

    /// A save has taken the object out of the context. It comes back as a new one with the same ID, whose versions go on
    /// after those that others may have read.
    private func reinsert(_ object: ManagedObject) {
        let version = object.row.version
        if let other = core.object(object.binding.entity.index, object.key) {
            other.markMissing()
            core.identityMap.detach(other)
        }
        object.forgetMembers()
        object.mutatingAll {
            object.flags.remove([.detached, .missing, .deleted, .fault, .updated, .deletedElsewhere])
            object.flags.insert(.inserted)
            object.changes = nil
            if version > 0 { object.someExtras.firstVersion = ((version >> 32) &+ 1) << 32 }
            object.setRowVersion(0)
        }
        core.identityMap.register(object)
        core.tracker.add(object)
    }

    /// A list that was loaded before its owner was deleted still has the members that joined it in the same step. They do not
    /// lead to the owner now.
    private func removeStrangers(_ object: ManagedObject) {
        for relationship in object.binding.entity.relationships {
            guard let index = relationship.toManyIndex, let slot = core.model.inverse(of: relationship)?.slot,
                let state = object.extras?.toMany(index), let members = state.members?.objects
            else { continue }
            for member in members where !member.isFault && (member.isDeleted || member.targetKey(slot) != object.key) {
                object.mutating(object.observerIndex(toMany: index)) { state.noteRemoved(member) }
                core.tracker.noteToManyChange(object)
            }
        }
    }

    /// Sets the to-one relationships of an object that came back.
    private func link(_ item: UndoStep.Item, _ row: RowReference, _ report: inout UndoReport) {
        for (slot, relationship) in item.object.binding.toOnes where row.row.isPresent(slot) {
            let key = Int64(bitPattern: row.row.word(slot))
            guard let target = living(key, relationship) else {
                report.skip(item, relationship.name, .targetGone)
                continue
            }
            item.object.setTarget(target, slot)
        }
    }

    private func living(_ key: Int64, _ relationship: RelationshipDescription) -> ManagedObject? {
        if let known = core.object(relationship.destinationIndex, key), !known.isFault {
            return known.isDeleted ? nil : known
        }
        let rows = try? core.rows.rows(entityIndex: relationship.destinationIndex, keys: [key])
        guard let row = rows?.first else { return nil }
        let object = core.factory.materialize(row, batch: nil)
        return object.isDeleted ? nil : object
    }

    // MARK: Values

    /// A property that is to have a value of before or after.
    private struct PropertyChange {
        let item: UndoStep.Item
        let slot: Int
        let row: RowReference
        let state: UndoStep.State
    }

    /// The properties that a step changed and that are still what it left.
    private func propertiesToSet(
        _ step: UndoStep, undoing: Bool, _ report: inout UndoReport
    ) -> [PropertyChange] {
        var result: [PropertyChange] = []
        for item in step.items where item.before.isShown && item.after.isShown {
            let object = item.object
            guard object.isShown else {
                report.skip(item, nil, .deletedElsewhere)
                continue
            }
            let state = undoing ? item.before : item.after
            guard let target = state.row,
                let expected = (undoing ? item.after : item.before).row
            else { continue }
            for index in item.changedSlots {
                let slot = object.binding.entity.slots[index]
                func isNow(_ row: RowReference) -> Bool {
                    object.row.hasSameValue(as: row.row, slot: index, storage: slot.storage)
                }
                if forces || isNow(expected) || isNow(target) {
                    result.append(PropertyChange(item: item, slot: index, row: target, state: state))
                } else {
                    report.skip(item, slot.name, .changedSince)
                }
            }
        }
        return result
    }

    private func set(_ change: PropertyChange, isLast: Bool, _ report: inout UndoReport) {
        let object = change.item.object
        let slot = object.binding.entity.slots[change.slot]
        guard !object.row.hasSameValue(as: change.row.row, slot: slot.index, storage: slot.storage) else { return }
        guard let relationship = object.relationship(slot: slot.index) else {
            object.writeSlot(slot.index, from: change.row.row)
            if let done = change.state.operations[slot.index], change.state.version == object.storedVersion {
                object.resume(done, on: slot)
            }
            return
        }
        guard change.row.row.isPresent(slot.index) else { return object.setTarget(nil, slot.index) }
        guard let other = living(Int64(bitPattern: change.row.row.word(slot.index)), relationship) else {
            if isLast { report.skip(change.item, slot.name, .targetGone) }
            return
        }
        object.setTarget(other, slot.index)
    }

    private func setPairs(_ step: UndoStep, undoing: Bool) {
        for (pair, count) in step.pairs where pair.owner.isShown && pair.member.isShown {
            core.unresolved.perform(on: pair.owner) { (core) throws(PersistenceError) in
                if (count > 0) != undoing {
                    try core.inverses.add(pair.member, to: pair.owner, pair.toManyIndex)
                } else {
                    try core.inverses.remove(pair.member, from: pair.owner, pair.toManyIndex)
                }
            }
        }
    }

    /// Puts members into their order. Those that the step does not know keep their place after the one that they
    /// follow.
    private func setOrders(_ item: UndoStep.Item, undoing: Bool) throws(PersistenceError) {
        for (index, order) in item.orders {
            guard let wanted = undoing ? order.before : order.after else { continue }
            let current = try item.object.loadedMembers(toMany: index).objects
            let members = Set(current)
            let merged = OrderMerge.merge(wanted.filter(members.contains), with: current)
            if merged != current { try core.inverses.setMembers(of: item.object, merged, index) }
        }
    }
}

extension UndoReport {
    fileprivate mutating func skip(_ item: UndoStep.Item, _ property: String?, _ reason: Skipped.Reason) {
        skipped.append(Skipped(id: item.object.identity, property: property, reason: reason))
    }
}
