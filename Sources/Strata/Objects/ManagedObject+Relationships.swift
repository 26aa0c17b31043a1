import StrataStore

// Relationships by slot and index. Reading loads; changes go to ``InverseMaintenance``.

extension ManagedObject {
    final func relationship(slot: Int) -> RelationshipDescription? {
        binding.entity.slots[slot].relationshipIndex.map { binding.entity.relationships[$0] }
    }

    final func relationship(toMany index: Int) -> RelationshipDescription {
        binding.entity.relationships[binding.entity.toManyIndexes[index]]
    }

    // MARK: To-one

    /// The target of a to-one slot; nil if there is none, or if it was deleted.
    final func target(_ slot: Int) -> ManagedObject? {
        if flags.contains(.readsRecorded) { noteRead(relationship(slot: slot)) }
        guard row.isPresent(slot), !flags.contains(.detached) else { return nil }
        let key = Int64(bitPattern: row.word(slot))
        let source = source
        let destination = source.binding.destinations[slot]
        guard destination >= 0 else { return nil }
        if let known = source.identityMap?.table(destination).object(key) { return known.isDeleted ? nil : known }
        guard let core, let relationship = relationship(slot: slot) else { return nil }
        do throws(PersistenceError) {
            let object = try core.targets.target(key, of: relationship, from: self, slot: slot) { count in
                core.settings.loads?.note(self, relationship, count: count)
            }
            return object?.isDeleted == true ? nil : object
        } catch {
            core.report(error, self)
            return nil
        }
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
    @usableFromInline
    final func setTarget(_ object: ManagedObject?, _ slot: Int) {
        guard let core else { return writeTargetKey(object?.key, slot) }
        core.inverses.setTarget(of: self, object, slot)
    }

    // MARK: To-many

    /// The state of a to-many relationship, created at the first touch.
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
                core?.pairOwners.add([key], ToManySide(binding.entity, toMany: index))
            }
        }
        return state
    }

    final func makeStorage(_ index: Int) -> MemberStorage {
        let relationship = relationship(toMany: index)
        guard let core else {
            return ManagedObject.makeMembers(ordered: relationship.isOrdered, isClosed: true)
        }
        let destination = core.binding(at: relationship.destinationIndex)
        return destination.objectClass.makeMembers(ordered: relationship.isOrdered, isClosed: destination.isClosed)
    }

    /// The members of a to-many relationship, loaded for all objects of the batch at the first touch; none, and the error
    /// reported, if the store fails.
    @usableFromInline
    final func members(toMany index: Int) -> MemberStorage {
        if flags.contains(.readsRecorded) { noteRead(relationship(toMany: index)) }
        if let members = extras?.toMany(index)?.members { return members }
        do throws(PersistenceError) {
            return try loadedMembers(toMany: index) { count in
                core?.settings.loads?.note(self, relationship(toMany: index), count: count)
            }
        } catch {
            core?.report(error, self)
            if core?.isClosed == false { toManyState(index).readFailed = true }
            return makeStorage(index)
        }
    }

    /// Replaces the members of a to-many relationship.
    ///
    /// `author.books.insert(book)` reads the set, changes it and assigns it. If the read failed, and so showed no members,
    /// the assignment must not remove those that could not be read: the members that it has are added. If it has none, it
    /// may have meant to remove one, or all, and the save fails.
    final func assignMembers(_ objects: [ManagedObject], _ index: Int) {
        guard extras?.toMany(index)?.readFailed == true, let core else {
            return changeRelationship { (inverses) throws(PersistenceError) in
                try inverses.setMembers(of: self, objects, index)
            }
        }
        guard objects.isEmpty else {
            return changeRelationship { (inverses) throws(PersistenceError) in
                for object in objects { try inverses.add(object, to: self, index) }
            }
        }
        let (id, name) = (objectID, relationship(toMany: index).name)
        core.unresolved.add(self) { (_) throws(PersistenceError) in throw .relationshipNotRead(id, relationship: name) }
    }

    /// Tells those who want to know of a look at a relationship.
    private func noteRead(_ relationship: RelationshipDescription?) {
        guard let relationship, let loads = core?.settings.loads else { return }
        loads.noteRead(relationship, binding.entity)
    }

    /// The members of a to-many relationship, loaded for all objects of the batch at the first touch.
    /// - Parameter onLoad: Called after the store was asked, with the number of objects that it was asked for.
    /// - Throws: The store's error if they cannot be loaded.
    final func loadedMembers(
        toMany index: Int, onLoad: (Int) -> Void = { _ in }
    ) throws(PersistenceError) -> MemberStorage {
        if let members = extras?.toMany(index)?.members { return members }
        guard let core else { return makeStorage(index) }
        if core.isClosed {
            return isDeleted ? makeStorage(index) : try core.closedGraph.members(of: self, toMany: index, onLoad)
        }
        let state = toManyState(index)
        if let members = state.members { return members }
        if !flags.contains(.missing) { onLoad(try core.members.load(toMany: index, of: self)) }
        return state.members ?? makeStorage(index)
    }

    /// Changes relationships. A change that needs rows which cannot be read now is kept, and made before the next save.
    final func changeRelationship(
        _ change: @escaping (InverseMaintenance) throws(PersistenceError) -> Void
    ) {
        guard let core else { return }
        core.tracker.requireOpen(self)
        core.unresolved.perform(on: self) { (core) throws(PersistenceError) in try change(core.inverses) }
    }
}
