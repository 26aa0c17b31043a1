import StrataSQLite
import StrataStore

/// The operations that wait of an object while a save passes them. They are sent on their own: a save that said their results
/// would have them carried out twice.
struct PassedOperations {
    /// What waits of the object, in its order.
    var entries: [OutboxEntry]
    /// The slots that the save changes.
    var slots = SlotSet()
    /// The operations of the save on some of them.
    var own: [Int: FieldOperations] = [:]

    /// The same for the row as it is before the save.
    var before: PassedOperations { PassedOperations(entries: entries, slots: slots.without(own)) }
}

extension SlotSet {
    /// The slots that are assigned, without those of operations.
    fileprivate func without(_ operations: [Int: FieldOperations]) -> SlotSet {
        SlotSet(filter { operations[$0] == nil })
    }
}

extension OutboxEntry {
    /// The slots that were assigned here.
    var assignedSlots: SlotSet { slots.without(operations) }
}

extension WriteReader {
    /// The entries of some objects that have operations.
    func queuedOperations(of objects: Set<RowIdentity>) throws(StoreError) -> [RowIdentity: [OutboxEntry]] {
        if objects.isEmpty { return [:] }
        if try connection.integer("SELECT 1 FROM _outbox LIMIT 1") == nil { return [:] }
        var result: [RowIdentity: [OutboxEntry]] = [:]
        for (root, list) in Dictionary(grouping: objects, by: \.entityIndex) {
            for (key, entries) in try mirror.entries(root: root, keys: list.map(\.key), on: connection) {
                result[RowIdentity(entityIndex: root, key: key)] = entries.filter { !$0.operations.isEmpty }
            }
        }
        return result
    }

    /// A row as it would be without the operations that wait: what the save does is done to what the server has. A value that
    /// the save assigns takes the place of them.
    func without(_ passed: PassedOperations, _ reference: RowReference) -> RowReference {
        if passed.entries.isEmpty { return reference }
        let layout = model.entities[reference.row.entityIndex].slots
        var slab = RowSlab.copy(of: reference.row)
        var seen = SlotSet()
        for entry in passed.entries {
            guard let base = entry.base.flatMap(RowSlab.restored(from:)) else { continue }
            for index in entry.operations.keys where !seen.contains(index) {
                seen.insert(index)
                guard let own = passed.own[index] else {
                    if passed.slots.contains(index) { continue }
                    RowEditing.copySlot(index, layout: layout, from: base.row, to: &slab)
                    continue
                }
                guard let type = layout[index].type,
                    let after = own.applied(to: base.row.value(layout[index]), of: type)
                else { continue }
                _ = RowEditing.setValue(after, layout[index], layout: layout, in: &slab)
            }
        }
        return RowReference(slab: slab, row: slab.row)
    }
}
