import Foundation

/// What a save checks for objects of one entity, prepared once.
struct ValidationPlan: Sendable {
    /// Slots that must have a value.
    let required: [Int]
    let ruled: [RuledSlot]
    /// To-many relationships with limits on their count.
    let counted: [RelationshipDescription]
    /// Relationships whose delete rule is deny.
    let denied: [RelationshipDescription]

    init(entity: EntityDescription) {
        required = entity.slots.filter { !$0.isOptional && !$0.isTransient && $0.derivation == nil }.map(\.index)
        ruled = entity.attributes.flatMap { attribute in
            attribute.slots.compactMap { slot in
                let rules = slot == attribute.slots.lowerBound ? attribute.declaration.rules : ValidationRules()
                let isCase = entity.slots[slot].enumeration.map { !$0.cases.isEmpty } ?? false
                let isArray = entity.slots[slot].type?.element != nil
                return rules.isEmpty && !isCase && !isArray ? nil : RuledSlot(slot: slot, rules: rules)
            }
        }
        counted = entity.relationships.filter {
            $0.isToMany && ($0.declaration.minimumCount > 0 || $0.declaration.maximumCount > 0)
        }
        denied = entity.relationships.filter { $0.deleteRule == .deny }
    }
}

extension ManagedObject {
    /// Adds all that is wrong with the object to a list: the rules of the model, then the object's own.
    final func collectFailures(_ failures: inout [ValidationFailure]) {
        if flags.contains(.deleted) {
            collectDeny(&failures)
            collectCustom(&failures) { try $0.validateForDelete() }
            return
        }
        collectRequired(&failures)
        for ruled in binding.validation.ruled where isInserted || changedSlots.contains(ruled.slot) {
            collectRules(ruled, &failures)
        }
        for relationship in binding.validation.counted {
            guard let index = relationship.toManyIndex, isInserted || extras?.toMany(index)?.hasChanges == true else {
                continue
            }
            collectCount(relationship, members(toMany: index).count, &failures)
        }
        collectCustom(&failures) { try $0.isInserted ? $0.validateForInsert() : $0.validateForUpdate() }
    }

    private func fail(
        _ property: String?, _ value: Value, _ rule: ValidationFailure.Rule, _ message: String,
        _ failures: inout [ValidationFailure]
    ) {
        failures.append(
            ValidationFailure(objectID: objectID, property: property, value: value, rule: rule, message: message))
    }

    private func collectRequired(_ failures: inout [ValidationFailure]) {
        // Only a to-many relationship of it has changed; the row is what the store accepted, and not worth reading.
        guard !flags.contains(.fault) else { return }
        for slot in binding.validation.required where !row.isPresent(slot) {
            let name = binding.entity.slots[slot].name
            fail(name, .null, .required, "a value is required; set one before saving", &failures)
        }
        for (slot, relationship) in binding.toOnes {
            guard let key = targetKey(slot), isInserted || changedSlots.contains(slot),
                let core, let target = core.object(relationship.destinationIndex, key)
            else { continue }
            // The merge policy handles objects that others deleted.
            let isRefused =
                target.flags.contains(.deleted)
                || target.flags.contains(.missing) && core.parent == nil
                    && core.settings.merging.policy(for: binding.entity, in: core.model) == .error
            guard isRefused else { continue }
            fail(
                relationship.name, .object(key), .deletedTarget,
                "leads to \(target.objectID), which is deleted; set another object",
                &failures)
        }
    }

    private func collectCount(
        _ relationship: RelationshipDescription, _ count: Int, _ failures: inout [ValidationFailure]
    ) {
        let least = relationship.declaration.minimumCount
        let most = relationship.declaration.maximumCount
        if count < least {
            fail(
                relationship.name, .integer(Int64(count)), .minimumCount,
                "has \(count) members; at least \(least) are required", &failures)
        }
        if most > 0, count > most {
            fail(
                relationship.name, .integer(Int64(count)), .maximumCount,
                "has \(count) members; at most \(most) are allowed",
                &failures)
        }
    }

    private func collectRules(_ ruled: ValidationPlan.RuledSlot, _ failures: inout [ValidationFailure]) {
        let slot = binding.entity.slots[ruled.slot]
        let value = currentValue(slot)
        ruled.check(value, slot) { rule, message in fail(slot.name, value, rule, message, &failures) }
    }

    private func collectDeny(_ failures: inout [ValidationFailure]) {
        for relationship in binding.validation.denied {
            let remaining: Int
            if let index = relationship.toManyIndex {
                // A member that was moved since the delete does not stand in the way.
                remaining = members(toMany: index).objects.count { member in
                    if case .inverseSlot(let slot) = relationship.storage, member.targetKey(slot) != key {
                        return false
                    }
                    return !member.isDeleted
                }
            } else {
                remaining = relationship.slot.flatMap { target($0) } == nil ? 0 : 1
            }
            guard remaining > 0 else { continue }
            fail(
                relationship.name, .integer(Int64(remaining)), .deny,
                "cannot be deleted while \(remaining) \(relationship.destination) remain; delete or move them first",
                &failures)
        }
    }

    /// - Parameter validate: Takes the object, so that it captures nothing: it is made for every object of a save.
    private func collectCustom(
        _ failures: inout [ValidationFailure], _ validate: (ManagedObject) throws -> Void
    ) {
        do {
            try validate(self)
        } catch let error as ValidationError {
            failures += error.failures
        } catch let failure as ValidationFailure {
            failures.append(failure)
        } catch {
            fail(nil, .null, .custom, "\(error)", &failures)
        }
    }
}
