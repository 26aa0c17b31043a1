import Foundation
import StrataStore

extension ManagedObject {
    /// Fills the derived attributes that are computed at a save.
    /// - Parameter now: The moment of the save, the same for all objects.
    final func computeDerived(now: Date) {
        guard !binding.savedDerivations.isEmpty, isInserted || !storedChanges.isEmpty else { return }
        for (slot, derivation) in binding.savedDerivations {
            let description = binding.entity.slots[slot]
            let value: Value =
                switch derivation {
                case .lowercase(let source): text(source).map { .string($0.lowercased()) } ?? .null
                case .uppercase(let source): text(source).map { .string($0.uppercased()) } ?? .null
                case .canonical(let source):
                    text(source).map { .string(TextComparison.fold($0, [.caseInsensitive, .diacriticInsensitive])) }
                        ?? .null
                case .now: .date(now)
                default: .null
                }
            if value != row.value(description) { write(value, description) }
        }
    }

    private func text(_ name: String) -> String? {
        binding.entity.slot(named: name).flatMap { String(row.value($0)) }
    }

    /// Whether members of any to-many relationship were added, removed or rearranged.
    final var hasToManyChanges: Bool { (extras?.toManys ?? []).contains { $0?.hasChanges == true } }

    /// Slots with another value than the snapshot, and those with operations, as far as the store keeps them: an operation
    /// that changes nothing here may change what others have made of the value.
    final var storedChanges: SlotSet {
        var result = differingSlots().intersection(binding.storedSlots)
        if flags.contains(.operated) {
            for slot in operations.keys { result.insert(slot) }
        }
        return result
    }

    /// Slots with another value than the snapshot. A value that was set back is not a change. Without a snapshot, because the
    /// row has not been read yet, all that were written.
    final func differingSlots() -> SlotSet {
        var result = SlotSet()
        guard let changes, !flags.contains(.inserted) else { return result }
        let slots = binding.entity.slots
        for slot in changes.slots {
            if let snapshot = changes.snapshot,
                row.hasSameValue(as: snapshot.row, slot: slot, storage: slots[slot].storage)
            {
                continue
            }
            result.insert(slot)
        }
        return result
    }
}
