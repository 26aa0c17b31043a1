import Foundation
import StrataStore
import StrataTesting

/// One way in which a store can be wrong.
enum Defect: String, CaseIterable, Sendable {
    // Values
    case datesInWholeSeconds, smallIntegers, roundedDoubles, normalizedTexts, emptyTextsAreNil, nilNumbersAreZero
    case falseIsNil, decimalsAsDoubles, bytesEndAtZero, uuidsInOtherOrder, urisWithoutFragment, swappedPositions
    // Fetching
    case noCondition, noOrder, noLimit, noOffset, limitBeforeOffset, nilLast, tiesBackwards, caseBlind, nilIsNotUnequal
    case countsAll, countsBeyondLimit, identitiesByKey, identitiesOfTheAskedEntity, noSubentities, onlySubentities
    case headersForAll, unknownRowsByKey, rowsTooFew, ignoresErrors
    // Values of groups
    case emptySumsAreMissing, wholeAverages, noHaving, notDistinct
    // Keys
    case keysTwice, keysOverlap, keysFromOne, negativeKeys
    // Committing
    case lastSaveWins, deletesForgotten, updatesForgotten, insertsBeforeConflicts, noStoreRow, versionsStandStill
    case pairsNotAdded, pairsNotRemoved, ordersForgotten, newMembersFirst, conflictsAsErrors
    // Relationships
    case membersOfAll, membersOfOne, pairsOfAll
    // Life
    case neverClosed, newIdentity, otherModel
}

/// A SQLite store with a defect.
final class BrokenStore: PersistentStore {
    let store: SQLiteStore
    let defect: Defect
    let identifier: UUID
    let model: ManagedObjectModel

    init(_ defect: Defect, model: ManagedObjectModel, place: URL) throws {
        self.defect = defect
        let path = place.appendingPathComponent("store.sqlite").path
        store = try SQLiteStore.open(model: model, location: .file(path: path))
        identifier = defect == .newIdentity ? UUID() : store.identifier
        self.model =
            defect == .otherModel
            ? try ManagedObjectModel(name: model.name, entities: model.entities.map(\.declaration)) : model
    }

    var name: String { "broken (\(defect.rawValue))" }
    var capabilities: StoreCapabilities { store.capabilities }

    // MARK: Keys

    func allocateKeys(_ count: Int, rootIndex: Int) throws(StoreError) -> Range<Int64> {
        switch defect {
        case .keysTwice: return 1000..<(1000 + Int64(count))
        case .keysFromOne:
            _ = try store.allocateKeys(count, rootIndex: rootIndex)
            return 1..<(1 + Int64(count))
        case .keysOverlap:
            let range = try store.allocateKeys(count, rootIndex: rootIndex)
            let step: Int64 = range.lowerBound > 1 ? 1 : 0
            return (range.lowerBound - step)..<(range.upperBound - step)
        case .negativeKeys:
            let range = try store.allocateKeys(count, rootIndex: rootIndex)
            let first = -range.upperBound
            return first..<(first + Int64(count))
        default: return try store.allocateKeys(count, rootIndex: rootIndex)
        }
    }

    // MARK: Reading

    func fetch(_ plan: FetchPlan, known: KnownRows?, cancellation: ReadCancellation?) throws(StoreError) -> RowBatch {
        var known = known
        if defect == .headersForAll { known = { _, _, _ in true } }
        let batch: RowBatch
        do throws(StoreError) {
            batch = try store.fetch(changed(plan), known: known, cancellation: cancellation)
        } catch {
            if defect == .ignoresErrors, case .invalidPredicate = error { return .empty }
            if defect == .neverClosed, case .closed = error { return .empty }
            throw error
        }
        return rebuilt(batch, order: order(plan))
    }

    func fetchIdentities(_ plan: FetchPlan, cancellation: ReadCancellation?) throws(StoreError) -> [RowIdentity] {
        var found = try store.fetchIdentities(changed(plan), cancellation: cancellation)
        if defect == .identitiesByKey { found.sort { $0.key < $1.key } }
        if defect == .identitiesOfTheAskedEntity {
            found = found.map { RowIdentity(entityIndex: plan.entityIndex, key: $0.key) }
        }
        return found
    }

    func count(_ plan: FetchPlan, cancellation: ReadCancellation?) throws(StoreError) -> Int {
        var plan = changed(plan)
        if defect == .countsAll { plan.predicate = nil }
        if defect == .countsBeyondLimit {
            plan.limit = nil
            plan.offset = 0
        }
        return try store.count(plan, cancellation: cancellation)
    }

    func values(_ plan: ValuePlan, cancellation: ReadCancellation?) throws(StoreError) -> [[Value]] {
        var plan = plan
        if defect == .noHaving { plan.having = nil }
        if defect == .notDistinct { plan.isDistinct = false }
        let rows = try store.values(plan, cancellation: cancellation)
        switch defect {
        case .emptySumsAreMissing: return plan.isGrouped && rows.contains { $0.contains(.null) } ? [] : rows
        case .wholeAverages:
            return rows.map { $0.map { if case .double(let number) = $0 { .double(number.rounded()) } else { $0 } } }
        default: return rows
        }
    }

    func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch {
        var batch = try store.rows(entityIndex: entityIndex, keys: keys)
        if defect == .unknownRowsByKey { batch = try store.fetch(FetchPlan(entityIndex: entityIndex)) }
        return rebuilt(batch) { rows in defect == .rowsTooFew && rows.count > 100 ? Array(rows.prefix(100)) : rows }
    }

    func memberRows(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], areAll: Bool
    ) throws(StoreError) -> RowBatch {
        var owners = owners
        if defect == .membersOfOne { owners = Array(owners.prefix(1)) }
        if defect == .membersOfAll {
            let destination = model.entities[entityIndex].relationships[relationshipIndex].destinationIndex
            return try store.fetch(FetchPlan(entityIndex: destination))
        }
        return rebuilt(
            try store.memberRows(
                entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners, areAll: areAll))
    }

    func memberKeys(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64]
    ) throws(StoreError) -> [(owner: Int64, member: Int64)] {
        var owners = owners
        if defect == .pairsOfAll { owners = try store.fetchKeys(FetchPlan(entityIndex: entityIndex)) }
        return try store.memberKeys(entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners)
    }

    func externalData(named name: String) throws(StoreError) -> Data { try store.externalData(named: name) }

    func close() { store.close() }

    // MARK: Writing

    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
        var changes = changes
        switch defect {
        case .lastSaveWins: changes = try changes.withoutVersions(store)
        case .deletesForgotten: changes.deletes = []
        case .updatesForgotten: changes.updates = []
        case .pairsNotAdded: changes.pairs = changes.pairs.map { $0.changing(added: []) }
        case .pairsNotRemoved: changes.pairs = changes.pairs.map { $0.changing(removed: []) }
        case .ordersForgotten: changes.orders = []
        case .newMembersFirst: changes.orders = changes.orders.map(\.reversed)
        case .insertsBeforeConflicts:
            var first = ChangeSet()
            first.inserts = changes.inserts
            if case .conflicts(let conflicts) = try store.commit(first) { return .conflicts(conflicts) }
            changes.inserts = []
        default: break
        }
        let result = try store.commit(changes)
        guard case .conflicts(let conflicts) = result else { return result }
        if defect == .conflictsAsErrors { throw .io(path: name, code: 1, reason: "somebody else was faster") }
        guard defect == .noStoreRow else { return result }
        return .conflicts(
            conflicts.map {
                StoreConflict(
                    reason: $0.reason, entityIndex: $0.entityIndex, key: $0.key, storeRow: nil, otherKey: $0.otherKey)
            })
    }
}
