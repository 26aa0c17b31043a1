import StrataStore

/// Rows of which a mirror was told only some slots. Their objects are faults that can tell those; any other property, or a
/// change, reads the whole object.
extension RowRefresher {
    /// The objects of rows of which some are known in part.
    /// - Parameters:
    ///   - told: The slots that are known of these, as bits, in the layout of an entity.
    ///   - entityIndex: That entity.
    func objects(of rows: RowBatch, _ told: UInt64, of entityIndex: Int, refreshing: Extent) -> [ManagedObject] {
        let objects = objects(of: rows.withHeadersForPlaceholders(), refreshing: refreshing)
        var slots: [Int: SlotSet] = [:]
        for (index, object) in objects.enumerated() {
            let row = rows[index]
            guard row.row.version == 0, !row.row.isHeaderOnly else { continue }
            let entity = row.row.entityIndex
            let known = slots[entity] ?? self.slots(told, of: entityIndex, in: entity)
            slots[entity] = known
            object.takePart(row, known)
        }
        return objects
    }

    /// The slots of an entity, given as bits, in one that inherits from it.
    private func slots(_ told: UInt64, of entityIndex: Int, in other: Int) -> SlotSet {
        var result = SlotSet()
        for slot in core.model.entities[entityIndex].slots.prefix(64) where told >> UInt64(slot.index) & 1 == 1 {
            if let own = core.model.entities[other].slot(named: slot.name) { result.insert(own.index) }
        }
        return result
    }
}

extension ManagedObject {
    /// Whether a read of a slot must read the row first.
    @inline(__always)
    final func lacks(_ slot: Int) -> Bool {
        flags.contains(.fault) && !(isPartial && extras?.told.contains(slot) == true)
    }

    /// Whether the object is a fault of which some slots are known.
    final var isPartial: Bool { flags.contains(.partial) }

    /// The row is known by now, or there is none.
    final func forgetPart() {
        guard isPartial else { return }
        flags.remove(.partial)
        extras?.told = SlotSet()
    }

    /// Takes some slots of a row of which no more is known.
    final func takePart(_ reference: RowReference, _ slots: SlotSet) {
        guard flags.contains(.fault), changes == nil, binding.entity.index == reference.row.entityIndex else { return }
        mutatingAll {
            slab = reference.slab
            row = reference.row
            someExtras.told.formUnion(slots)
            flags.insert(.partial)
        }
    }
}
