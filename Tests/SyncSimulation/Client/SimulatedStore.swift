import Foundation
import Strata
import StrataRemote
import StrataStore

/// A remote store as contexts of a simulation see it: what they read on other threads is waited for.
final class SimulatedStore: NetworkStore {
    private let store: RemoteStore
    private let executor: SeededExecutor

    init(_ store: RemoteStore, executor: SeededExecutor) {
        self.store = store
        self.executor = executor
    }

    var identifier: UUID { store.identifier }
    var name: String { store.name }
    var model: ManagedObjectModel { store.model }
    var capabilities: StoreCapabilities { store.capabilities }
    var changes: StoreChangeFeed? { store.changes }

    func allocateKeys(_ count: Int, rootIndex: Int) throws(StoreError) -> Range<Int64> {
        try store.allocateKeys(count, rootIndex: rootIndex)
    }

    func fetch(
        _ plan: FetchPlan, known: KnownRows?, cancellation: ReadCancellation?
    ) throws(StoreError) -> RowBatch {
        try store.fetch(plan, known: known, cancellation: cancellation)
    }

    func fetchIdentities(_ plan: FetchPlan, cancellation: ReadCancellation?) throws(StoreError) -> [RowIdentity] {
        try store.fetchIdentities(plan, cancellation: cancellation)
    }

    func count(_ plan: FetchPlan, cancellation: ReadCancellation?) throws(StoreError) -> Int {
        try store.count(plan, cancellation: cancellation)
    }

    func values(_ plan: ValuePlan, cancellation: ReadCancellation?) throws(StoreError) -> [[Value]] {
        try store.values(plan, cancellation: cancellation)
    }

    func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch {
        try store.rows(entityIndex: entityIndex, keys: keys)
    }

    func memberRows(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], areAll: Bool
    ) throws(StoreError) -> RowBatch {
        try store.memberRows(
            entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners, areAll: areAll)
    }

    func memberKeys(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64]
    ) throws(StoreError) -> [(owner: Int64, member: Int64)] {
        try store.memberKeys(entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners)
    }

    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult { try store.commit(changes) }
    func externalData(named name: String) throws(StoreError) -> Data { try store.externalData(named: name) }
    func close() { store.close() }

    /// Contexts read what was prepared on another thread, once for each fetch.
    func prepare(
        _ plan: FetchPlan, reading paths: [[String]], options: (any StoreRequestOptions)?
    ) async throws(StoreError) -> FetchPlan {
        let result = try await store.prepare(plan, reading: paths, options: options)
        executor.expectReturn()
        return result
    }

    func prepareNow(
        _ plan: FetchPlan, reading paths: [[String]], options: (any StoreRequestOptions)?
    ) throws(StoreError) -> FetchPlan {
        try store.prepareNow(plan, reading: paths, options: options)
    }

    func count(_ plan: FetchPlan, options: (any StoreRequestOptions)?) async throws(StoreError) -> Int? {
        let result = try await store.count(plan, options: options)
        if result == nil { executor.expectReturn() }
        return result
    }

    func countNow(_ plan: FetchPlan, options: (any StoreRequestOptions)?) throws(StoreError) -> Int? {
        try store.countNow(plan, options: options)
    }

    func prepareRows(entityIndex: Int, keys: [Int64], options: (any StoreRequestOptions)?) async throws(StoreError) {
        try await store.prepareRows(entityIndex: entityIndex, keys: keys, options: options)
    }

    func prepareRowsNow(entityIndex: Int, keys: [Int64]) throws(StoreError) {
        try store.prepareRowsNow(entityIndex: entityIndex, keys: keys)
    }

    func prepareMembers(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], options: (any StoreRequestOptions)?
    ) async throws(StoreError) -> Bool {
        try await store.prepareMembers(
            entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners, options: options)
    }

    func commit(_ changes: ChangeSet, options: (any StoreRequestOptions)?) async throws(StoreError) -> CommitResult {
        try await store.commit(changes, options: options)
    }

    func stages(_ options: (any StoreRequestOptions)?) -> [(any StoreRequestOptions)?] { store.stages(options) }
}
