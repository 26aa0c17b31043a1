// Two contexts may change both ends of one relationship, each in its own way. Rows are merged one by one, so here the
// ends are made to agree again.

extension ManagedObjectContext {
    /// After newer rows were put under pending changes: an object that was given another partner here is no longer the
    /// partner of the one that the newer row gives it.
    func mendOneToOnes() {
        for object in changedObjects where object.flags.isDisjoint(with: [.inserted, .deleted, .missing, .fault]) {
            guard let changes = object.changes, let snapshot = changes.snapshot else { continue }
            for (slot, relationship) in object.binding.toOnes where changes.slots.contains(slot) {
                guard let inverse = model.inverse(of: relationship)?.slot, snapshot.row.isPresent(slot) else {
                    continue
                }
                let old = Int64(bitPattern: snapshot.row.word(slot))
                guard old != object.targetKey(slot),
                    let partner = target(old, of: relationship, from: object, slot: slot),
                    partner.loadedTargetKey(inverse) == object.key, !partner.isDeleted
                else { continue }
                partner.writeTargetKey(nil, inverse)
            }
        }
        let gone = goneObjects
        goneObjects = []
        for object in gone where object.flags.isDisjoint(with: [.deleted, .missing]) {
            for (slot, relationship) in object.binding.toOnes {
                // What went with it is no target, also for a child that reads the row.
                let keys = [object.row, object.changes?.snapshot?.row].compactMap { row in
                    row.flatMap { $0.isPresent(slot) ? Int64(bitPattern: $0.word(slot)) : nil }
                }
                for key in Set(keys) {
                    guard let target = target(key, of: relationship, from: object, slot: slot) else { continue }
                    if target.isFault { fire(target) }
                    if target.flags.contains(.missing) { object.clearReference(slot, to: [key]) }
                }
                guard let inverse = model.inverse(of: relationship)?.slot, let partner = object.target(slot),
                    partner.loadedTargetKey(inverse) != object.key, !partner.isDeleted
                else { continue }
                object.writeTargetKey(nil, slot)
            }
        }
    }

    /// After a conflict was resolved: the partners that an object has by its merged row are its partners, and the
    /// others that it could have had are not.
    /// - Parameter keys: By slot, the keys that stood there in the snapshot, in memory and in the store.
    func settleOneToOnes(of object: ManagedObject, _ keys: [Int: Set<Int64>]) throws(PersistenceError) {
        for (slot, relationship) in object.binding.toOnes {
            guard let wayBack = model.inverse(of: relationship), let inverse = wayBack.slot, let keys = keys[slot]
            else { continue }
            let isGone = object.isDeleted
            let chosen = isGone ? nil : object.targetKey(slot)
            for key in keys.union(chosen.map { [$0] } ?? []).sorted() {
                guard let partner = try current(key, of: relationship, from: object, slot: slot) else { continue }
                let back = partner.targetKey(inverse)
                if key != chosen {
                    if back == object.key { partner.writeTargetKey(nil, inverse) }
                } else if back != object.key {
                    if let back, let rival = try current(back, of: wayBack, from: partner, slot: inverse),
                        rival.targetKey(slot) == key
                    {
                        rival.writeTargetKey(nil, slot)
                    }
                    partner.writeTargetKey(object.key, inverse)
                }
            }
        }
    }

    /// The keys in the one-to-one slots of some rows.
    func oneToOneKeys(_ rows: [RowPointer], _ binding: EntityBinding) -> [Int: Set<Int64>] {
        var result: [Int: Set<Int64>] = [:]
        for (slot, relationship) in binding.toOnes where model.inverse(of: relationship)?.slot != nil {
            result[slot] = Set(rows.filter { $0.isPresent(slot) }.map { Int64(bitPattern: $0.word(slot)) })
        }
        return result
    }

    /// The object of a key with the row that the store has now, unless values of it are changed here; the commit checks
    /// the version then.
    private func current(
        _ key: Int64, of relationship: RelationshipDescription, from object: ManagedObject, slot: Int
    ) throws(PersistenceError) -> ManagedObject? {
        guard let partner = target(key, of: relationship, from: object, slot: slot) else { return nil }
        if partner.isFault { try load(partner) }
        if partner.flags.isDisjoint(with: [.inserted, .deleted, .missing]), partner.storedChanges.isEmpty {
            try reread(partner)
        }
        return partner.isDeleted ? nil : partner
    }

    // MARK: Relationships to objects that others deleted

    /// Sets pending relationships to nil that lead to objects which the store has no more, and forgets changes of
    /// objects that are gone themselves.
    /// - Returns: Whether there were any.
    func dropDangling() throws(PersistenceError) -> Bool {
        var asked: [Int: Set<Int64>] = [:]
        func ask(_ key: Int64, _ entityIndex: Int) {
            let root = model.entities[entityIndex].rootIndex
            guard tables[root].object(key)?.isInserted != true else { return }
            asked[root, default: []].insert(key)
        }
        let changed = changedObjects.filter { $0.hasChanges && !$0.flags.contains(.deleted) }
        for object in changed {
            if !object.isInserted { ask(object.key, object.binding.entity.index) }
            for (slot, relationship) in object.binding.toOnes {
                if let key = object.targetKey(slot) { ask(key, relationship.destinationIndex) }
            }
            for (index, state) in (object.extras?.toManys ?? []).enumerated() {
                for key in state?.added.keys ?? [:].keys {
                    ask(key, object.relationship(toMany: index).destinationIndex)
                }
            }
        }
        var gone: [Int: Set<Int64>] = [:]
        for (root, keys) in asked {
            let found = try store { () throws(StoreError) in
                try coordinator.store.rows(entityIndex: root, keys: keys.sorted())
            }
            gone[root] = keys.subtracting(found.pointers.map { RowPointer($0).key })
        }
        guard gone.values.contains(where: { !$0.isEmpty }) else { return false }
        func isGone(_ key: Int64, _ entityIndex: Int) -> Bool {
            gone[model.entities[entityIndex].rootIndex]?.contains(key) == true
        }
        var dropped = false
        for object in changed {
            if !object.isInserted, isGone(object.key, object.binding.entity.index) {
                object.flags.remove(.listed)
                changedObjects.removeAll { $0 === object }
                object.markMissing()
                dropped = true
                continue
            }
            let pending = object.storedChanges
            for (slot, relationship) in object.binding.toOnes {
                guard let key = object.targetKey(slot), isGone(key, relationship.destinationIndex) else { continue }
                guard object.isInserted || pending.contains(slot) else {
                    // The store has set it to nil by itself. That is no change of this context, and so no conflict with
                    // others.
                    object.clearReference(slot, to: [key])
                    continue
                }
                object.writeTargetKey(nil, slot)
                dropped = true
            }
            for (index, state) in (object.extras?.toManys ?? []).enumerated() {
                guard let state else { continue }
                let destination = object.relationship(toMany: index).destinationIndex
                for (key, member) in state.added where isGone(key, destination) {
                    state.added[key] = nil
                    object.mutating(object.observerIndex(toMany: index)) { object.noteRemoved(member, state, index) }
                    dropped = true
                }
            }
        }
        for (root, keys) in gone {
            for key in keys {
                if let object = tables[root].object(key), !object.hasChanges { object.markMissing() }
            }
        }
        return dropped
    }

    /// Takes back what is pending in the pairs of an object, on both sides.
    func dropPairs(of object: ManagedObject) {
        for (index, state) in (object.extras?.toManys ?? []).enumerated() {
            guard let state else { continue }
            if let other = model.inverse(of: object.relationship(toMany: index))?.toManyIndex {
                for member in Array(state.added.values) + Array(state.removed.values) {
                    guard let back = member.extras?.toMany(other) else { continue }
                    back.added[object.key] = nil
                    back.removed[object.key] = nil
                    back.appended.removeAll { $0 === object }
                    member.mutating(member.observerIndex(toMany: other)) { back.forgetLoaded() }
                }
            }
            object.mutating(object.observerIndex(toMany: index)) { state.unload() }
        }
    }

    /// Forgets the loaded members of every relationship of pairs that has or could have one of some objects among them.
    func unloadPairs(with objects: [ManagedObject]) {
        var seen: Set<RelationshipDescription> = []
        for entity in Set(objects.map { $0.binding.entity.index }) {
            for relationship in model.entities[entity].relationships where relationship.isToMany {
                guard let inverse = model.inverse(of: relationship), let other = inverse.toManyIndex,
                    seen.insert(inverse).inserted
                else { continue }
                for owner in tables[relationship.destinationIndex].objects
                where owner.binding.entity.descends(from: relationship.destinationIndex, in: model) {
                    unloadMembers(of: owner, other)
                }
            }
        }
    }
}

extension ManagedObject {
    /// Sets a to-one slot to nil in the row that was read, and in the current one unless the slot was changed.
    final func clearReference(_ slot: Int, to gone: Set<Int64>) {
        func cleared(_ row: RowPointer) -> RowSlab? {
            guard row.isPresent(slot), gone.contains(Int64(bitPattern: row.word(slot))) else { return nil }
            let copy = RowSlab.copy(of: row)
            RowEditing.setNil(slot, in: copy)
            return copy
        }
        if let changes, let snapshot = changes.snapshot {
            let isChanged =
                changes.slots.contains(slot) && !row.hasSameValue(as: snapshot.row, slot: slot, storage: .key)
            if let slab = cleared(snapshot.row) {
                var record = ChangeRecord(snapshot: RowReference(slab: slab, row: slab.row))
                record.slots = changes.slots
                self.changes = record
            }
            if isChanged { return }
        }
        guard let slab = cleared(row) else { return }
        mutating(slot) {
            self.slab = slab
            row = slab.row
        }
    }
}
