/// Deletes objects and runs their delete rules. A delete takes effect immediately, so that no relationship shows a deleted
/// object, except one that is loaded and whose other end has no action; deny rules are checked at the save.
///
/// A rule that needs rows which cannot be read now runs before the next save, which fails if they still cannot be read.
struct DeletePropagation {
    let core: ContextCore

    private var model: ManagedObjectModel { core.model }

    /// Deletes an object and, by its delete rules, others.
    func delete(_ object: ManagedObject) {
        guard object.flags.isDisjoint(with: [.deleted, .deleting, .detached]) else { return }
        if object.isFault { object.fireFault() }
        guard !object.flags.contains(.missing) else { return }
        run([object])
    }

    private func run(_ objects: [ManagedObject]) {
        var doomed: [ManagedObject] = []
        var queue = objects
        for object in objects { object.flags.insert(.deleting) }
        // Cascades are walked level by level, not by recursion, so that a chain of any depth is deleted; the flag ends
        // cycles and diamonds.
        while !queue.isEmpty {
            var next: [ManagedObject] = []
            for object in queue {
                object.prepareForDeletion()
                doomed.append(object)
                for target in cascadeTargets(of: object)
                where target.flags.isDisjoint(with: [.deleted, .deleting, .missing]) {
                    target.flags.insert(.deleting)
                    next.append(target)
                }
            }
            queue = next
        }
        mark(doomed, isDecided: false)
    }

    /// Deletes these objects and no others, as another context has done: its rules have run, and what they did to other objects is known.
    func take(_ objects: [ManagedObject]) {
        mark(objects.filter { $0.flags.isDisjoint(with: [.deleted, .detached, .missing, .fault]) }, isDecided: true)
    }

    /// - Parameter isDecided: Whether it is known what references are nullified.
    private func mark(_ doomed: [ManagedObject], isDecided: Bool) {
        if core.factory.newFlags.contains(.recorded), let recorder = core.recorder, recorder.isOn {
            for object in doomed { recorder.willDelete(object) }
        }
        for object in doomed { object.mutatingAll { object.flags.insert(.deleted) } }
        for object in doomed {
            for relationship in object.binding.entity.relationships {
                if isDecided, model.inverse(of: relationship)?.isToMany != true { continue }
                core.unresolved.perform(on: object) { (core) throws(PersistenceError) in
                    guard object.flags.contains(.deleted) else { return }
                    try core.deletion.unlink(object, relationship)
                }
            }
        }
        for object in doomed {
            object.flags.remove(.deleting)
            core.tracker.add(object)
        }
    }

    private func cascadeTargets(of object: ManagedObject) -> [ManagedObject] {
        var result: [ManagedObject] = []
        for relationship in object.binding.entity.relationships where relationship.deleteRule == .cascade {
            do throws(PersistenceError) {
                result += try targets(of: object, relationship)
            } catch {
                core.report(error, object)
                core.unresolved.add(object) { (core) throws(PersistenceError) in
                    guard object.flags.contains(.deleted) else { return }
                    let targets = try core.deletion.targets(of: object, relationship)
                    core.deletion.run(targets.filter { $0.flags.isDisjoint(with: [.deleted, .deleting, .missing]) })
                }
            }
        }
        return result
    }

    /// The objects that a relationship leads to, with their rows.
    private func targets(
        of object: ManagedObject, _ relationship: RelationshipDescription
    ) throws(PersistenceError) -> [ManagedObject] {
        if object.isFault { try core.faults.load(object) }
        let targets: [ManagedObject]
        if let index = relationship.toManyIndex {
            targets = try object.loadedMembers(toMany: index).objects
        } else if let slot = relationship.slot, let key = object.targetKey(slot) {
            let target = try core.targets.target(key, of: relationship, from: object, slot: slot)
            targets = target.map { $0.isDeleted ? [] : [$0] } ?? []
        } else {
            targets = []
        }
        for target in targets where target.isFault { try core.faults.load(target) }
        return targets
    }

    /// Takes a deleted object out of the relationships that lead to it.
    private func unlink(_ object: ManagedObject, _ relationship: RelationshipDescription) throws(PersistenceError) {
        if object.isFault { try core.faults.load(object) }
        guard relationship.deleteRule != .noAction, let inverse = model.inverse(of: relationship) else {
            if model.inverse(of: relationship) == nil, let index = relationship.toManyIndex {
                // Pairs without an inverse are deleted along with the row.
                object.extras?.toMany(index)?.clearChanges()
            }
            return
        }
        // A denied delete leaves the other end as it is: the save will refuse it. A new object is removed without a
        // save.
        let clearsReferences = relationship.deleteRule != .deny || object.isInserted
        if let index = relationship.toManyIndex {
            if let other = inverse.toManyIndex, let state = object.extras?.toMany(index) {
                // Pairs that were removed before the delete are deleted along with the row, too, and stay if the delete
                // gives way.
                for member in state.removed.values { member.extras?.toMany(other)?.removed[object.key] = nil }
            }
            if try nullifyUnread(object, relationship, inverse: inverse) { return }
            for member in try object.loadedMembers(toMany: index).objects where member !== object {
                if let slot = inverse.slot {
                    if member.isFault { try core.faults.load(member) }
                    if clearsReferences, !member.flags.contains(.deleted), member.targetKey(slot) == object.key {
                        member.writeTargetKey(nil, slot)
                    }
                } else if let other = inverse.toManyIndex {
                    if inverse.isOrdered { _ = try member.loadedMembers(toMany: other) }
                    member.mutating(member.observerIndex(toMany: other)) {
                        core.inverses.notePair(member, object, other, added: false)
                    }
                    // The pair itself is deleted along with the row, whichever side is primary.
                    member.extras?.toMany(other)?.removed[object.key] = nil
                }
            }
        } else if let slot = relationship.slot, let key = object.targetKey(slot) {
            guard let inverseSlot = inverse.slot else {
                return core.inverses.moved(object, relationship, inverse, from: key, to: nil)
            }
            guard let partner = try core.targets.loaded(key, of: relationship, from: object, slot: slot),
                !partner.flags.contains(.deleted), clearsReferences, partner.targetKey(inverseSlot) == object.key
            else { return }
            partner.writeTargetKey(nil, inverseSlot)
        }
    }

    /// Takes a deleted object out of its members without reading those that the context does not know.
    /// - Returns: false, and nothing done, where the members are better loaded.
    private func nullifyUnread(
        _ object: ManagedObject, _ relationship: RelationshipDescription, inverse: RelationshipDescription
    ) throws(PersistenceError) -> Bool {
        let destination = model.entities[relationship.destinationIndex]
        guard core.parent == nil, relationship.deleteRule == .nullify, !object.isInserted, core.tracker.isTracking,
            !object.flags.contains(.recorded) || core.recorder?.recordsSteps != true,
            let index = relationship.toManyIndex, let slot = inverse.slot,
            // Only an object in memory is validated, and these would lack what they must have.
            destination.slots[slot].isOptional
        else { return false }
        if let state = object.extras?.toMany(index), state.members != nil || state.hasChanges { return false }
        let pairs = try core.readStore { (store) throws(StoreError) in
            try store.memberKeys(
                entityIndex: object.binding.entity.index, relationshipIndex: relationship.index, owners: [object.key])
        }
        let table = core.identityMap.table(destination.index)
        var unread: [Int64] = []
        var known: [ManagedObject] = []
        for (_, key) in pairs {
            if let member = table.object(key) { known.append(member) } else { unread.append(key) }
        }
        known += core.tracker.objectsDeletedElsewhere.filter {
            $0.binding.entity.descends(from: destination.index, in: model) && !$0.flags.contains(.deleted)
                && $0.targetKey(slot) == object.key
        }
        // A fault, or an object of an older row, is loaded with the others.
        let isCurrent = known.allSatisfy { member in
            !member.isFault && (member.hasChanges || member.targetKey(slot) == object.key)
        }
        guard isCurrent else { return false }
        for member in known where !member.flags.contains(.deleted) && member.targetKey(slot) == object.key {
            member.writeTargetKey(nil, slot)
        }
        if !unread.isEmpty {
            core.nullifications.add(unread, to: object.key, entityIndex: destination.index, slot: slot)
        }
        return true
    }
}

extension ContextCore {
    var deletion: DeletePropagation { DeletePropagation(core: self) }
}
