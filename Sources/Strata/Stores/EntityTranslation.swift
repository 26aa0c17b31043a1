import StrataStore

/// Translates between the positions of entities in the model of a container and in the model of one of its stores. The
/// properties of an entity have the same positions in both.
struct EntityTranslation: Sendable {
    /// By position in the container's model; nil for entities of other stores.
    private let innerIndexes: [Int?]
    /// By position in the store's model; nil for entities that the container does not ask it for.
    private let outerIndexes: [Int?]
    /// Whether both models agree about all positions, so that rows can be passed on as they are.
    private let isIdentity: Bool

    init(outer: ManagedObjectModel, inner: ManagedObjectModel, _ names: Set<String>) {
        innerIndexes = outer.entities.map { names.contains($0.name) ? inner.entity(named: $0.name)?.index : nil }
        outerIndexes = inner.entities.map { names.contains($0.name) ? outer.entity(named: $0.name)?.index : nil }
        isIdentity = innerIndexes.enumerated().allSatisfy { $1 == nil || $1 == $0 }
    }

    /// What keeps rows of one model from being rows of the other.
    static func differences(
        of inner: ManagedObjectModel, from outer: ManagedObjectModel, _ names: Set<String>
    ) -> [String] {
        outer.entities.filter { names.contains($0.name) }.compactMap { entity in
            guard let other = inner.entity(named: entity.name) else { return "it lacks \(entity.name)" }
            if other === entity { return nil }
            func heirs(_ entity: EntityDescription, _ model: ManagedObjectModel) -> Set<String> {
                Set(entity.descendantIndexes.map { model.entities[$0].name })
            }
            func relationships(_ entity: EntityDescription) -> [String] {
                entity.relationships.map {
                    "\($0.name) to \($0.isToMany ? "many " : "")\($0.destination) \($0.storage) \($0.isOrdered)"
                }
            }
            guard other.rootName == entity.rootName, heirs(other, inner) == heirs(entity, outer),
                other.layoutHash == entity.layoutHash, relationships(other) == relationships(entity)
            else { return "its \(entity.name) has other properties, another order of them, or other subentities" }
            return nil
        }
    }

    // MARK: Positions

    /// Whether the store keeps an entity of the container's model.
    func keeps(_ index: Int) -> Bool { innerIndexes[index] != nil }

    /// The position in the store's model of an entity that the store keeps.
    func inner(_ index: Int) -> Int { innerIndexes[index] ?? index }

    /// The position in the container's model of an entity of the store.
    func outer(_ index: Int) -> Int { outerIndexes[index] ?? index }

    func inner(_ plan: FetchPlan) -> FetchPlan {
        var result = plan
        result.entityIndex = inner(plan.entityIndex)
        return result
    }

    func outer(_ plan: FetchPlan) -> FetchPlan {
        var result = plan
        result.entityIndex = outer(plan.entityIndex)
        return result
    }

    func inner(_ plan: ValuePlan) -> ValuePlan {
        var result = plan
        result.fetch = inner(plan.fetch)
        return result
    }

    func inner(_ known: @escaping KnownRows) -> KnownRows {
        isIdentity ? known : { index, key, version in known(outer(index), key, version) }
    }

    func outer(_ keys: [Int: [Int64]]) -> [Int: [Int64]] { outer(keys) { $0 + $1 } }

    private func outer<T>(_ values: [Int: T], _ combine: (T, T) -> T) -> [Int: T] {
        Dictionary(
            values.compactMap { index, value in outerIndexes[index].map { ($0, value) } }, uniquingKeysWith: combine)
    }

    // MARK: Rows

    func inner(_ row: RowReference) -> RowReference { isIdentity ? row : copy(row, inner(row.entityIndex)) }

    func outer(_ row: RowReference) -> RowReference { isIdentity ? row : copy(row, outer(row.entityIndex)) }

    private func copy(_ row: RowReference, _ entityIndex: Int) -> RowReference {
        let slab = withExtendedLifetime(row) { RowSlab.copy(of: row.row) }
        RowEditing.setEntityIndex(entityIndex, in: slab)
        return RowReference(slab: slab, row: slab.row)
    }

    /// A copy of rows that a store has given: it may have given them to others, too.
    func outer(_ batch: RowBatch) -> RowBatch {
        guard !isIdentity, batch.count > 0 else { return batch }
        var slabs: [RowSlab] = []
        var pointers: [UnsafeRawPointer] = []
        pointers.reserveCapacity(batch.count)
        var start = 0
        for (slab, end) in zip(batch.slabs, batch.ends) {
            let base = UnsafeRawPointer(slab.memory)
            let size = batch.pointers[start..<end].reduce(0) { max($0, $1 - base + RowPointer($1).byteCount) }
            let copy = RowSlab.make(capacity: size)
            copy.memory.copyMemory(from: base, byteCount: size)
            for pointer in batch.pointers[start..<end] {
                let offset = pointer - base
                RowEditing.setEntityIndex(outer(RowPointer(pointer).entityIndex), at: offset, in: copy)
                pointers.append(UnsafeRawPointer(copy.memory + offset))
            }
            slabs.append(copy)
            start = end
        }
        return withExtendedLifetime(batch) {
            RowBatch(pointers: pointers, slabs: slabs, ends: batch.ends, isContiguous: batch.isContiguous)
        }
    }

    // MARK: Changes

    /// The changes as the store sees them.
    func inner(_ changes: ChangeSet) -> ChangeSet {
        isIdentity ? changes : translated(changes, index: inner) { inner($0) }
    }

    /// The changes as the container sees them.
    func outer(_ changes: ChangeSet) -> ChangeSet {
        isIdentity ? changes : translated(changes, index: outer) { outer($0) }
    }

    private func translated(
        _ changes: ChangeSet, index: (Int) -> Int, row: (RowReference) -> RowReference
    ) -> ChangeSet {
        var result = changes
        result.inserts = changes.inserts.map { ChangeSet.Insert(row: row($0.row)) }
        result.updates = changes.updates.map {
            ChangeSet.Update(row: row($0.row), slots: $0.slots, baseVersion: $0.baseVersion)
        }
        result.operations = [:]
        for (identity, operations) in changes.operations {
            result.operations[RowIdentity(entityIndex: index(identity.entityIndex), key: identity.key)] = operations
        }
        result.deletes = changes.deletes.map {
            ChangeSet.Delete(entityIndex: index($0.entityIndex), key: $0.key, baseVersion: $0.baseVersion)
        }
        result.clearings = changes.clearings.map {
            ChangeSet.Clearing(
                entityIndex: index($0.entityIndex), slot: $0.slot, targets: $0.targets, keys: $0.keys)
        }
        result.pairs = changes.pairs.map {
            ChangeSet.PairChange(
                entityIndex: index($0.entityIndex), relationshipIndex: $0.relationshipIndex, owner: $0.owner,
                added: $0.added, removed: $0.removed)
        }
        result.orders = changes.orders.map {
            ChangeSet.OrderChange(
                entityIndex: index($0.entityIndex), relationshipIndex: $0.relationshipIndex, owner: $0.owner,
                kind: $0.kind)
        }
        result.checks = changes.checks.map {
            ChangeSet.Check(entityIndex: index($0.entityIndex), key: $0.key, version: $0.version)
        }
        return result
    }

    func outer(_ effects: CommitEffects) -> CommitEffects {
        CommitEffects(
            referrers: outer(effects.referrers),
            referrerVersions: outer(effects.referrerVersions) { $0.merging($1) { first, _ in first } },
            rows: effects.rows.map { outer($0) }, alreadyDeleted: outer(effects.alreadyDeleted))
    }

    func outer(_ change: StoreChange) -> StoreChange {
        StoreChange(
            changes: outer(change.changes), effects: outer(change.effects),
            previousRows: change.previousRows.map { outer($0) },
            deletedRows: change.deletedRows.map { $0.map { outer($0) } })
    }

    /// The part of a change that concerns the container: without the entities that it does not ask the store for. nil if
    /// there is nothing else.
    func told(_ change: StoreChange) -> StoreChange? {
        guard outerIndexes.contains(where: { $0 == nil }) else { return outer(change) }
        func isKept(_ index: Int) -> Bool { outerIndexes[index] != nil }
        var result = change
        let updates = zip(change.changes.updates, change.previousRows).filter { isKept($0.0.row.row.entityIndex) }
        let deletes = zip(change.changes.deletes, change.deletedRows).filter { isKept($0.0.entityIndex) }
        result.changes.inserts.removeAll { !isKept($0.row.row.entityIndex) }
        result.changes.updates = updates.map(\.0)
        result.previousRows = updates.map(\.1)
        result.changes.deletes = deletes.map(\.0)
        result.deletedRows = deletes.map(\.1)
        result.changes.operations = result.changes.operations.filter { isKept($0.key.entityIndex) }
        result.changes.clearings.removeAll { !isKept($0.entityIndex) }
        result.changes.pairs.removeAll { !isKept($0.entityIndex) }
        result.changes.orders.removeAll { !isKept($0.entityIndex) }
        result.changes.checks.removeAll { !isKept($0.entityIndex) }
        result.effects.rows.removeAll { !isKept($0.row.entityIndex) }
        if result.changes.isEmpty, result.effects.rows.isEmpty, outer(result.effects.referrers).isEmpty { return nil }
        return outer(result)
    }

    func outer(_ conflict: StoreConflict) -> StoreConflict {
        StoreConflict(
            reason: conflict.reason, entityIndex: outer(conflict.entityIndex), key: conflict.key,
            storeRow: conflict.storeRow.map { outer($0) }, otherKey: conflict.otherKey)
    }

    func outer(_ result: CommitResult) -> CommitResult {
        switch result {
        case .committed(let effects): .committed(outer(effects))
        case .conflicts(let conflicts): .conflicts(conflicts.map { outer($0) })
        case .partly(let effects, let done, let failure): .partly(outer(effects), done: outer(done), failure: failure)
        }
    }

    // MARK: Bulk operations

    func inner(_ operation: BulkOperation) -> BulkOperation {
        switch operation {
        case .delete(let plan): return .delete(inner(plan))
        case .update(let update):
            var result = update
            result.fetch = inner(update.fetch)
            result.constants = inner(update.constants)
            return .update(result)
        }
    }

    func outer(_ result: BulkResult) -> BulkResult {
        BulkResult(count: result.count, change: result.change.map { outer($0) }, keys: outer(result.keys))
    }
}
