import StrataStore

/// Finds the rows that have the unique values of new objects, before a save writes anything.
///
/// Without it, the store reports each of them as a conflict: after an insert that fails, a search for the row, and a rollback of
/// everything. Where most of an import exists already, one fetch for all is several times faster. A sample of the new objects
/// decides, so that an import of new objects pays for a few lookups only.
struct ExistingRows {
    let core: ContextCore

    /// With fewer new objects of an entity, the conflicts of the store cost less than the question.
    private static let fewestObjects = 100
    private static let sampleSize = 16

    /// The conflicts that the store would report for new objects, as far as they are worth a fetch.
    /// - Throws: The store's error.
    func conflicts() throws(PersistenceError) -> [StoreConflict] {
        let rules = core.settings.merging
        let coordinator = core.coordinator
        guard rules.mayResolve, coordinator.set != nil || coordinator.store.capabilities.contains(.uniqueConstraints)
        else { return [] }
        var groups: [Int: [ManagedObject]] = [:]
        for object in core.tracker.objects where object.isInserted && !object.isDeleted {
            guard !object.binding.entity.uniqueConstraints.isEmpty else { continue }
            groups[object.binding.entity.index, default: []].append(object)
        }
        var result: [StoreConflict] = []
        for (index, objects) in groups.sorted(by: { $0.key < $1.key })
        where objects.count >= Self.fewestObjects
            && rules.policy(for: core.model.entities[index], in: core.model) != .error
            && coordinator.store(of: index).capabilities.contains(.uniqueConstraints)
        {
            var found: Set<Int64> = []
            for slots in core.model.entities[index].uniqueConstraints where slots.count == 1 {
                let rest = found.isEmpty ? objects : objects.filter { !found.contains($0.key) }
                for conflict in try conflicts(of: rest, slots) where found.insert(conflict.key).inserted {
                    result.append(conflict)
                }
            }
        }
        return result
    }

    private func conflicts(of objects: [ManagedObject], _ slots: [Int]) throws(PersistenceError) -> [StoreConflict] {
        guard let entity = objects.first?.binding.entity else { return [] }
        let slot = entity.slots[slots[0]]
        let sample = stride(from: 0, to: objects.count, by: max(1, objects.count / Self.sampleSize)).map { objects[$0] }
        guard try rows(of: sample, slot, slots, entity).count * 4 >= sample.count else { return [] }
        let rows = try rows(of: objects, slot, slots, entity)
        var byValue: [KeyTuple: RowReference] = [:]
        byValue.reserveCapacity(rows.count)
        for index in 0..<rows.count where isConflict(rows[index].row, slot) {
            byValue[KeyTuple(rows[index].row.value(slot))] = rows[index]
        }
        return objects.compactMap { object in
            let value = object.row.value(slot)
            guard !value.isNull, let row = byValue[KeyTuple(value)] else { return nil }
            return StoreConflict(
                reason: .unique(slots: slots), entityIndex: entity.index, key: object.key, storeRow: row,
                otherKey: row.row.key)
        }
    }

    private func rows(
        of objects: [ManagedObject], _ slot: SlotDescription, _ slots: [Int], _ entity: EntityDescription
    ) throws(PersistenceError) -> RowBatch {
        let values = objects.map { $0.row.value(slot) }.filter { !$0.isNull }
        var plan = FetchPlan(entityIndex: core.model.entity(declaringUnique: slots, of: entity).index)
        plan.predicate = .comparison(.keyPath(slot.path), .isIn, .constant(.list(values)), [])
        return try core.readStore { (store) throws(StoreError) in try store.fetch(plan) }
    }

    /// Whether a row still has its value when the save has been written: the save may delete it, or give it another value.
    private func isConflict(_ row: RowPointer, _ slot: SlotDescription) -> Bool {
        guard let object = core.object(row.entityIndex, row.key), object.hasChanges else { return true }
        return !object.isDeleted && !object.changedSlots.contains(slot.index)
    }
}
