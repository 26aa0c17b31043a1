import StrataSQLite
import StrataStore

extension ChangeSet {
    /// The changes of objects on top of rows that are newer than those which were read; of objects that are gone,
    /// nothing.
    /// - Parameter waiting: The slots in which the rows have what waits to be sent. They stay as they are.
    func rebased(
        on rows: [RowIdentity: RowReference?], below waiting: [RowIdentity: SlotSet] = [:],
        _ model: ManagedObjectModel
    ) -> ChangeSet {
        func found(_ entityIndex: Int, _ key: Int64) -> RowReference?? {
            rows[RowIdentity(entityIndex: model.entities[entityIndex].rootIndex, key: key)]
        }
        var result = self
        result.updates = updates.compactMap { update -> Update? in
            guard let found = found(update.row.row.entityIndex, update.row.row.key) else { return update }
            guard let now = found else { return nil }
            let layout = model.entities[update.row.row.entityIndex].slots
            var slab = RowSlab.copy(of: now.row, room: 64)
            let operations = operations(of: update)
            let above = waiting[now.identity(model)]
            var slots = SlotSet()
            for slot in update.slots where above?.contains(slot) != true {
                slots.insert(slot)
                if let type = layout[slot].type,
                    let value = operations[slot]?.applied(to: now.row.value(layout[slot]), of: type),
                    RowEditing.setValue(value, layout[slot], layout: layout, in: &slab)
                {
                    continue
                }
                RowEditing.copySlot(slot, layout: layout, from: update.row.row, to: &slab)
            }
            RowEditing.setVersion(now.row.version + 1, in: slab)
            return Update(row: RowReference(slab: slab, row: slab.row), slots: slots, baseVersion: now.row.version)
        }
        result.deletes = deletes.compactMap { delete in
            guard let found = found(delete.entityIndex, delete.key) else { return delete }
            guard let now = found else { return nil }
            return Delete(entityIndex: delete.entityIndex, key: delete.key, baseVersion: now.row.version)
        }
        return result
    }

    /// The changes but for those of some objects, named by topmost entity and key. References to new ones among these
    /// are left out; they stay to be saved.
    /// - Parameter withheld: References of new objects that stay to be saved, too, by object and property.
    func part(
        withoutKeysIn undone: Set<RowIdentity>, _ withheld: [RowIdentity: Set<String>], _ model: ManagedObjectModel
    ) -> ChangeSet {
        func isDone(_ entityIndex: Int, _ key: Int64) -> Bool {
            !undone.contains(RowIdentity(entityIndex: model.entities[entityIndex].rootIndex, key: key))
        }
        let unborn = Set(
            inserts.map {
                RowIdentity(entityIndex: model.entities[$0.row.row.entityIndex].rootIndex, key: $0.row.row.key)
            }
            .filter(undone.contains))
        func without(_ row: RowReference) -> RowReference {
            let entity = model.entities[row.row.entityIndex]
            let left = withheld[RowIdentity(entityIndex: entity.rootIndex, key: row.row.key)] ?? []
            return row.withoutReferences(model) { relationship, target in
                unborn.contains(target) || left.contains(relationship.name)
            }
        }
        func isBorn(_ entityIndex: Int, _ key: Int64) -> Bool {
            !unborn.contains(RowIdentity(entityIndex: model.entities[entityIndex].rootIndex, key: key))
        }
        var result = self
        result.inserts = inserts.filter { isDone($0.row.row.entityIndex, $0.row.row.key) }
            .map { Insert(row: without($0.row)) }
        result.updates = updates.filter { isDone($0.row.row.entityIndex, $0.row.row.key) }
            .map { Update(row: without($0.row), slots: $0.slots, baseVersion: $0.baseVersion) }
        result.deletes = deletes.filter { isDone($0.entityIndex, $0.key) }
        // What is cleared belongs to a delete, and is done with it.
        result.clearings = clearings.compactMap { clearing in
            let relationship = model.entities[clearing.entityIndex].slots[clearing.slot].relationshipIndex
                .map { model.entities[clearing.entityIndex].relationships[$0] }
            guard let relationship else { return nil }
            var part = clearing
            part.targets = clearing.targets.filter { isDone(relationship.destinationIndex, $0) }
            return part.targets.isEmpty ? nil : part
        }
        func isWithheld(_ pair: PairChange) -> Bool {
            let entity = model.entities[pair.entityIndex]
            let owner = RowIdentity(entityIndex: entity.rootIndex, key: pair.owner)
            return withheld[owner]?.contains(entity.relationships[pair.relationshipIndex].name) == true
        }
        result.pairs = pairs.filter { isDone($0.entityIndex, $0.owner) && !isWithheld($0) }.map { pair in
            let end = model.entities[pair.entityIndex].relationships[pair.relationshipIndex].destinationIndex
            return PairChange(
                entityIndex: pair.entityIndex, relationshipIndex: pair.relationshipIndex, owner: pair.owner,
                added: pair.added.filter { isBorn(end, $0) }, removed: pair.removed)
        }
        result.orders = orders.compactMap { order in
            guard isDone(order.entityIndex, order.owner) else { return nil }
            let end = model.entities[order.entityIndex].relationships[order.relationshipIndex].destinationIndex
            return order.keeping { isBorn(end, $0) }
        }
        return result
    }
}
