import StrataStore

// Answers that would leave values that the new model does not allow.
extension MigrationCounter {
    /// Refuses to fill an attribute with a value that it cannot have.
    /// - Parameter step: A step with its counts: an answer that is not needed may have been given for another version.
    /// - Throws: ``StoreError/migrationFailed(path:step:reason:)``.
    func checkFill(_ step: MigrationStep) throws(StoreError) {
        guard step.risk == .checked, step.misfits != 0, case .fill(let answer)? = context.answers[step.id] else {
            return
        }
        for (slot, _) in filledSlots(step) {
            let value = MigrationContext.fitted(answer, to: slot)
            let reason: String
            if value.isNull, !slot.isOptional {
                reason = "the answer is nil, and \(slot.name) is required"
            } else if !RowEditing.accepts(value, slot) {
                reason = "the answer \(answer) is not a value of type \(slot.type?.name ?? "object")"
            } else if let enumeration = slot.enumeration, !value.isNull, !enumeration.contains(value) {
                reason = "the answer \(answer) is not the raw value of a case of \(enumeration.name)"
            } else {
                continue
            }
            throw .migrationFailed(
                path: context.engine.path, step: step.id, reason: "\(reason); fill it with another value")
        }
    }

    /// Whether values that do not fit would become nil although the attribute is required, and has no default.
    func clearsRequired(_ step: MigrationStep) -> Bool {
        step.kind == .changeType && context.answers[step.id] == .clear && step.misfits != 0
            && filledSlots(step).contains { slot, mapping in !slot.isOptional && mapping?.fill == nil }
    }

    /// The slots of the attribute of a step, in each entity that has it.
    private func filledSlots(_ step: MigrationStep) -> [(SlotDescription, SlotMapping?)] {
        guard let name = step.property, [.addAttribute, .changeType, .changeOptionality].contains(step.kind) else {
            return []
        }
        return heirs(step).flatMap { heir, _ in
            heir.slots.filter { $0.type != nil && ($0.name == name || $0.name.hasPrefix(name + ".")) }
                .map { ($0, context.slotMapping(heir, $0)) }
        }
    }
}
