import StrataStore

/// Applies a child's save in memory: the same change set that a store would get. The child wins over the pending changes of
/// the parent.
struct ParentSave {
    /// The parent's core.
    let core: ContextCore

    private var model: ManagedObjectModel { core.model }

    /// Takes a child's changes.
    /// - Parameter runsRules: Whether deletes reach the objects that are related here.
    /// - Returns: The rows of objects that have become others than the child has: operations met other values than there, or
    ///   references lead to what is deleted here.
    /// - Throws: Before anything has changed: ``PersistenceError/objectNotFound(_:)`` if an object that the child
    ///   changed exists neither here nor below; the store's error if reading fails.
    func apply(_ changes: ChangeSet, runsRules: Bool = true) throws(PersistenceError) -> [RowReference] {
        let loaded = try load(changes)
        let targets = try findTargets(of: changes)
        let members = try findMembers(of: changes)
        defer { withExtendedLifetime((loaded, members)) {} }
        // Before anything that may lead to them.
        for object in targets where object.flags.contains(.deleted) { bringBack(object) }
        for (insert, assigned) in zip(changes.inserts, changes.assigned) {
            core.factory.adopt(insert.row, assigned: assigned)
        }
        var others: [ManagedObject] = []
        for insert in changes.inserts {
            guard let object = core.object(insert.row.row.entityIndex, insert.row.row.key) else { continue }
            if !linkInserted(object) { others.append(object) }
        }
        for (update, object) in zip(changes.updates, targets) {
            let operations = changes.operations(of: update)
            let isSame = applyUpdate(update, operations, to: object)
            if !isSame || !operations.isEmpty { others.append(object) }
        }
        for change in changes.pairs { try applyPairs(change) }
        for change in changes.orders { try applyOrder(change) }
        // An object that had no row before is not reported as deleted now.
        let deleted = changes.deletes.compactMap { core.object($0.entityIndex, $0.key) }
            .filter { !$0.flags.contains(.missing) }
        if runsRules { deleted.forEach(core.deletion.delete) } else { core.deletion.take(deleted) }
        return others.filter { !$0.isDeleted }.map(\.sharedRow)
    }

    /// The objects that a child changes or deletes, with their rows, as far as there are any: one read for each hierarchy.
    func load(_ changes: ChangeSet) throws(PersistenceError) -> [ManagedObject] {
        var found: [ManagedObject] = []
        var unknown: [Int: [Int64]] = [:]
        func look(_ entityIndex: Int, _ key: Int64) {
            if let object = core.object(entityIndex, key) {
                found.append(object)
            } else {
                unknown[core.rootIndex(of: entityIndex), default: []].append(key)
            }
        }
        for update in changes.updates { look(update.row.row.entityIndex, update.row.row.key) }
        for delete in changes.deletes { look(delete.entityIndex, delete.key) }
        for (_, faults) in Dictionary(grouping: found.filter(\.isFault), by: \.binding.entity.rootIndex) {
            try core.faults.fill(faults)
        }
        for (root, keys) in unknown {
            for row in try core.rows.rows(entityIndex: root, keys: keys.sorted()) {
                // A mirror may know no more than the key.
                let isKnown = !row.row.isHeaderOnly
                found.append(
                    isKnown
                        ? core.factory.materialize(row, batch: nil)
                        : core.factory.makeFault(key: row.row.key, binding: core.binding(at: row.row.entityIndex)))
            }
        }
        return found
    }

    /// The objects that updates are for.
    private func findTargets(of changes: ChangeSet) throws(PersistenceError) -> [ManagedObject] {
        var objects: [ManagedObject] = []
        for update in changes.updates {
            let row = update.row.row
            guard let object = core.object(row.entityIndex, row.key) else {
                throw .objectNotFound(core.objectID(RowIdentity(entityIndex: row.entityIndex, key: row.key)))
            }
            if object.isFault { try core.faults.load(object) }
            guard !object.flags.contains(.missing) else { throw .objectNotFound(object.objectID) }
            for (index, done) in changes.operations(of: update) {
                let slot = object.binding.entity.slots[index]
                guard let type = slot.type, let old = object.row.operand(slot),
                    done.applied(to: old, of: type) != nil
                else {
                    throw object.inapplicable(slot, to: object.row)
                }
            }
            objects.append(object)
        }
        return objects
    }

    /// The objects that pairs, orders and references are about, with their rows and, where these are needed, members, so
    /// that nothing has to be read once something has changed.
    private func findMembers(of changes: ChangeSet) throws(PersistenceError) -> [ManagedObject] {
        var found: [ManagedObject] = []
        for (entityIndex, keys) in referencedKeys(of: changes) {
            let unknown = keys.filter { core.object(entityIndex, $0) == nil }
            found += keys.compactMap { core.object(entityIndex, $0) }
            let made = try core.targets.makeTargets(unknown.sorted(), destinationIndex: entityIndex)
            try core.targets.loadNew(made, made)
            found += made
        }
        for object in found where object.isFault { try core.faults.load(object) }
        for change in changes.orders { try loadMembers(change.owner, change.entityIndex, change.relationshipIndex) }
        for change in changes.pairs {
            let relationship = model.entities[change.entityIndex].relationships[change.relationshipIndex]
            if relationship.isOrdered {
                try loadMembers(change.owner, change.entityIndex, change.relationshipIndex)
            }
            guard let inverse = model.inverse(of: relationship), inverse.isOrdered else { continue }
            for key in change.added + change.removed {
                try loadMembers(key, relationship.destinationIndex, inverse.index)
            }
        }
        return found
    }

    private func loadMembers(_ key: Int64, _ entityIndex: Int, _ relationshipIndex: Int) throws(PersistenceError) {
        let relationship = model.entities[entityIndex].relationships[relationshipIndex]
        guard let index = relationship.toManyIndex, let owner = core.object(entityIndex, key), !owner.isDeleted
        else { return }
        _ = try owner.loadedMembers(toMany: index)
    }

    /// The keys that changes refer to, by entity, without those of new objects.
    private func referencedKeys(of changes: ChangeSet) -> [Int: Set<Int64>] {
        var new: Set<RowIdentity> = []
        for insert in changes.inserts {
            let row = insert.row.row
            new.insert(RowIdentity(entityIndex: core.rootIndex(of: row.entityIndex), key: row.key))
        }
        var result: [Int: Set<Int64>] = [:]
        func add(_ keys: [Int64], _ entityIndex: Int) {
            let root = core.rootIndex(of: entityIndex)
            for key in keys where !new.contains(RowIdentity(entityIndex: root, key: key)) {
                result[entityIndex, default: []].insert(key)
            }
        }
        func addTargets(_ row: RowPointer, _ slots: SlotSet?) {
            for (slot, relationship) in core.binding(at: row.entityIndex).toOnes
            where slots?.contains(slot) ?? true && row.isPresent(slot) {
                add([Int64(bitPattern: row.word(slot))], relationship.destinationIndex)
            }
        }
        for insert in changes.inserts { addTargets(insert.row.row, nil) }
        for update in changes.updates { addTargets(update.row.row, update.slots) }
        for change in changes.pairs {
            let relationship = model.entities[change.entityIndex].relationships[change.relationshipIndex]
            add([change.owner], change.entityIndex)
            add(change.added + change.removed, relationship.destinationIndex)
        }
        for change in changes.orders {
            let relationship = model.entities[change.entityIndex].relationships[change.relationshipIndex]
            add([change.owner], change.entityIndex)
            switch change.kind {
            case .append(let keys), .arrange(let keys): add(keys, relationship.destinationIndex)
            }
        }
        return result
    }

    /// Makes the inverses of a new object's to-one relationships right.
    /// - Returns: Whether all of its references are kept.
    private func linkInserted(_ object: ManagedObject) -> Bool {
        var isSame = true
        for (slot, relationship) in object.binding.toOnes {
            guard let key = object.targetKey(slot) else { continue }
            let target = living(key, relationship.destinationIndex)
            // An object that was deleted here is not a target; for all others, the inverse is corrected.
            guard target == nil || model.inverse(of: relationship) != nil else { continue }
            object.writeTargetKey(nil, slot)
            if let target { object.setTarget(target, slot) } else { isSame = false }
        }
        return isSame
    }

    /// - Returns: Whether all references are kept.
    private func applyUpdate(
        _ update: ChangeSet.Update, _ operations: [Int: FieldOperations], to object: ManagedObject
    ) -> Bool {
        let row = update.row.row
        var isSame = true
        for index in update.slots {
            if let relationship = object.relationship(slot: index) {
                let key = row.isPresent(index) ? Int64(bitPattern: row.word(index)) : nil
                let target = key.flatMap { living($0, relationship.destinationIndex) }
                object.setTarget(target, index)
                if key != nil, target == nil { isSame = false }
            } else if let done = operations[index], object.perform(done, on: object.binding.entity.slots[index]) {
                // It adds to what was done here.
                continue
            } else {
                object.writeSlot(index, from: row)
            }
        }
        return isSame
    }

    /// The child changed what the parent deleted: the child wins.
    private func bringBack(_ object: ManagedObject) {
        object.mutatingAll {
            object.flags.remove(.deleted)
            // The delete has cleared the references of its members, which it kept.
            object.forgetLoadedMembers()
        }
        core.unloading.owners(of: object.row, object.binding)
        returnToPairs(object)
    }

    /// The delete has taken the object out of the lists at the other ends of its pairs; its own lists have kept their members.
    private func returnToPairs(_ object: ManagedObject) {
        core.unloading.pairs(with: [object])
        for (index, state) in (object.extras?.toManys ?? []).enumerated() {
            guard let state, let other = model.inverse(of: object.relationship(toMany: index))?.toManyIndex else {
                continue
            }
            for (isAdded, members) in [(true, state.added), (false, state.removed)] {
                for member in members.values where !member.isDeleted {
                    member.mutating(member.observerIndex(toMany: other)) {
                        core.inverses.notePair(member, object, other, added: isAdded)
                    }
                }
            }
        }
    }

    private func applyPairs(_ change: ChangeSet.PairChange) throws(PersistenceError) {
        let relationship = model.entities[change.entityIndex].relationships[change.relationshipIndex]
        guard let index = relationship.toManyIndex else { return }
        guard let owner = living(change.owner, change.entityIndex) else { return }
        for key in change.removed {
            if let member = living(key, relationship.destinationIndex) {
                try core.inverses.remove(member, from: owner, index)
            }
        }
        for key in change.added {
            if let member = living(key, relationship.destinationIndex) {
                try core.inverses.add(member, to: owner, index)
            }
        }
    }

    private func applyOrder(_ change: ChangeSet.OrderChange) throws(PersistenceError) {
        let relationship = model.entities[change.entityIndex].relationships[change.relationshipIndex]
        guard let index = relationship.toManyIndex else { return }
        guard let owner = living(change.owner, change.entityIndex) else { return }
        // Who is a member was decided by the rows and pairs that were applied before.
        let members = try owner.loadedMembers(toMany: index)
        func present(_ keys: [Int64]) -> [ManagedObject] {
            keys.compactMap { core.object(relationship.destinationIndex, $0) }.filter(members.contains)
        }
        switch change.kind {
        case .append(let keys):
            // Members arrived in the order of the change set; the child knows the right one.
            core.inverses.moveToEnd(present(keys), in: owner, index)
        case .arrange(let keys):
            try core.inverses.setMembers(of: owner, OrderMerge.merge(present(keys), with: members.objects), index)
        }
    }

    /// The object of a key; nil if it has no row, or if it is deleted here. All of them have been read.
    private func living(_ key: Int64, _ entityIndex: Int) -> ManagedObject? {
        guard let object = core.object(entityIndex, key), !object.isDeleted else { return nil }
        return object
    }
}

extension ContextCore {
    var parentSave: ParentSave { ParentSave(core: self) }
}
