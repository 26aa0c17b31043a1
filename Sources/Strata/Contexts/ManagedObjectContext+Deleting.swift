// A delete takes effect at once: rules run here, so that no relationship ever shows a deleted object. Deny is checked
// at the save.

extension ManagedObjectContext {
    /// Deletes an object and, by the delete rules of its relationships, others. The rows go with the next save. A new
    /// object is simply forgotten. An object of another context, or one that is deleted already, is left alone.
    ///
    /// Where the rule of a to-many relationship is to nullify, members that this context does not have are not read for
    /// it: the save sets their references to nil in the store. They count as changed objects once something reads them.
    public func delete(_ object: ManagedObject) {
        guard object.context === self, object.flags.isDisjoint(with: [.deleted, .deleting, .detached]) else {
            return
        }
        if object.isFault { fire(object) }
        guard !object.flags.contains(.missing) else { return }
        var doomed: [ManagedObject] = []
        var queue: [ManagedObject] = [object]
        object.flags.insert(.deleting)
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
        for object in doomed { object.mutatingAll { object.flags.insert(.deleted) } }
        for object in doomed {
            for relationship in object.binding.entity.relationships { unlink(object, relationship) }
        }
        for object in doomed {
            object.flags.remove(.deleting)
            list(object)
        }
    }

    private func cascadeTargets(of object: ManagedObject) -> [ManagedObject] {
        object.binding.entity.relationships.flatMap { relationship -> [ManagedObject] in
            guard relationship.deleteRule == .cascade else { return [] }
            let targets: [ManagedObject]
            if let index = relationship.toManyIndex {
                targets = object.members(toMany: index).objects
            } else {
                targets = relationship.slot.flatMap { object.target($0) }.map { [$0] } ?? []
            }
            for target in targets where target.isFault { fire(target) }
            return targets
        }
    }

    /// Takes a deleted object out of the relationships that lead to it.
    private func unlink(_ object: ManagedObject, _ relationship: RelationshipDescription) {
        guard relationship.deleteRule != .noAction, let inverse = model.inverse(of: relationship) else {
            if relationship.isToMany, model.inverse(of: relationship) == nil, let index = relationship.toManyIndex,
                let state = object.extras?.toMany(index)
            {
                // Pairs without a way back go with the row.
                state.clearChanges()
            }
            return
        }
        if let index = relationship.toManyIndex {
            if clearUnread(object, relationship, inverse: inverse) { return }
            for member in object.members(toMany: index).objects where member !== object {
                if let slot = inverse.slot {
                    // A denied delete leaves the members as they are: the save will refuse it. A new object goes
                    // without a save.
                    if relationship.deleteRule != .deny || object.isInserted, !member.flags.contains(.deleted),
                        member.targetKey(slot) == object.key
                    {
                        member.writeTargetKey(nil, slot)
                    }
                } else if let other = inverse.toManyIndex {
                    member.mutating(member.observerIndex(toMany: other)) {
                        member.notePair(object, other, added: false)
                    }
                    // The pair itself goes with the row, whichever side is primary.
                    member.extras?.toMany(other)?.removed[object.key] = nil
                }
            }
            return
        }
        guard let slot = relationship.slot, let key = object.targetKey(slot) else { return }
        if let slotOfInverse = inverse.slot {
            guard let partner = target(key, of: relationship, from: object, slot: slot),
                !partner.flags.contains(.deleted)
            else { return }
            if partner.isFault { fire(partner) }
            if relationship.deleteRule != .deny || object.isInserted, partner.targetKey(slotOfInverse) == object.key {
                partner.writeTargetKey(nil, slotOfInverse)
            }
        } else {
            memberMoved(object, relationship: relationship, inverse: inverse, from: key, to: nil)
        }
    }

    /// Keeps the to-many side right after the to-one side changed.
    func memberMoved(
        _ object: ManagedObject, relationship: RelationshipDescription, inverse: RelationshipDescription,
        from old: Int64?,
        to new: ManagedObject?
    ) {
        guard let index = inverse.toManyIndex else { return }
        if let old {
            var owner = tables[relationship.destinationIndex].object(old)
            if owner == nil, inverse.declaration.minimumCount > 0, let slot = relationship.slot {
                // Only an object in memory is validated, and this one may have too few members now.
                owner = target(old, of: relationship, from: object, slot: slot)
            }
            if let owner, !owner.flags.contains(.deleted) {
                owner.mutating(owner.observerIndex(toMany: index)) {
                    owner.noteRemoved(object, owner.toManyState(index), index)
                }
            }
        }
        if let new {
            new.mutating(new.observerIndex(toMany: index)) {
                new.noteAppended(object, new.toManyState(index), index)
            }
        }
    }
}
