// Relationships by slot and index. The inverse is kept right at once, also where the other end is a fault or has not
// loaded its members.

extension ManagedObject {
    /// The object that a to-one slot leads to; nil if none, or if it was deleted.
    final func target(_ slot: Int) -> ManagedObject? {
        guard row.isPresent(slot), !flags.contains(.detached) else { return nil }
        let key = Int64(bitPattern: row.word(slot))
        let destination = binding.destinations[slot]
        guard destination >= 0 else { return nil }
        let home = origin.home
        guard let context = home.context else { return nil }
        if let known = home.tables[destination].object(key) { return known.isDeleted ? nil : known }
        guard let relationship = relationship(slot: slot) else { return nil }
        guard let object = context.target(key, of: relationship, from: self, slot: slot) else { return nil }
        return object.isDeleted ? nil : object
    }

    final func relationship(slot: Int) -> RelationshipDescription? {
        binding.entity.slots[slot].relationshipIndex.map { binding.entity.relationships[$0] }
    }

    final func relationship(toMany index: Int) -> RelationshipDescription {
        binding.entity.relationships[binding.entity.toManyIndexes[index]]
    }

    /// The key in a to-one slot.
    final func targetKey(_ slot: Int) -> Int64? {
        row.isPresent(slot) ? Int64(bitPattern: row.word(slot)) : nil
    }

    /// Writes a to-one slot, and nothing else.
    final func writeTargetKey(_ key: Int64?, _ slot: Int) {
        beginWrite(slot)
        if let key {
            RowEditing.setWord(UInt64(bitPattern: key), slot, in: slab)
        } else {
            RowEditing.setNil(slot, in: slab)
        }
        endWrite(slot)
    }

    /// Sets a to-one relationship and its inverse.
    final func setTarget(_ object: ManagedObject?, _ slot: Int) {
        if flags.contains(.fault) { fireFault() }
        guard let relationship = relationship(slot: slot) else { return }
        if let object { requireSameContext(object, relationship) }
        let old = targetKey(slot)
        guard let context else { return writeTargetKey(object?.key, slot) }
        if old == object?.key { return writeTargetKey(old, slot) }
        guard let inverse = binding.model.inverse(of: relationship) else { return writeTargetKey(object?.key, slot) }
        if let slotOfInverse = inverse.slot {
            // One to one: the old partner is left alone, and so is the new partner's old one.
            if let old, let partner = context.target(old, of: relationship, from: self, slot: slot),
                partner.loadedTargetKey(slotOfInverse) == key
            {
                partner.writeTargetKey(nil, slotOfInverse)
            }
            writeTargetKey(object?.key, slot)
            if let object {
                if let rival = object.loadedTargetKey(slotOfInverse), rival != key,
                    let robbed = context.target(rival, of: inverse, from: object, slot: slotOfInverse)
                {
                    if robbed.loadedTargetKey(slot) == object.key { robbed.writeTargetKey(nil, slot) }
                }
                object.writeTargetKey(key, slotOfInverse)
            }
            return
        }
        writeTargetKey(object?.key, slot)
        context.memberMoved(self, relationship: relationship, inverse: inverse, from: old, to: object)
    }

    /// The key in a to-one slot; fires a fault.
    final func loadedTargetKey(_ slot: Int) -> Int64? {
        if flags.contains(.fault) { fireFault() }
        return targetKey(slot)
    }

    /// Cross-context assignment is a programmer's error that no type can rule out within one actor.
    private func requireSameContext(_ object: ManagedObject, _ relationship: RelationshipDescription) {
        guard let context, let other = object.context, context !== other else { return }
        fatalError(
            """
            \(binding.entity.name).\(relationship.name): \(object.objectID) belongs to another context; \
            use context.object(with: other.objectID) to get this context's own object
            """)
    }

    // MARK: To-many

    /// The state of a to-many relationship, made at the first touch.
    final func toManyState(_ index: Int) -> ToManyState {
        let extras = someExtras
        if let state = extras.toMany(index) { return state }
        let state = ToManyState()
        if extras.toManys.isEmpty { extras.toManys = Array(repeating: nil, count: binding.entity.toManyIndexes.count) }
        extras.toManys[index] = state
        // A new object has no members that it does not know of.
        if flags.contains(.inserted) {
            state.members = makeStorage(index)
            if case .pairs = relationship(toMany: index).storage {
                context?.pairHolders[PairSide(binding.entity, toMany: index), default: []].insert(key)
            }
        }
        return state
    }

    final func makeStorage(_ index: Int) -> MemberStorage {
        let relationship = relationship(toMany: index)
        guard let context else {
            return ManagedObject.makeMembers(ordered: relationship.isOrdered, isClosed: true)
        }
        let destination = context.binding(at: relationship.destinationIndex)
        return destination.objectClass.makeMembers(ordered: relationship.isOrdered, isClosed: destination.isClosed)
    }

    /// The members of a to-many relationship, loaded for all objects of the batch at the first touch.
    @usableFromInline
    final func members(toMany index: Int) -> MemberStorage {
        if let members = extras?.toMany(index)?.members { return members }
        let state = toManyState(index)
        if let members = state.members { return members }
        if let context, !flags.contains(.missing) {
            do throws(PersistenceError) {
                try context.loadMembers(toMany: index, of: self)
            } catch {
                context.report(error, self)
            }
        }
        if let members = state.members { return members }
        return makeStorage(index)
    }

    /// Adds a member and sets its inverse.
    final func add(_ object: ManagedObject, toMany index: Int) {
        let relationship = relationship(toMany: index)
        requireSameContext(object, relationship)
        guard let inverse = binding.model.inverse(of: relationship), let slot = inverse.slot else {
            return setPair(object, index, relationship, added: true)
        }
        object.setTarget(self, slot)
    }

    /// Removes a member and clears its inverse.
    final func remove(_ object: ManagedObject, toMany index: Int) {
        let relationship = relationship(toMany: index)
        guard let inverse = binding.model.inverse(of: relationship), let slot = inverse.slot else {
            return setPair(object, index, relationship, added: false)
        }
        if object.loadedTargetKey(slot) == key { object.setTarget(nil, slot) }
    }

    private func setPair(_ object: ManagedObject, _ index: Int, _ relationship: RelationshipDescription, added: Bool) {
        notePair(object, index, added: added)
        if let inverse = binding.model.inverse(of: relationship), let other = inverse.toManyIndex,
            !(object === self && other == index)
        {
            object.mutating(object.observerIndex(toMany: other)) { object.notePair(self, other, added: added) }
        }
    }

    /// Notes a pair on this side. Whether the store has it is not known here, nor what it will have at the save, so the
    /// last wish counts, also where nothing seems to change.
    final func notePair(_ object: ManagedObject, _ index: Int, added: Bool) {
        // A member that is there already keeps its place, so an order must be known.
        if relationship(toMany: index).isOrdered { _ = members(toMany: index) }
        let state = toManyState(index)
        if added {
            state.removed[object.key] = nil
            state.added[object.key] = object
            if state.members?.contains(object) == true {
                state.isTouched = true
                noteToManyChange()
            } else {
                noteAppended(object, state, index)
            }
        } else {
            state.added[object.key] = nil
            state.removed[object.key] = object
            noteRemoved(object, state, index)
        }
    }

    /// Puts a new member last.
    final func noteAppended(_ object: ManagedObject, _ state: ToManyState, _ index: Int) {
        if relationship(toMany: index).isOrdered {
            state.appended.append(object)
            if state.isRearranged { state.arrangement.append(object) }
        }
        state.isTouched = true
        _ = state.members?.insert(object)
        noteToManyChange()
    }

    /// Takes a member out.
    final func noteRemoved(_ object: ManagedObject, _ state: ToManyState, _ index: Int) {
        if !state.appended.isEmpty { state.appended.removeAll { $0 === object } }
        if !state.arrangement.isEmpty { state.arrangement.removeAll { $0 === object } }
        state.isTouched = true
        _ = state.members?.remove(object)
        noteToManyChange()
    }

    /// Puts the object among the changed ones for the sake of a relationship that is not in its row.
    final func noteToManyChange() {
        guard let context, !context.isAwakening else { return }
        context.changeCount &+= 1
        if flags.isDisjoint(with: [.updated, .inserted]), !flags.contains(.missing) {
            flags.insert(.updated)
            context.list(self)
        }
    }

    /// Replaces the members, and the order if there is one.
    final func setMembers(_ objects: [ManagedObject], toMany index: Int) {
        mutating(observerIndex(toMany: index)) {
            var seen: Set<ManagedObject> = []
            let wanted = objects.filter { seen.insert($0).inserted }
            let current = members(toMany: index).objects
            for object in current where !seen.contains(object) { remove(object, toMany: index) }
            let known = Set(current)
            for object in wanted where !known.contains(object) { add(object, toMany: index) }
            guard relationship(toMany: index).isOrdered else { return }
            let state = toManyState(index)
            guard let list = state.members as? AnyMemberList, list.objects != wanted else { return }
            state.isRearranged = true
            state.arrangement = wanted
            list.replaceAll(wanted)
            noteToManyChange()
        }
    }
}
