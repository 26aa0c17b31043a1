import StrataStore

// Values in a row that are not values of their attributes; see ``DamagedValue``. Each is reported once for each object and
// property: accessors cannot throw.

extension ManagedObject {
    /// What a required attribute reads as whose stored value is damaged.
    @usableFromInline
    final func damagedValue<T: RowValue>(_ slot: Int) -> T {
        if !wasAssigned(slot) { reportDamage(slot) }
        return T.load(row, slot)
    }

    /// What an optional attribute reads as whose stored value is damaged: nil.
    @usableFromInline
    final func damagedOptionalValue<T: RowValue>(_ slot: Int) -> T? {
        if wasAssigned(slot) { return T.load(row, slot) }
        reportDamage(slot)
        return nil
    }

    /// Whether the application has set the value, for instance to NaN. A save refuses it; until then it reads as it was set.
    private func wasAssigned(_ slot: Int) -> Bool {
        guard let extras, let changes = extras.changes, changes.slots.contains(slot) else { return false }
        guard let snapshot = changes.snapshot, binding.entity.slots.indices.contains(slot) else { return true }
        return !row.hasSameValue(as: snapshot.row, slot: slot, storage: binding.entity.slots[slot].storage)
    }

    /// Reports a value that is damaged, if it is.
    final func reportDamage(_ slot: Int) {
        let slots = binding.entity.slots
        guard slots.indices.contains(slot), let damage = row.damagedValue(slots[slot], of: binding.entity) else {
            return
        }
        report(damage, slot)
    }

    /// Reports a value that cannot be decoded to its Swift type.
    final func reportUndecodable(_ slot: Int) {
        let slots = binding.entity.slots
        guard slots.indices.contains(slot), let stored = slots[slot].type else { return }
        let content: Value =
            if case .transformable = stored { .binary(data(slot) ?? .zeroValue) } else {
                .string(String.load(row, slot))
            }
        report(
            DamagedValue(
                entity: binding.entity.name, property: slots[slot].name, key: key, type: stored, content: content), slot
        )
    }

    private func report(_ damage: DamagedValue, _ slot: Int) {
        guard let core, !core.isClosed, someExtras.noteDamage(slot) else { return }
        core.report(damage, self)
    }
}
