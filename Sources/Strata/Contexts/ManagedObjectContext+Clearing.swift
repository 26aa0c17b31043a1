// A delete leaves objects behind that referred to the deleted one. Those that the context has read are changed one by
// one, as by the application. The others are not read for it: the save sets their references to nil by one statement.

extension ManagedObjectContext {
    /// Takes a deleted object out of its members without reading those that the context does not know.
    /// - Returns: false, and nothing done, where the members are better loaded.
    func clearUnread(_ object: ManagedObject, _ relationship: RelationshipDescription, inverse: RelationshipDescription)
        -> Bool
    {
        let destination = model.entities[relationship.destinationIndex]
        guard parent == nil, relationship.deleteRule == .nullify, !object.isInserted, !isAwakening,
            let index = relationship.toManyIndex, let slot = inverse.slot,
            // Only an object in memory is validated, and these would be missing what they must have.
            destination.slots[slot].isOptional
        else { return false }
        if let state = object.extras?.toMany(index), state.members != nil || state.hasChanges { return false }
        guard
            let pairs = try? coordinator.store.memberKeys(
                entityIndex: object.binding.entity.index, relationshipIndex: relationship.index, owners: [object.key])
        else { return false }
        let table = tables[destination.index]
        var unread: [Int64] = []
        var known: [ManagedObject] = []
        for (_, key) in pairs {
            if let member = table.object(key) { known.append(member) } else { unread.append(key) }
        }
        // A fault, or an object of an older row, is loaded with the others.
        let isCurrent = known.allSatisfy { member in
            !member.isFault && (member.hasChanges || member.targetKey(slot) == object.key)
        }
        guard isCurrent else { return false }
        for member in known where !member.flags.contains(.deleted) && member.targetKey(slot) == object.key {
            member.writeTargetKey(nil, slot)
        }
        guard !unread.isEmpty else { return true }
        let position = clearings.firstIndex { $0.entityIndex == destination.index && $0.slot == slot }
        if let position {
            clearings[position].targets.append(object.key)
            clearings[position].keys += unread
        } else {
            clearings.append(
                .init(entityIndex: destination.index, slot: slot, targets: [object.key], keys: unread))
        }
        return true
    }

    /// Before rows of a hierarchy are read: what is to be cleared in them becomes a change of objects like any other.
    func settleClearings(rootIndex: Int? = nil) throws(PersistenceError) {
        guard !clearings.isEmpty, !isAwakening else { return }
        let all = clearings
        let concerned = all.filter { rootIndex == nil || model.entities[$0.entityIndex].rootIndex == rootIndex }
        guard !concerned.isEmpty else { return }
        // Reading asks for this again.
        clearings = []
        do throws(PersistenceError) {
            var rows: [(clearing: ChangeSet.Clearing, rows: [RowReference])] = []
            for clearing in concerned {
                rows.append((clearing, try sourceRows(entityIndex: clearing.entityIndex, keys: clearing.keys)))
            }
            clearings = all.filter { rootIndex != nil && model.entities[$0.entityIndex].rootIndex != rootIndex }
            for (clearing, rows) in rows {
                let targets = Set(clearing.targets)
                for row in rows {
                    let member = materialize(row, group: nil)
                    guard !member.isDeleted, let key = member.targetKey(clearing.slot), targets.contains(key) else {
                        continue
                    }
                    member.writeTargetKey(nil, clearing.slot)
                }
            }
        } catch {
            clearings = all
            throw error
        }
    }

    /// What a save is to clear in the store: not in objects that it writes anyway.
    var pendingClearings: [ChangeSet.Clearing] {
        clearings.map { clearing in
            let table = tables[clearing.entityIndex]
            return .init(
                entityIndex: clearing.entityIndex, slot: clearing.slot, targets: clearing.targets,
                keys: clearing.keys.filter { table.object($0)?.hasChanges != true }.sorted())
        }
    }

    /// Takes in that a save has cleared references, here or in another context.
    func take(_ clearing: ChangeSet.Clearing) {
        let targets = Set(clearing.targets)
        let table = tables[clearing.entityIndex]
        for key in clearing.keys {
            guard let object = table.object(key), object.flags.isDisjoint(with: [.fault, .inserted, .missing]) else {
                continue
            }
            let read = object.changes?.snapshot ?? RowReference(slab: object.slab, row: object.row)
            guard clearing.slot < read.row.slotCount, read.row.isPresent(clearing.slot),
                targets.contains(Int64(bitPattern: read.row.word(clearing.slot)))
            else { continue }
            let slab = RowSlab.copy(of: read.row)
            RowEditing.setNil(clearing.slot, in: slab)
            RowEditing.setVersion(read.row.version + 1, in: slab)
            object.takeSnapshot(RowReference(slab: slab, row: slab.row))
        }
    }

    /// After a commit with deletes: the store has set references to the deleted objects to nil, also those that the
    /// deleting context did not know of and so did not write. Rows in memory follow, as if they had been read now.
    /// - Parameters:
    ///   - referrers: What the store knows to have referred to them.
    ///   - changed: Objects that were changed here, and so may refer to them where the store does not.
    func clearReferences(to deletes: [ChangeSet.Delete], _ referrers: [Int: [Int64]], changed: [ManagedObject]) {
        guard !deletes.isEmpty else { return }
        var keys: [Int: Set<Int64>] = [:]
        for delete in deletes { keys[model.entities[delete.entityIndex].rootIndex, default: []].insert(delete.key) }
        deletedKeys.merge(keys) { $0.union($1) }
        func clear(_ object: ManagedObject) {
            guard object.flags.isDisjoint(with: [.fault, .inserted, .deleted]) else { return }
            for (slot, relationship) in object.binding.toOnes {
                guard let gone = keys[model.entities[relationship.destinationIndex].rootIndex] else { continue }
                object.clearReference(slot, to: gone)
            }
        }
        for object in changed where !object.flags.contains(.detached) { clear(object) }
        for (root, keys) in referrers {
            for key in keys { tables[root].object(key).map(clear) }
        }
    }
}
