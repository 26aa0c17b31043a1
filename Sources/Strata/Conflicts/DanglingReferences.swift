/// Relationships of pending changes to objects that others have deleted. The store refuses to write them.
struct DanglingReferences {
    let core: ContextCore

    private var model: ManagedObjectModel { core.model }

    /// Sets pending relationships to nil if they lead to objects that the store no longer has or that this save
    /// deletes, and forgets changes of objects that were deleted themselves.
    /// - Returns: Whether there were any.
    func drop() throws(PersistenceError) -> Bool {
        let rules = core.settings.merging
        let changed = core.tracker.objects.filter {
            $0.hasChanges && !$0.flags.contains(.deleted) && rules.policy(for: $0.binding.entity, in: model) != .error
        }
        let gone = try missing(among: referencedKeys(changed))
        func isGone(_ key: Int64, _ entityIndex: Int) -> Bool {
            gone[core.rootIndex(of: entityIndex)]?.contains(key) == true
        }
        // The store has the row still, and the same save deletes it. A delete reaches the objects that refer to it, but not
        // one that others have deleted before, and that a merge policy inserts again.
        func isDeletedHere(_ key: Int64, _ entityIndex: Int) -> Bool {
            core.object(entityIndex, key)?.isDeleted == true
        }
        var dropped = false
        for object in changed {
            if !object.isInserted, isGone(object.key, object.binding.entity.index) {
                core.tracker.remove(object)
                object.markMissing()
                dropped = true
                continue
            }
            let pending = object.storedChanges
            for (slot, relationship) in object.binding.toOnes {
                guard let key = object.targetKey(slot) else { continue }
                let leadsNowhere = isGone(key, relationship.destinationIndex)
                guard leadsNowhere || isDeletedHere(key, relationship.destinationIndex) else { continue }
                guard object.isInserted || pending.contains(slot) else {
                    // The store has set it to nil by itself, or will. That is not a change of this context, and so not a
                    // conflict with others.
                    if leadsNowhere { object.clearReference(slot, to: [key]) }
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
                    object.mutating(object.observerIndex(toMany: index)) { state.noteRemoved(member) }
                    core.tracker.noteToManyChange(object)
                    dropped = true
                }
            }
        }
        for (root, keys) in gone {
            for key in keys {
                if let object = core.object(root, key), !object.hasChanges { object.markMissing() }
            }
        }
        return dropped
    }

    /// The keys of rows that pending changes are about or refer to, by hierarchy.
    private func referencedKeys(_ changed: [ManagedObject]) -> [Int: Set<Int64>] {
        var result: [Int: Set<Int64>] = [:]
        func add(_ key: Int64, _ entityIndex: Int) {
            let root = core.rootIndex(of: entityIndex)
            guard core.object(root, key)?.isInserted != true else { return }
            result[root, default: []].insert(key)
        }
        for object in changed {
            if !object.isInserted { add(object.key, object.binding.entity.index) }
            for (slot, relationship) in object.binding.toOnes {
                if let key = object.targetKey(slot) { add(key, relationship.destinationIndex) }
            }
            for (index, state) in (object.extras?.toManys ?? []).enumerated() {
                guard let state else { continue }
                for key in state.added.keys { add(key, object.relationship(toMany: index).destinationIndex) }
            }
        }
        return result
    }

    /// Those of some keys that have no row.
    private func missing(among asked: [Int: Set<Int64>]) throws(PersistenceError) -> [Int: Set<Int64>] {
        var gone: [Int: Set<Int64>] = [:]
        for (root, keys) in asked {
            let found = try core.readStore { (store) throws(StoreError) in
                try store.rows(entityIndex: root, keys: keys.sorted())
            }
            let missing = keys.subtracting(found.rows.map(\.key))
            if !missing.isEmpty { gone[root] = missing }
        }
        return gone
    }
}
