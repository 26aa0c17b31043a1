import Foundation
import StrataStore

/// Turns typed bulk operations into plans, and applies what the store has done.
struct BulkPlanner {
    let core: ContextCore

    private var model: ManagedObjectModel { core.model }

    // MARK: Plans

    func update<T>(
        _ request: FetchRequest<T>, _ changes: BulkChanges<T>, validating: Bool
    ) throws(PersistenceError) -> BulkUpdate {
        let plan = try core.planner.plan(for: request)
        let entity = model.entities[plan.entityIndex]
        var constants = RowSlab.copy(of: core.binding(at: entity.index).emptyRow.row, room: 256)
        var assignments: [Int: BulkUpdate.Assignment] = [:]
        for (name, expression) in changes.expressions {
            guard let slot = entity.slot(named: name) else {
                throw .unknownProperty(name, of: entity)
            }
            try checkReference(slot, entity)
            for path in expression.keyPaths { try core.planner.check(path, entity, takesCollections: true) }
            assignments[slot.index] = try assignment(expression, slot, entity, &constants)
        }
        try addDerivations(of: entity, changes.expressions, &assignments, &constants)
        return BulkUpdate(
            fetch: plan, assignments: assignments, constants: RowReference(slab: constants, row: constants.row),
            checks: try checks(of: entity, assignments, constants.row, validating: validating))
    }

    /// Checks constants, and makes the checks of what expressions give. Cases of enumerations and elements of arrays are always
    /// checked.
    private func checks(
        of entity: EntityDescription, _ assignments: [Int: BulkUpdate.Assignment], _ constants: RowPointer,
        validating: Bool
    ) throws(PersistenceError) -> [Int: @Sendable (Value) -> String?] {
        var checks: [Int: @Sendable (Value) -> String?] = [:]
        for ruled in core.binding(at: entity.index).validation.ruled {
            let slot = entity.slots[ruled.slot]
            let rules = validating ? ruled.rules : ValidationRules()
            guard let assignment = assignments[ruled.slot],
                !rules.isEmpty || slot.enumeration != nil || slot.type?.element != nil
            else { continue }
            let check = ValidationPlan.RuledSlot(slot: ruled.slot, rules: rules)
            switch assignment {
            case .constant:
                let value = constants.value(slot)
                guard let fault = check.firstFault(of: value, slot) else { continue }
                throw .invalidFetch(entity: entity.name, reason: "\(slot.name) cannot be set to \(value): \(fault)")
            case .expression: checks[ruled.slot] = { check.firstFault(of: $0, slot) }
            }
        }
        return checks
    }

    private func assignment(
        _ expression: FetchExpression, _ slot: SlotDescription, _ entity: EntityDescription,
        _ constants: inout RowSlab
    ) throws(PersistenceError) -> BulkUpdate.Assignment {
        guard case .constant(let value) = expression.node else { return .expression(expression) }
        try RowEditing.setConstant(value, slot, of: entity, in: &constants)
        return .constant
    }

    /// A one-to-one relationship has another end to set, which is for objects.
    private func checkReference(_ slot: SlotDescription, _ entity: EntityDescription) throws(PersistenceError) {
        guard let index = slot.relationshipIndex else {
            guard slot.derivation == nil else {
                throw .invalidFetch(entity: entity.name, reason: "\(slot.name) is derived; set what it is derived from")
            }
            return
        }
        guard model.inverse(of: entity.relationships[index])?.slot == nil else {
            throw .invalidFetch(
                entity: entity.name,
                reason: "\(slot.name) is one-to-one: setting it changes other objects, too; change the objects and save"
            )
        }
    }

    /// Attributes that a save derives are derived here.
    private func addDerivations(
        of entity: EntityDescription, _ expressions: [String: FetchExpression],
        _ assignments: inout [Int: BulkUpdate.Assignment], _ constants: inout RowSlab
    ) throws(PersistenceError) {
        for (slot, derivation) in core.binding(at: entity.index).savedDerivations {
            let description = entity.slots[slot]
            switch derivation {
            case .now:
                assignments[slot] = try assignment(.constant(.date(Date())), description, entity, &constants)
            case .lowercase(let source), .uppercase(let source), .canonical(let source):
                guard let expression = expressions[source] else { continue }
                if case .constant(let value) = expression.node {
                    let text = String(value).map { DerivedText.of($0, derivation) }
                    assignments[slot] = try assignment(
                        .constant(text.map(Value.string) ?? .null), description, entity, &constants)
                } else if case .canonical = derivation {
                    throw .invalidFetch(
                        entity: entity.name,
                        reason:
                            "\(description.name) is derived from \(source), which must be a constant in a bulk update")
                } else {
                    let isLower = if case .lowercase = derivation { true } else { false }
                    assignments[slot] = .expression(.function(isLower ? .lowercase : .uppercase, [expression]))
                }
            default: continue
            }
        }
    }

    // MARK: Running

    /// Has the store do it, and applies what it did.
    func run(_ operation: BulkOperation, on plan: FetchPlan) throws(PersistenceError) -> Int {
        guard core.parent == nil else {
            throw .invalidFetch(
                entity: model.entities[plan.entityIndex].name,
                reason: "a bulk operation changes the store; ask the outermost parent context for it")
        }
        let roots = Set(plan.entityIndexes(in: model).map { model.entities[$0].rootIndex })
        let isPending = core.tracker.objects.contains {
            $0.hasChanges && roots.contains($0.binding.entity.rootIndex)
        }
        guard !isPending, core.nullifications.isEmpty else {
            throw .invalidFetch(
                entity: model.entities[plan.entityIndex].name,
                reason:
                    "a bulk operation looks at the store, which does not know the context's unsaved changes; save first"
            )
        }
        core.processPendingChanges()
        var operation = operation
        if case .update(var update) = operation {
            update.tellsKeys = mayBeInMemory(roots, update)
            operation = .update(update)
        }
        let origin = ChangeOrigin(author: core.settings.author, contextName: core.settings.name)
        let result = try core.store { (store) throws(StoreError) in try store.perform(operation, by: origin) }
        take(result)
        return result.count
    }

    /// Whether objects in memory or listeners may have to be told what an update changes.
    private func mayBeInMemory(_ roots: Set<Int>, _ update: BulkUpdate) -> Bool {
        if core.recorder?.isOn == true || core.coordinator.hasReceivers(besides: core.inbox.contextNumber) {
            return true
        }
        if roots.contains(where: { core.identityMap.table($0).count > 0 }) { return true }
        // The other ends of relationships have other members afterwards.
        let slots = model.entities[update.fetch.entityIndex].slots
        return !core.identityMap.isEmpty && update.slots.contains { slots[$0].relationshipIndex != nil }
    }

    /// Tells the other contexts, and brings the objects of this one up to date.
    func take(_ result: BulkResult) {
        guard result.count > 0 else { return }
        core.recorder?.close(.beforeMerge)
        if let change = result.change {
            var changes = change.changes
            changes.author = core.settings.author
            let notification = CommitNotification(
                contextNumber: core.inbox.contextNumber, changes: changes, effects: change.effects,
                previousRows: change.previousRows, deletedRows: change.deletedRows)
            core.coordinator.announce(notification)
            if let recorder = core.recorder, recorder.isOn { recorder.note(notification) }
            core.merger.merge(notification)
        } else if result.keys.isEmpty {
            core.coordinator.announceUnlisted(from: core.inbox.contextNumber)
        } else {
            let keys = result.keys.mapValues(Set.init)
            core.coordinator.announce(keys, from: core.inbox.contextNumber)
            if let recorder = core.recorder, recorder.isOn { recorder.note(keys) }
            core.merger.refresh(keys)
        }
        core.movePin()
        core.oneToOneRepair.repairAll()
        core.recorder?.close(.merge)
    }
}

extension ContextCore {
    var bulk: BulkPlanner { BulkPlanner(core: self) }
}

/// Texts that are derived from others at a save.
enum DerivedText {
    static func of(_ text: String, _ derivation: Derivation) -> String {
        switch derivation {
        case .lowercase: text.lowercased()
        case .uppercase: text.uppercased()
        case .canonical: TextComparison.fold(text, [.caseInsensitive, .diacriticInsensitive])
        default: text
        }
    }
}

extension RowEditing {
    /// Writes the constant of a bulk operation.
    /// - Throws: ``PersistenceError/invalidFetch(entity:reason:)`` for a value that the slot cannot have.
    static func setConstant(
        _ value: Value, _ slot: SlotDescription, of entity: EntityDescription, in slab: inout RowSlab
    ) throws(PersistenceError) {
        guard setValue(value, slot, layout: entity.slots, in: &slab) else {
            throw .invalidFetch(
                entity: entity.name,
                reason: "\(slot.name) cannot be set to \(value), which is of another type; convert it")
        }
        if let enumeration = slot.enumeration, !value.isNull, !enumeration.contains(value) {
            throw .invalidFetch(
                entity: entity.name, reason: "\(value) is not a raw value of \(enumeration.name); use one of its cases")
        }
    }
}
