/// Changes relationships and keeps both ends in agreement, even where the other end is a fault or has not loaded its
/// members.
///
/// Every change either takes effect as a whole or throws before it has changed anything.
struct InverseMaintenance {
    let core: ContextCore

    private var model: ManagedObjectModel { core.model }

    // MARK: To-one

    /// Sets a to-one relationship and its inverse. What needs rows that cannot be read now follows before the next save.
    func setTarget(of object: ManagedObject, _ target: ManagedObject?, _ slot: Int) {
        core.tracker.requireOpen(object)
        if object.isFault { object.fireFault() }
        guard let relationship = object.relationship(slot: slot) else { return }
        if let target { requireSameContext(object, target, relationship) }
        guard let inverse = model.inverse(of: relationship) else { return object.writeTargetKey(target?.key, slot) }
        guard !object.isFault else {
            // Where it led so far is not known. The object takes the new target now, and the rest of the graph follows when
            // the row can be read.
            object.writeTargetKey(target?.key, slot)
            if inverse.slot == nil { noteMoved(object, relationship, inverse, from: nil, to: target) }
            return core.unresolved.add(object) { (core) throws(PersistenceError) in
                try core.inverses.settleInverse(of: object, slot, relationship, inverse)
            }
        }
        let old = object.targetKey(slot)
        if old == target?.key { return object.writeTargetKey(old, slot) }
        guard let inverseSlot = inverse.slot else {
            object.writeTargetKey(target?.key, slot)
            return moved(object, relationship, inverse, from: old, to: target)
        }
        let partners = OneToOnePartners(object: object, slot: slot, relationship, inverseSlot: inverseSlot, inverse)
        core.unresolved.perform(on: object) { (core) throws(PersistenceError) in
            try core.inverses.setPartner(partners, old: old, target)
        }
        if object.targetKey(slot) != target?.key {
            // The partners' rows could not be read. The object has its new partner all the same.
            object.writeTargetKey(target?.key, slot)
        }
    }

    /// One end of a one-to-one relationship.
    private struct OneToOnePartners {
        let object: ManagedObject
        let slot: Int
        let relationship: RelationshipDescription
        let inverseSlot: Int
        let inverse: RelationshipDescription

        init(
            object: ManagedObject, slot: Int, _ relationship: RelationshipDescription, inverseSlot: Int,
            _ inverse: RelationshipDescription
        ) {
            self.object = object
            self.slot = slot
            self.relationship = relationship
            self.inverseSlot = inverseSlot
            self.inverse = inverse
        }
    }

    /// Sets both ends of a one-to-one relationship: the old partner is left without one, and so is the new partner's old
    /// one.
    private func setPartner(
        _ ends: OneToOnePartners, old: Int64?, _ target: ManagedObject?
    ) throws(PersistenceError) {
        let object = ends.object
        var left: ManagedObject?
        if let old, let partner = try core.targets.loaded(old, of: ends.relationship, from: object, slot: ends.slot),
            partner.targetKey(ends.inverseSlot) == object.key
        {
            left = partner
        }
        var rival: ManagedObject?
        if let target {
            if target.isFault { try core.faults.load(target) }
            if let key = target.targetKey(ends.inverseSlot), key != object.key,
                let other = try core.targets.loaded(key, of: ends.inverse, from: target, slot: ends.inverseSlot),
                other.targetKey(ends.slot) == target.key
            {
                rival = other
            }
        }
        left?.writeTargetKey(nil, ends.inverseSlot)
        object.writeTargetKey(target?.key, ends.slot)
        rival?.writeTargetKey(nil, ends.slot)
        target?.writeTargetKey(object.key, ends.inverseSlot)
    }

    /// After the row of an object has been read whose slot was written before: makes the ends agree.
    private func settleInverse(
        of object: ManagedObject, _ slot: Int, _ relationship: RelationshipDescription,
        _ inverse: RelationshipDescription
    ) throws(PersistenceError) {
        if object.isFault { try core.faults.load(object) }
        guard !object.isDeleted else { return }
        let old = object.changes?.snapshot.flatMap {
            $0.row.isPresent(slot) ? Int64(bitPattern: $0.row.word(slot)) : nil
        }
        let new = object.targetKey(slot)
        if inverse.slot != nil {
            let keys = Set([old, new].compactMap(\.self))
            return try core.oneToOneRepair.settle(object, [slot: keys])
        }
        guard let old, old != new else { return }
        try leave(object, relationship, inverse, old)
    }

    // MARK: The to-many end

    /// Updates the to-many end after a to-one slot changed.
    func moved(
        _ object: ManagedObject, _ relationship: RelationshipDescription, _ inverse: RelationshipDescription,
        from old: Int64?, to new: ManagedObject?
    ) {
        if let old {
            core.unresolved.perform(on: object) { (core) throws(PersistenceError) in
                try core.inverses.leave(object, relationship, inverse, old)
            }
        }
        noteMoved(object, relationship, inverse, from: nil, to: new)
    }

    private func noteMoved(
        _ object: ManagedObject, _ relationship: RelationshipDescription, _ inverse: RelationshipDescription,
        from old: ManagedObject?, to new: ManagedObject?
    ) {
        guard let index = inverse.toManyIndex else { return }
        if let old {
            if old.flags.contains(.recorded) { core.tracker.willChangeMembers(old, index) }
            old.mutating(old.observerIndex(toMany: index)) {
                old.toManyState(index).noteRemoved(object)
                core.tracker.noteToManyChange(old)
            }
        }
        if let new {
            new.mutating(new.observerIndex(toMany: index)) { noteAppended(object, to: new, index) }
        }
    }

    /// Takes an object out of the members of its old owner.
    private func leave(
        _ object: ManagedObject, _ relationship: RelationshipDescription, _ inverse: RelationshipDescription,
        _ old: Int64
    ) throws(PersistenceError) {
        var owner = core.object(relationship.destinationIndex, old)
        if owner == nil, inverse.declaration.minimumCount > 0, let slot = relationship.slot {
            // Only an object in memory is validated, and this one may have too few members now.
            owner = try core.targets.target(old, of: relationship, from: object, slot: slot)
        }
        guard let owner, !owner.flags.contains(.deleted) else { return }
        noteMoved(object, relationship, inverse, from: owner, to: nil)
    }

    // MARK: To-many

    /// Adds a member and sets its inverse.
    func add(_ member: ManagedObject, to owner: ManagedObject, _ index: Int) throws(PersistenceError) {
        let relationship = owner.relationship(toMany: index)
        requireSameContext(owner, member, relationship)
        if let slot = model.inverse(of: relationship)?.slot { return setTarget(of: member, owner, slot) }
        try setPair(owner, member, index, relationship, added: true)
    }

    /// Removes a member and clears its inverse.
    func remove(_ member: ManagedObject, from owner: ManagedObject, _ index: Int) throws(PersistenceError) {
        let relationship = owner.relationship(toMany: index)
        guard let slot = model.inverse(of: relationship)?.slot else {
            return try setPair(owner, member, index, relationship, added: false)
        }
        if member.isFault { try core.faults.load(member) }
        if member.targetKey(slot) == owner.key { setTarget(of: member, nil, slot) }
    }

    /// Replaces the members, and the order if there is one.
    func setMembers(of owner: ManagedObject, _ objects: [ManagedObject], _ index: Int) throws(PersistenceError) {
        let current = try owner.loadedMembers(toMany: index).objects
        var seen: Set<ManagedObject> = []
        let wanted = objects.filter { seen.insert($0).inserted }
        let relationship = owner.relationship(toMany: index)
        try loadInverses(relationship, of: current.filter { !seen.contains($0) }, and: wanted)
        let observer = owner.observerIndex(toMany: index)
        owner.willChange(observer)
        defer { owner.didChange(observer) }
        for member in current where !seen.contains(member) { try remove(member, from: owner, index) }
        let known = Set(current)
        for member in wanted where !known.contains(member) { try add(member, to: owner, index) }
        guard relationship.isOrdered else { return }
        let state = owner.toManyState(index)
        guard let list = state.members as? AnyMemberList, list.objects != wanted else { return }
        if owner.flags.contains(.recorded) { core.tracker.willChangeMembers(owner, index) }
        state.rearrange(wanted, list)
        core.tracker.noteToManyChange(owner)
    }

    /// Reads what the members of a relationship must have loaded before they can be removed and added.
    private func loadInverses(
        _ relationship: RelationshipDescription, of removed: [ManagedObject], and wanted: [ManagedObject]
    ) throws(PersistenceError) {
        guard let inverse = model.inverse(of: relationship) else { return }
        if let other = inverse.toManyIndex {
            guard inverse.isOrdered else { return }
            for member in removed + wanted { _ = try member.loadedMembers(toMany: other) }
        } else {
            // Whether a fault belongs to the owner is in its row.
            for member in removed where member.isFault { try core.faults.load(member) }
        }
    }

    /// Inserts a member at a position, or moves it there.
    func insert(
        _ member: ManagedObject, at position: Int, in owner: ManagedObject, _ index: Int
    ) throws(PersistenceError) {
        let storage = try owner.loadedMembers(toMany: index)
        let observer = owner.observerIndex(toMany: index)
        owner.willChange(observer)
        defer { owner.didChange(observer) }
        if !storage.contains(member) { try add(member, to: owner, index) }
        place(member, at: position, in: owner, index)
    }

    /// Moves a member. Positions that do not exist change nothing.
    func move(
        in owner: ManagedObject, from position: Int, to newPosition: Int, _ index: Int
    ) throws(PersistenceError) {
        let objects = try owner.loadedMembers(toMany: index).objects
        guard objects.indices.contains(position), objects.indices.contains(newPosition), position != newPosition
        else { return }
        owner.mutating(owner.observerIndex(toMany: index)) {
            place(objects[position], at: newPosition, in: owner, index)
        }
    }

    /// Puts members last, as a child has done.
    func moveToEnd(_ members: [ManagedObject], in owner: ManagedObject, _ index: Int) {
        guard !members.isEmpty else { return }
        owner.mutating(owner.observerIndex(toMany: index)) {
            if owner.flags.contains(.recorded) { core.tracker.willChangeMembers(owner, index) }
            owner.toManyState(index).append(members)
            core.tracker.noteToManyChange(owner)
        }
    }

    private func place(_ member: ManagedObject, at position: Int, in owner: ManagedObject, _ index: Int) {
        let state = owner.toManyState(index)
        guard let list = state.members as? AnyMemberList, let old = list.objects.firstIndex(of: member) else { return }
        // A member that is put last where it is last already was appended, not rearranged.
        guard min(max(position, 0), list.count - 1) != old else { return }
        if owner.flags.contains(.recorded) { core.tracker.willChangeMembers(owner, index) }
        state.move(member, to: position, list)
        core.tracker.noteToManyChange(owner)
    }

    // MARK: Pairs

    private func setPair(
        _ owner: ManagedObject, _ member: ManagedObject, _ index: Int, _ relationship: RelationshipDescription,
        added: Bool
    ) throws(PersistenceError) {
        let inverse = model.inverse(of: relationship)
        let other = inverse?.toManyIndex
        // A member that already exists keeps its place, so an order must be known.
        if relationship.isOrdered { _ = try owner.loadedMembers(toMany: index) }
        if let inverse, inverse.isOrdered, let other { _ = try member.loadedMembers(toMany: other) }
        notePair(owner, member, index, added: added)
        guard let other, !(member === owner && other == index) else { return }
        member.mutating(member.observerIndex(toMany: other)) { notePair(member, owner, other, added: added) }
    }

    /// Notes a pair on one side. Whether the store has it is not known here, nor whether it will have it at the save, so the
    /// last request counts, even where nothing seems to change.
    func notePair(_ owner: ManagedObject, _ member: ManagedObject, _ index: Int, added: Bool) {
        if owner.flags.contains(.recorded) {
            core.tracker.willChangeMembers(owner, index)
            core.tracker.willChangePair(owner, member, index, added: added)
        }
        let state = owner.toManyState(index)
        state.notePair(member, added: added)
        guard added else {
            state.noteRemoved(member)
            return core.tracker.noteToManyChange(owner)
        }
        guard state.members?.contains(member) == true else { return noteAppended(member, to: owner, index) }
        state.isTouched = true
        core.tracker.noteToManyChange(owner)
    }

    /// Puts a new member last.
    private func noteAppended(_ member: ManagedObject, to owner: ManagedObject, _ index: Int) {
        if owner.flags.contains(.recorded) { core.tracker.willChangeMembers(owner, index) }
        owner.toManyState(index).noteAppended(member, isOrdered: owner.relationship(toMany: index).isOrdered)
        core.tracker.noteToManyChange(owner)
    }

    /// Assigning an object of another context is a programmer error that no type can rule out within one actor.
    private func requireSameContext(
        _ object: ManagedObject, _ other: ManagedObject, _ relationship: RelationshipDescription
    ) {
        guard let theirs = other.core, theirs !== core else { return }
        fatalError(
            """
            \(object.binding.entity.name).\(relationship.name): \(other.objectID) belongs to another context; \
            use context.object(with: other.objectID) to get this context's own object
            """)
    }
}

extension ContextCore {
    var inverses: InverseMaintenance { InverseMaintenance(core: self) }
}
