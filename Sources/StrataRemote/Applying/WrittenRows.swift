import StrataStore

/// The rows that a session writes, with those that were there before.
struct WrittenRows {
    var changes = ChangeSet()
    /// The selected values of objects that stay placeholders. Contexts are not notified: the fetch reads them.
    var parts = ChangeSet()
    /// The rows before the updates, in their order.
    private(set) var previousRows: [RowReference] = []
    /// The rows before the deletions, in their order.
    private(set) var deletedRows: [RowReference?] = []

    mutating func insert(_ slab: RowSlab) {
        changes.inserts.append(.init(row: RowReference(slab: slab, row: slab.row)))
    }

    /// - Parameter slots: Where the new row differs from the old one.
    mutating func update(to slab: RowSlab, slots: SlotSet, from old: RowReference) {
        changes.updates.append(
            .init(row: RowReference(slab: slab, row: slab.row), slots: slots, baseVersion: old.row.version))
        previousRows.append(old)
    }

    mutating func delete(_ old: RowReference) {
        let row = old.row
        changes.deletes.append(.init(entityIndex: row.entityIndex, key: row.key, baseVersion: row.version))
        deletedRows.append(old)
    }

    /// What contexts hear about.
    func change(_ effects: CommitEffects) -> StoreChange {
        StoreChange(changes: changes, effects: effects, previousRows: previousRows, deletedRows: deletedRows)
    }
}
