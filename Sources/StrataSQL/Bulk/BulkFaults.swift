import StrataStore

/// What is wrong with the values that a bulk update gives, with the first objects.
package struct BulkFaults {
    private struct Fault {
        let slot: String
        let kind: String
        let reason: String
        var keys: [Int64]
    }

    private let entity: EntityDescription
    private var found: [Fault] = []

    package init(entity: EntityDescription) { self.entity = entity }

    /// Notes a value that is wrong. One text is kept for each kind, with three objects.
    package mutating func note(_ slot: SlotDescription, _ kind: String, _ reason: String, _ key: Int64) {
        if let index = found.firstIndex(where: { $0.slot == slot.name && $0.kind == kind }) {
            if found[index].keys.count < 3 { found[index].keys.append(key) }
        } else {
            found.append(Fault(slot: slot.name, kind: kind, reason: reason, keys: [key]))
        }
    }

    /// Notes a value that a check of the update refuses.
    package mutating func check(_ row: RowPointer, _ slot: SlotDescription, _ update: BulkUpdate) {
        guard let check = update.checks[slot.index] else { return }
        let value = row.value(slot)
        guard !value.isNull, let reason = check(value) else { return }
        note(slot, "rule", "with a value that the model forbids (\(reason))", row.key)
    }

    /// Throws the first fault.
    package func report() throws(StoreError) {
        guard let first = found.first else { return }
        throw .constraint(
            entity: entity.name,
            reason: "the bulk update would leave \(first.slot) \(first.reason), as in object "
                + first.keys.map { "\($0)" }.joined(separator: ", ") + "; nothing was changed")
    }
}
