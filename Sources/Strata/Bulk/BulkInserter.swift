import Foundation
import StrataStore

/// Packs rows of new objects, and has the store write them at once.
final class BulkInserter {
    private let core: ContextCore
    private let binding: EntityBinding
    private let isValidated: Bool
    private let now = Date()
    private var changes = ChangeSet()
    private var failures: [ValidationFailure] = []
    private var ids: [ObjectID] = []

    /// - Throws: ``PersistenceError/unknownEntity(name:model:nearest:)``, ``PersistenceError/abstractEntity(name:)``.
    init(core: ContextCore, _ type: ManagedObject.Type, validating: Bool) throws(PersistenceError) {
        guard let binding = core.coordinator.binding(for: type) else {
            throw .unknownEntity("\(type)", in: core.model)
        }
        guard !binding.entity.isAbstract else { throw .abstractEntity(name: binding.entity.name) }
        self.core = core
        self.binding = binding
        isValidated = validating
    }

    /// Adds an object.
    func add(_ values: [String: FetchExpression]) throws(PersistenceError) {
        let entity = binding.entity
        let key = core.identityMap.nextKey(rootIndex: entity.rootIndex)
        var slab = RowSlab.copy(of: binding.defaultRow.row, room: binding.roomForBytes)
        RowEditing.setKey(key, in: slab)
        for (slot, value) in binding.freshDefaults {
            let description = entity.slots[slot]
            _ = RowEditing.setValue(
                EntityBinding.fresh(value, for: description), description, layout: entity.slots, in: &slab)
        }
        for (name, expression) in values { try set(name, expression, in: &slab) }
        for (slot, derivation) in binding.savedDerivations { derive(slot, derivation, in: &slab) }
        RowEditing.setVersion(1, in: slab)
        let id = ObjectID(entity: entity, key: key, storeIdentifier: binding.storeIdentifier)
        check(slab.row, id)
        ids.append(id)
        changes.inserts.append(.init(row: RowReference(slab: slab, row: slab.row)))
    }

    private func set(_ name: String, _ expression: FetchExpression, in slab: inout RowSlab) throws(PersistenceError) {
        let entity = binding.entity
        guard let slot = entity.slot(named: name) else { throw .unknownProperty(name, of: entity) }
        func fail(_ reason: String) -> PersistenceError { .invalidFetch(entity: entity.name, reason: reason) }
        guard case .constant(let value) = expression.node else {
            throw fail("\(name) of a new object must be a constant, not \(expression)")
        }
        if let index = slot.relationshipIndex, core.model.inverse(of: entity.relationships[index])?.slot != nil {
            throw fail("\(name) is one-to-one: setting it changes other objects, too; insert objects and save")
        }
        guard slot.derivation == nil else { throw fail("\(name) is derived; set what it is derived from") }
        try RowEditing.setConstant(value, slot, of: entity, in: &slab)
    }

    private func derive(_ slot: Int, _ derivation: Derivation, in slab: inout RowSlab) {
        let entity = binding.entity
        let value: Value
        switch derivation {
        case .now: value = .date(now)
        case .lowercase(let source), .uppercase(let source), .canonical(let source):
            let text = entity.slot(named: source).flatMap { String(slab.row.value($0)) }
            value = text.map { .string(DerivedText.of($0, derivation)) } ?? .null
        default: return
        }
        _ = RowEditing.setValue(value, entity.slots[slot], layout: entity.slots, in: &slab)
    }

    private func check(_ row: RowPointer, _ id: ObjectID) {
        let slots = binding.entity.slots
        func fail(_ slot: SlotDescription, _ value: Value, _ rule: ValidationFailure.Rule, _ message: String) {
            failures.append(
                ValidationFailure(objectID: id, property: slot.name, value: value, rule: rule, message: message))
        }
        for slot in binding.validation.required where !row.isPresent(slot) {
            fail(slots[slot], .null, .required, "a value is required; set one")
        }
        guard isValidated else { return }
        for ruled in binding.validation.ruled {
            let slot = slots[ruled.slot]
            let value = row.value(slot)
            ruled.check(value, slot) { rule, message in fail(slot, value, rule, message) }
        }
    }

    /// Has the store write all of them.
    /// - Returns: Their IDs.
    func commit() throws(PersistenceError) -> [ObjectID] {
        guard failures.isEmpty else { throw .validation(ValidationError(failures)) }
        guard !changes.isEmpty else { return [] }
        changes.author = core.settings.author
        changes.contextName = core.settings.name
        core.processPendingChanges()
        let changes = changes
        switch try core.store({ (store) throws(StoreError) in try store.commit(changes) }) {
        case .committed(let effects):
            core.bulk.take(
                BulkResult(
                    count: ids.count,
                    change: StoreChange(changes: changes, effects: effects, previousRows: [], deletedRows: []),
                    keys: [:]))
            return ids
        case .conflicts(let conflicts):
            throw .conflicts(conflicts.map(ConflictDescription(core: core).describe))
        case .partly(_, _, let failure): throw .store(.remote(failure))
        }
    }
}
