/// Fills faults: always for a whole batch.
struct FaultLoader {
    let core: ContextCore

    /// Reads the row of an object if it is a fault, with those of the other faults of its batch.
    /// - Returns: How many rows were asked for.
    @discardableResult
    func load(_ object: ManagedObject) throws(PersistenceError) -> Int {
        guard object.isFault else { return 0 }
        let faults = faults(around: object)
        let absent = try fill(faults)
        let root = object.binding.entity.rootIndex
        guard let network = core.coordinator.network(of: root), absent.contains(object.key) else {
            return faults.count
        }
        try core.store { (_) throws(StoreError) in
            try network.prepareRowsNow(entityIndex: root, keys: absent.sorted())
        }
        try fill(faults.filter { absent.contains($0.key) })
        return faults.count
    }

    /// As ``load(_:)``, but an object stays a fault if the store has only its key.
    func loadStored(_ object: ManagedObject) throws(PersistenceError) {
        guard object.isFault else { return }
        try fill(faults(around: object))
    }

    /// A fault and the other faults of its batch.
    private func faults(around object: ManagedObject) -> [ManagedObject] {
        // The others can tell what was asked for: each would be read from a back end.
        if object.isPartial { return [object] }
        let table = core.identityMap.table(object.binding.entity.index)
        var faults = [object]
        if let batch = object.batch {
            for key in batch.keys(around: object.key) where key != object.key {
                if let other = table.object(key), other.isFault, !other.isPartial { faults.append(other) }
            }
        }
        return faults
    }

    /// Reads the rows of all faults among some objects of one hierarchy. Those without one are marked as missing.
    /// - Returns: The keys of those that stay faults, because the store has only their keys.
    @discardableResult
    func fill(_ objects: [ManagedObject]) throws(PersistenceError) -> Set<Int64> {
        guard let rootIndex = objects.first(where: \.isFault)?.binding.entity.rootIndex else { return [] }
        try core.nullifications.settle(rootIndex: rootIndex)
        let faults = objects.filter(\.isFault)
        guard let first = faults.first else { return [] }
        let table = core.identityMap.table(rootIndex)
        let rows = try core.rows.rows(
            entityIndex: rootIndex, keys: faults.map(\.key), batch: faults.count > 1 ? first.batch : nil)
        var absent: Set<Int64> = []
        var source: RowSource?
        for row in rows {
            if row.row.isHeaderOnly {
                absent.insert(row.row.key)
                continue
            }
            guard let fault = table.object(row.row.key) else { continue }
            guard fault.binding.entity.index == row.row.entityIndex else {
                // A fault for an ID of another entity of the hierarchy has no row. One for a key of which a mirror knew no more makes
                // room for the object itself.
                if core.coordinator.network(of: rootIndex) != nil, !fault.hasChanges {
                    fault.markMissing()
                    core.identityMap.detach(fault)
                }
                continue
            }
            let old = fault.source
            if source?.slab !== row.slab || source?.binding !== old.binding || source?.batch !== old.batch {
                source = core.factory.makeSource(old.binding, slab: row.slab, batch: old.batch)
            }
            fault.fill(row, source: source)
        }
        for fault in faults where fault.isFault && !absent.contains(fault.key) { missing(fault) }
        return absent
    }

    /// Marks a fault as missing. One that has pending changes is a conflict at the save.
    private func missing(_ fault: ManagedObject) {
        guard fault.flags.contains(.updated), !fault.changedSlots.isEmpty else { return fault.markMissing() }
        fault.flags.remove(.fault)
        fault.changes = ChangeRecord(slots: fault.changedSlots, snapshot: fault.binding.emptyRow)
        core.merger.keepDeletedElsewhere(fault)
    }
}

extension ContextCore {
    var faults: FaultLoader { FaultLoader(core: self) }
}
