import StrataStore

/// An open transaction, as bulk operations see it.
package protocol BulkTransaction {
    /// The model of the store.
    var model: ManagedObjectModel { get }
    /// The entities and keys of the rows that a plan asks for.
    func identities(_ plan: FetchPlan) throws(StoreError) -> [RowIdentity]
    /// The rows of some keys; see ``StoreReader/rows(entityIndex:keys:)``.
    func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch
    /// The pairs of a to-many relationship of some owners.
    func memberKeys(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64]
    ) throws(StoreError) -> [(owner: Int64, member: Int64)]
    /// Which objects refer by a relationship to some objects: owner, member. Of the two sides of a relationship the one that
    /// keeps it is asked: a to-one, or the primary side of pairs.
    func owners(
        entityIndex: Int, relationshipIndex: Int, members: [Int64]
    ) throws(StoreError) -> [(owner: Int64, member: Int64)]
    /// Writes a change set with as few statements as possible.
    func writeTogether(_ changes: ChangeSet) throws(StoreError) -> CommitResult
}

/// Deletes all rows that meet a condition, and runs the delete rules set by set: a statement for each relationship, however
/// many objects there are.
package struct BulkDeleter<Transaction: BulkTransaction> {
    private let transaction: Transaction
    private var model: ManagedObjectModel { transaction.model }

    package init(_ transaction: Transaction) { self.transaction = transaction }

    package func run(_ plan: FetchPlan) throws(StoreError) -> BulkResult {
        var doomed = Doomed(model: model)
        var wave = doomed.add(try transaction.identities(plan))
        while !wave.isEmpty { wave = doomed.add(try cascade(wave)) }
        guard doomed.count > 0 else { return BulkResult(count: 0, change: nil, keys: [:]) }
        var changes = ChangeSet()
        for (entityIndex, keys) in doomed.byEntity {
            for relationship in model.entities[entityIndex].relationships {
                try unlink(relationship, of: entityIndex, keys, doomed, &changes)
            }
        }
        let isWhole = doomed.count <= BulkResult.mostRows
        var rows: [RowIdentity: RowReference] = [:]
        for (entityIndex, keys) in doomed.byEntity {
            changes.deletes += keys.map { .init(entityIndex: entityIndex, key: $0, baseVersion: nil) }
            guard isWhole else { continue }
            for row in try transaction.rows(entityIndex: entityIndex, keys: keys).rows {
                rows[RowIdentity(entityIndex: entityIndex, key: row.key)] = row
            }
        }
        guard case .committed(let effects) = try transaction.writeTogether(changes) else {
            throw .constraint(entity: model.entities[plan.entityIndex].name, reason: "the bulk delete met a conflict")
        }
        var keys: [Int: [Int64]] = [:]
        for (entityIndex, deleted) in doomed.byEntity {
            keys[model.entities[entityIndex].rootIndex, default: []] += deleted
        }
        for clearing in changes.clearings {
            keys[model.entities[clearing.entityIndex].rootIndex, default: []] += clearing.keys
        }
        for (root, referrers) in effects.referrers { keys[root, default: []] += referrers }
        let change = StoreChange(
            changes: changes, effects: effects, previousRows: [],
            deletedRows: changes.deletes.map { rows[RowIdentity(entityIndex: $0.entityIndex, key: $0.key)] })
        return BulkResult(count: doomed.count, change: change, keys: keys)
    }

    // MARK: Rules

    /// The objects that go with others.
    private func cascade(_ wave: [Int: [Int64]]) throws(StoreError) -> [RowIdentity] {
        var found: [RowIdentity] = []
        for (entityIndex, keys) in wave {
            for relationship in model.entities[entityIndex].relationships where relationship.deleteRule == .cascade {
                let targets = try targets(relationship, of: entityIndex, keys)
                guard !targets.isEmpty else { continue }
                // The rows say which entity each of them is of.
                for row in try transaction.rows(entityIndex: relationship.destinationIndex, keys: targets).rows {
                    found.append(RowIdentity(entityIndex: row.entityIndex, key: row.key))
                }
            }
        }
        return found
    }

    /// The keys of the objects that a relationship of some objects leads to.
    private func targets(
        _ relationship: RelationshipDescription, of entityIndex: Int, _ keys: [Int64]
    ) throws(StoreError) -> [Int64] {
        guard let slot = relationship.slot else {
            return try transaction.memberKeys(
                entityIndex: entityIndex, relationshipIndex: relationship.index, owners: keys
            ).map(\.member)
        }
        let description = model.entities[entityIndex].slots[slot]
        var result: [Int64] = []
        for row in try transaction.rows(entityIndex: entityIndex, keys: keys).rows {
            if case .object(let key) = row.value(description) { result.append(key) }
        }
        return result
    }

    /// Takes objects out of the relationships that lead to them.
    private func unlink(
        _ relationship: RelationshipDescription, of entityIndex: Int, _ keys: [Int64], _ doomed: Doomed,
        _ changes: inout ChangeSet
    ) throws(StoreError) {
        guard relationship.deleteRule != .noAction else { return }
        if relationship.deleteRule == .deny {
            let rest = try targets(relationship, of: entityIndex, keys).filter {
                !doomed.contains($0, relationship.destinationIndex)
            }
            guard rest.isEmpty else { throw denied(relationship, entityIndex, rest) }
            return
        }
        guard let inverse = model.inverse(of: relationship), let slot = inverse.slot else { return }
        let referrers = try transaction.owners(
            entityIndex: relationship.destinationIndex, relationshipIndex: inverse.index, members: keys
        ).filter { !doomed.contains($0.owner, relationship.destinationIndex) }
        guard !referrers.isEmpty else { return }
        let destination = model.entities[relationship.destinationIndex]
        guard destination.slots[slot].isOptional else {
            throw .constraint(
                entity: destination.name,
                reason: "the bulk delete would leave \(inverse.name) without a value, as in object "
                    + referrers.prefix(3).map { "\($0.owner)" }.joined(separator: ", ") + "; nothing was deleted")
        }
        changes.clearings.append(
            .init(
                entityIndex: destination.index, slot: slot, targets: Set(referrers.map(\.member)).sorted(),
                keys: referrers.map(\.owner)))
    }

    private func denied(_ relationship: RelationshipDescription, _ entityIndex: Int, _ keys: [Int64]) -> StoreError {
        let entity = model.entities[entityIndex]
        return .constraint(
            entity: entity.name,
            reason: "\(relationship.name) denies the bulk delete while it leads to \(relationship.destination) "
                + keys.prefix(3).map { "\($0)" }.joined(separator: ", ") + "; nothing was deleted")
    }

    /// The objects that are to be deleted.
    private struct Doomed {
        let model: ManagedObjectModel
        private(set) var byEntity: [Int: [Int64]] = [:]
        private var byRoot: [Int: Set<Int64>] = [:]
        private(set) var count = 0

        init(model: ManagedObjectModel) { self.model = model }

        func contains(_ key: Int64, _ entityIndex: Int) -> Bool {
            byRoot[model.entities[entityIndex].rootIndex]?.contains(key) == true
        }

        /// Adds objects.
        /// - Returns: Those that are new, by entity.
        mutating func add(_ identities: [RowIdentity]) -> [Int: [Int64]] {
            var new: [Int: [Int64]] = [:]
            for identity in identities {
                let root = model.entities[identity.entityIndex].rootIndex
                guard byRoot[root, default: []].insert(identity.key).inserted else { continue }
                new[identity.entityIndex, default: []].append(identity.key)
                count += 1
            }
            for (entityIndex, keys) in new { byEntity[entityIndex, default: []] += keys }
            return new
        }
    }
}
