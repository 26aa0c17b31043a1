// A child's save, applied in memory: the same change set that a store would get. The child wins over what the parent has pending.

extension ManagedObjectContext {
    /// Takes a child's changes.
    /// - Throws: Before anything has changed: ``PersistenceError/objectNotFound(_:)`` if an object that the child changed exists neither here nor below;
    ///   the store's error if reading fails.
    func apply(_ changes: ChangeSet) throws(PersistenceError) {
        let targets = try findTargets(of: changes)
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
                self.delete(makeFault(key: delete.key, binding: coordinator.bindings[delete.entityIndex], group: nil))
            }
        }
    }

    /// The objects that updates are for, loaded.
    private func findTargets(of changes: ChangeSet) throws(PersistenceError) -> [ManagedObject] {
        var objects: [ManagedObject] = []
        for update in changes.updates {
            let row = update.row.row
            let object = tables[row.entityIndex].object(row.key)
                ?? makeFault(key: row.key, binding: coordinator.bindings[row.entityIndex], group: nil)
            if object.isFault { try load(object) }
            guard !object.flags.contains(.missing) else { throw .objectNotFound(object.objectID) }
            objects.append(object)
        }
        return objects
    }

    private func applyInsert(_ reference: RowReference) {
        let binding = coordinator.bindings[reference.row.entityIndex]
        if let known = tables[reference.row.entityIndex].object(reference.row.key) { detach(known) }
        let object = binding.objectClass.init(
            _seed: ObjectSeed(
                binding: binding, key: reference.row.key, context: self, reference: reference,
                flags: observesObjects ? [.inserted, .observed] : .inserted, group: nil))
        tables[binding.entity.index].insert(object, key: object.key)
        list(object)
    }

    /// Makes the inverses of a new object's to-one relationships right.
    private func linkInserted(_ object: ManagedObject) {
        for (slot, relationship) in object.binding.toOnes where model.inverse(of: relationship) != nil {
            guard let target = object.target(slot) else { continue }
            object.writeTargetKey(nil, slot)
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
                let target = key.flatMap { self.target($0, of: relationship, from: object, slot: index) }
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
        let owner = known(change.owner, change.entityIndex)
        for key in change.removed { owner.remove(known(key, relationship.destinationIndex), toMany: index) }
        for key in change.added { owner.add(known(key, relationship.destinationIndex), toMany: index) }
    }

    private func applyOrder(_ change: ChangeSet.OrderChange) {
        let relationship = model.entities[change.entityIndex].relationships[change.relationshipIndex]
        guard let index = relationship.toManyIndex else { return }
        let owner = known(change.owner, change.entityIndex)
        switch change.kind {
        case .append(let keys):
            // Members arrived in the order of the change set; the child knows the right one.
            let state = owner.toManyState(index)
            let objects = keys.map { known($0, relationship.destinationIndex) }
            let moved = Set(objects)
            owner.mutating(owner.observerIndex(toMany: index)) {
                state.appended = state.appended.filter { !moved.contains($0) } + objects
                if let list = state.members as? AnyMemberList {
                    list.replaceAll(list.objects.filter { !moved.contains($0) } + objects)
                }
            }
        case .arrange(let keys):
            let arranged = keys.map { known($0, relationship.destinationIndex) }
            owner.setMembers(OrderMerge.merge(arranged, with: owner.members(toMany: index).objects), toMany: index)
        }
    }

    private func known(_ key: Int64, _ entityIndex: Int) -> ManagedObject {
        tables[entityIndex].object(key) ?? makeFault(key: key, binding: coordinator.bindings[entityIndex], group: nil)
    }
}

/// Orders of one list that two sides changed.
enum OrderMerge {
    /// The arranged members in their order; members that only the other list has keep their place after the one that they follow there.
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
