// A child's save, applied in memory: the same change set that a store would get. The child wins over what the parent
// has pending.

extension ManagedObjectContext {
    /// Takes a child's changes.
    /// - Throws: Before anything has changed: ``PersistenceError/objectNotFound(_:)`` if an object that the child
    ///   changed exists neither here nor below; the store's error if reading fails.
    func apply(_ changes: ChangeSet) throws(PersistenceError) {
        let targets = try findTargets(of: changes)
        let members = try findMembers(of: changes)
        defer { withExtendedLifetime(members) {} }
        for insert in changes.inserts { applyInsert(insert.row) }
        for insert in changes.inserts {
            if let object = tables[insert.row.row.entityIndex].object(insert.row.row.key) { linkInserted(object) }
        }
        for (update, object) in zip(changes.updates, targets) { applyUpdate(update, to: object) }
        for change in changes.pairs { applyPairs(change) }
        for change in changes.orders { applyOrder(change) }
        for delete in changes.deletes {
            if let object = tables[delete.entityIndex].object(delete.key) {
                self.delete(object)
            } else {
                self.delete(makeFault(key: delete.key, binding: coordinator.bindings[delete.entityIndex]))
            }
        }
    }

    /// The objects that updates are for, loaded.
    private func findTargets(of changes: ChangeSet) throws(PersistenceError) -> [ManagedObject] {
        var objects: [ManagedObject] = []
        for update in changes.updates {
            let row = update.row.row
            let object =
                tables[row.entityIndex].object(row.key)
                ?? makeFault(key: row.key, binding: coordinator.bindings[row.entityIndex])
            if object.isFault { try load(object) }
            guard !object.flags.contains(.missing) else { throw .objectNotFound(object.objectID) }
            objects.append(object)
        }
        return objects
    }

    /// The objects that pairs and orders speak of, so that nothing has to be read once something has changed: where an
    /// entity has others that inherit from it, the row alone tells the class.
    private func findMembers(of changes: ChangeSet) throws(PersistenceError) -> [ManagedObject] {
        var wanted: [Int: Set<Int64>] = [:]
        for change in changes.pairs {
            let relationship = model.entities[change.entityIndex].relationships[change.relationshipIndex]
            wanted[change.entityIndex, default: []].insert(change.owner)
            wanted[relationship.destinationIndex, default: []].formUnion(change.added + change.removed)
        }
        for change in changes.orders {
            let relationship = model.entities[change.entityIndex].relationships[change.relationshipIndex]
            wanted[change.entityIndex, default: []].insert(change.owner)
            switch change.kind {
            case .append(let keys), .arrange(let keys):
                wanted[relationship.destinationIndex, default: []].formUnion(keys)
            }
        }
        var new: [Int: Set<Int64>] = [:]
        for insert in changes.inserts {
            new[model.entities[insert.row.row.entityIndex].rootIndex, default: []].insert(insert.row.row.key)
        }
        var found: [ManagedObject] = []
        for (entityIndex, keys) in wanted {
            let ours = new[model.entities[entityIndex].rootIndex] ?? []
            let unknown = keys.filter { !ours.contains($0) && tables[entityIndex].object($0) == nil }
            found += keys.compactMap { tables[entityIndex].object($0) }
            found += try makeTargets(unknown.sorted(), destinationIndex: entityIndex)
        }
        return found
    }

    private func applyInsert(_ reference: RowReference) {
        let binding = coordinator.bindings[reference.row.entityIndex]
        if let known = tables[reference.row.entityIndex].object(reference.row.key) { detach(known) }
        let object = binding.objectClass.init(
            _seed: ObjectSeed(
                origin: bareOrigin(binding), row: reference.row, key: reference.row.key,
                flags: observesObjects ? [.inserted, .observed] : .inserted, slab: reference.slab))
        tables[binding.entity.index].insert(object, key: object.key)
        list(object)
    }

    /// Makes the inverses of a new object's to-one relationships right.
    private func linkInserted(_ object: ManagedObject) {
        for (slot, relationship) in object.binding.toOnes {
            guard let key = object.targetKey(slot) else { continue }
            let target = living(key, relationship.destinationIndex)
            // What was deleted here is no target; for others than that, the inverse is made right.
            guard target == nil || model.inverse(of: relationship) != nil else { continue }
            object.writeTargetKey(nil, slot)
            guard let target else { continue }
            object.setTarget(target, slot)
        }
    }

    private func applyUpdate(_ update: ChangeSet.Update, to object: ManagedObject) {
        if object.flags.contains(.deleted) {
            // The child changed what the parent deleted: the child wins.
            object.mutatingAll { object.flags.remove(.deleted) }
            unloadOwners(of: object.row, object.binding)
        }
        let row = update.row.row
        let slots = object.binding.entity.slots
        for index in update.slots {
            if let relationship = object.relationship(slot: index) {
                let key = row.isPresent(index) ? Int64(bitPattern: row.word(index)) : nil
                let target = key.flatMap { living($0, relationship.destinationIndex) }
                object.setTarget(target, index)
            } else {
                object.beginWrite(index)
                RowEditing.copySlot(index, layout: slots, from: row, to: &object.slab)
                object.row = object.slab.row
                object.endWrite(index)
            }
        }
    }

    private func applyPairs(_ change: ChangeSet.PairChange) {
        let relationship = model.entities[change.entityIndex].relationships[change.relationshipIndex]
        guard let index = relationship.toManyIndex else { return }
        guard let owner = living(change.owner, change.entityIndex) else { return }
        for key in change.removed {
            if let member = living(key, relationship.destinationIndex) { owner.remove(member, toMany: index) }
        }
        for key in change.added {
            if let member = living(key, relationship.destinationIndex) { owner.add(member, toMany: index) }
        }
    }

    private func applyOrder(_ change: ChangeSet.OrderChange) {
        let relationship = model.entities[change.entityIndex].relationships[change.relationshipIndex]
        guard let index = relationship.toManyIndex else { return }
        guard let owner = living(change.owner, change.entityIndex) else { return }
        // Who is a member was decided by the rows and pairs that were applied before.
        let members = owner.members(toMany: index)
        func present(_ keys: [Int64]) -> [ManagedObject] {
            keys.compactMap { tables[relationship.destinationIndex].object($0) }.filter(members.contains)
        }
        switch change.kind {
        case .append(let keys):
            // Members arrived in the order of the change set; the child knows the right one.
            let state = owner.toManyState(index)
            let objects = present(keys)
            let moved = Set(objects)
            owner.mutating(owner.observerIndex(toMany: index)) {
                state.appended = state.appended.filter { !moved.contains($0) } + objects
                if state.isRearranged {
                    state.arrangement = state.arrangement.filter { !moved.contains($0) } + objects
                }
                if let list = state.members as? AnyMemberList {
                    list.replaceAll(list.objects.filter { !moved.contains($0) } + objects)
                }
            }
        case .arrange(let keys):
            let arranged = present(keys)
            owner.setMembers(OrderMerge.merge(arranged, with: owner.members(toMany: index).objects), toMany: index)
        }
    }

    /// The object of a key, with its row; nil if there is none, or if it is deleted here.
    private func living(_ key: Int64, _ entityIndex: Int) -> ManagedObject? {
        if let known = tables[entityIndex].object(key) {
            if known.isFault { fire(known) }
            return known.isDeleted ? nil : known
        }
        guard let row = try? sourceRows(entityIndex: entityIndex, keys: [key]).first else { return nil }
        return materialize(row, group: nil)
    }
}

/// Orders of one list that two sides changed.
enum OrderMerge {
    /// The arranged members in their order; members that only the other list has keep their place after the one that
    /// they follow there.
    static func merge<T: Hashable>(_ arranged: [T], with other: [T]) -> [T] {
        let known = Set(arranged)
        var result = arranged
        var previous: T?
        for element in other {
            if !known.contains(element) {
                let position = previous.flatMap { result.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
                result.insert(element, at: position)
            }
            previous = element
        }
        return result
    }
}
