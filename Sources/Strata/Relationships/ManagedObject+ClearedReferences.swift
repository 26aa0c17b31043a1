import StrataStore

extension ManagedObject {
    /// Sets a to-one slot to nil in the row that was read, and in the current one unless the slot was changed.
    final func clearReference(_ slot: Int, to gone: Set<Int64>) {
        func cleared(_ row: RowPointer) -> RowSlab? {
            guard row.isPresent(slot), gone.contains(Int64(bitPattern: row.word(slot))) else { return nil }
            let copy = RowSlab.copy(of: row)
            RowEditing.setNil(slot, in: copy)
            return copy
        }
        if flags.contains(.recorded) { source.tracker?.willChange(self) }
        if let changes, let snapshot = changes.snapshot {
            let isChanged =
                changes.slots.contains(slot) && !row.hasSameValue(as: snapshot.row, slot: slot, storage: .key)
            if let slab = cleared(snapshot.row) { replaceSnapshot(slab, changes) }
            if isChanged { return }
        }
        guard let slab = cleared(row) else { return }
        mutating(slot) {
            self.slab = slab
            row = slab.row
        }
    }

    /// The store has given the row that was read its next version, because it has cleared references in it. A row that was out
    /// of date before stays so, and the next save finds the conflict.
    final func takeNextVersion(_ version: Int64) {
        guard flags.isDisjoint(with: [.fault, .inserted, .missing]) else { return }
        func next(_ row: RowPointer) -> RowSlab? {
            guard row.version == version - 1 else { return nil }
            let copy = RowSlab.copy(of: row)
            RowEditing.setVersion(version, in: copy)
            return copy
        }
        if let changes, let slab = changes.snapshot.flatMap({ next($0.row) }) { replaceSnapshot(slab, changes) }
        guard let slab = next(row) else { return }
        self.slab = slab
        row = slab.row
    }

    /// Puts another row under the changes.
    private func replaceSnapshot(_ slab: RowSlab, _ changes: ChangeRecord) {
        var record = ChangeRecord(snapshot: RowReference(slab: slab, row: slab.row))
        record.slots = changes.slots
        let operations = operations
        self.changes = record
        self.operations = operations
    }
}
