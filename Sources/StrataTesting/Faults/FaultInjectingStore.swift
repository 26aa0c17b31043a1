import Foundation
import Strata
import StrataStore

/// A store that forwards every call to another one, or fails it as a test requires: busy, full, broken.
///
///     let store = FaultInjectingStore(try SQLiteStore.open(model: GazetteerModel.model, location: .file(path: path)))
///     let container = try PersistentContainer(store: store, classes: GazetteerModel.classes)
///     store.fail(.reads, with: .locked(path: path))
///     #expect(throws: PersistenceError.self) { try container.newContext().fetch(FetchRequest<City>()) }
///     store.recover()
///
/// Use it to test how your code reacts when its store cannot be reached. A commit that fails has written nothing. Name the
/// calls that fail, such as ``Operation/commit``, or let a closure decide for each call with ``fail(deciding:)``, to fail only
/// the third one for instance. ``calls(_:)`` counts calls.
public final class FaultInjectingStore: PersistentStore {
    /// A call to a store.
    public enum Operation: String, Sendable, CaseIterable {
        /// Reservation of keys.
        case allocateKeys
        /// Fetches, identities, counts and values.
        case fetch
        /// Rows by key.
        case rows
        /// Rows and keys of relationships.
        case members
        /// Values that are stored in files of their own.
        case externalData
        /// A commit, and a bulk operation.
        case commit
    }

    private struct State {
        var failing: Set<Operation> = []
        var error = StoreError.cancelled
        var decide: (@Sendable (Operation) -> StoreError?)?
        var calls: [Operation: Int] = [:]
        var failures = 0
    }

    private let store: any PersistentStore
    private let state = Guarded(State())

    /// Wraps a store.
    public init(_ store: any PersistentStore) { self.store = store }

    /// Fails calls from now on.
    /// - Parameters:
    ///   - operations: The calls that fail.
    ///   - error: The error that they throw.
    public func fail(_ operations: Set<Operation>, with error: StoreError) {
        state.withLock {
            $0.failing = operations
            $0.error = error
            $0.decide = nil
        }
    }

    /// Lets a closure decide for each call from now on.
    /// - Parameter decide: The error that a call throws, or nil to pass it on. Called on the caller's thread.
    public func fail(deciding decide: @escaping @Sendable (Operation) -> StoreError?) {
        state.withLock {
            $0.failing = []
            $0.decide = decide
        }
    }

    /// Passes all calls on again.
    public func recover() {
        state.withLock {
            $0.failing = []
            $0.decide = nil
        }
    }

    /// The number of calls of one kind so far, failed ones included.
    public func calls(_ operation: Operation) -> Int { state.withLock { $0.calls[operation] ?? 0 } }

    /// The number of calls that have failed.
    public var failures: Int { state.withLock(\.failures) }

    private func pass(_ operation: Operation) throws(StoreError) {
        let (decide, error) = state.withLock { state -> ((@Sendable (Operation) -> StoreError?)?, StoreError?) in
            state.calls[operation, default: 0] += 1
            return (state.decide, state.failing.contains(operation) ? state.error : nil)
        }
        guard let error = error ?? decide?(operation) else { return }
        state.withLock { $0.failures += 1 }
        throw error
    }

    // MARK: The store

    public var identifier: UUID { store.identifier }
    public var name: String { store.name }
    public var model: ManagedObjectModel { store.model }
    /// Those of the store, without held versions: their reads would not pass the faults.
    public var capabilities: StoreCapabilities { store.capabilities.subtracting(.heldVersions) }
    public var isReadOnly: Bool { store.isReadOnly }
    public var changes: StoreChangeFeed? { store.changes }
    public var history: (any StoreHistory)? { store.history }

    public func allocateKeys(_ count: Int, rootIndex: Int) throws(StoreError) -> Range<Int64> {
        try pass(.allocateKeys)
        return try store.allocateKeys(count, rootIndex: rootIndex)
    }

    public func fetch(
        _ plan: FetchPlan, known: KnownRows?, cancellation: ReadCancellation?
    ) throws(StoreError) -> RowBatch {
        try pass(.fetch)
        return try store.fetch(plan, known: known, cancellation: cancellation)
    }

    public func fetchIdentities(
        _ plan: FetchPlan, cancellation: ReadCancellation?
    ) throws(StoreError) -> [RowIdentity] {
        try pass(.fetch)
        return try store.fetchIdentities(plan, cancellation: cancellation)
    }

    public func count(_ plan: FetchPlan, cancellation: ReadCancellation?) throws(StoreError) -> Int {
        try pass(.fetch)
        return try store.count(plan, cancellation: cancellation)
    }

    public func values(_ plan: ValuePlan, cancellation: ReadCancellation?) throws(StoreError) -> [[Value]] {
        try pass(.fetch)
        return try store.values(plan, cancellation: cancellation)
    }

    public func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch {
        try pass(.rows)
        return try store.rows(entityIndex: entityIndex, keys: keys)
    }

    public func memberRows(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], areAll: Bool
    ) throws(StoreError) -> RowBatch {
        try pass(.members)
        return try store.memberRows(
            entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners, areAll: areAll)
    }

    public func memberKeys(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64]
    ) throws(StoreError) -> [(owner: Int64, member: Int64)] {
        try pass(.members)
        return try store.memberKeys(entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners)
    }

    public func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
        try pass(.commit)
        return try store.commit(changes)
    }

    public func perform(_ operation: BulkOperation, by origin: ChangeOrigin) throws(StoreError) -> BulkResult {
        try pass(.commit)
        return try store.perform(operation, by: origin)
    }

    public func externalData(named name: String) throws(StoreError) -> Data {
        try pass(.externalData)
        return try store.externalData(named: name)
    }

    public func observeForeignCommits(_ handler: @escaping @Sendable () -> Void) -> StoreObservation? {
        store.observeForeignCommits(handler)
    }

    public func foreignCommitCount() -> ForeignCommitCount { store.foreignCommitCount() }

    public func observeStatements(_ handler: @escaping @Sendable (StatementTrace) -> Void) -> StoreObservation? {
        store.observeStatements(handler)
    }

    public func close() { store.close() }
}

extension Set<FaultInjectingStore.Operation> {
    /// Everything that reads.
    public static var reads: Self { [.fetch, .rows, .members, .externalData] }
    /// Everything.
    public static var all: Self { Set(FaultInjectingStore.Operation.allCases) }
}
