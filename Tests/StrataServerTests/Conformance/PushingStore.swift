#if Server
    import Foundation
    import Strata
    import StrataRemote
    import StrataStore

    /// A remote store whose saves return when the server has what they wrote to the mirror: for services that only take
    /// whole rows, as pushes send them.
    final class PushingStore: NetworkStore {
        /// The tests' other threads may all be waiting for servers.
        private static let executor = ThreadExecutor(label: "strata.tests.pushing")
        private let store: RemoteStore

        private init(_ store: RemoteStore) { self.store = store }

        /// Opens a store as ``RemoteStore`` does, with the policy `cacheOnly` for saves.
        static func open(
            model: ManagedObjectModel, backend: any RemoteBackend, location: SQLiteStore.Location,
            options: RemoteStore.Options
        ) throws(StoreError) -> PushingStore {
            var options = options
            options.savePolicy = .cacheOnly
            return PushingStore(
                try RemoteStore.open(
                    model: model, backend: backend, location: location, options: options,
                    surroundings: Surroundings(executor: executor)))
        }

        // MARK: Saving

        func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
            let result = try store.commit(changes)
            guard case .committed(let effects) = result else { return result }
            try pushNow()
            return .committed(try told(effects, changes))
        }

        func commit(
            _ changes: ChangeSet, options: (any StoreRequestOptions)?
        ) async throws(StoreError) -> CommitResult {
            let result = try await store.commit(changes, options: options)
            guard case .committed(let effects) = result else { return result }
            try await push()
            return .committed(try told(effects, changes))
        }

        /// - Throws: The first refusal, if the server refused anything.
        private func push() async throws(StoreError) {
            let report: SyncReport
            do throws(SyncError) {
                report = try await store.sync.push()
            } catch {
                switch error {
                case .remote(let error): throw .remote(RemoteFailure(error))
                case .store(let error): throw error
                }
            }
            guard case .failed(let error)? = report.failures.first?.action else { return }
            throw .remote(RemoteFailure(error))
        }

        private func pushNow() throws(StoreError) {
            let outcome = Guarded<Result<Void, StoreError>?>(nil)
            let done = DispatchSemaphore(value: 0)
            Task(executorPreference: Self.executor) {
                let result: Result<Void, StoreError>
                do throws(StoreError) {
                    result = .success(try await self.push())
                } catch {
                    result = .failure(error)
                }
                outcome.withLock { $0 = result }
                done.signal()
            }
            done.wait()
            guard let result = outcome.withLock({ $0 }) else { throw .cancelled }
            try result.get()
        }

        /// The effects of a save with the rows that the server has filled in since.
        private func told(_ effects: CommitEffects, _ changes: ChangeSet) throws(StoreError) -> CommitEffects {
            var versions: [RowIdentity: Int64] = [:]
            for row in changes.inserts.map(\.row.row) + changes.updates.map(\.row.row) {
                let root = model.entities[row.entityIndex].rootIndex
                versions[RowIdentity(entityIndex: root, key: row.key)] = row.version
            }
            var effects = effects
            for (root, list) in Dictionary(grouping: versions.keys, by: \.entityIndex) {
                effects.rows += try store.rows(entityIndex: root, keys: list.map(\.key).sorted()).rows.filter {
                    versions[RowIdentity(entityIndex: root, key: $0.row.key)] != $0.row.version
                }
            }
            return effects
        }

        // MARK: Everything else is the store's

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

        func externalData(named name: String) throws(StoreError) -> Data { try store.externalData(named: name) }
        func close() { store.close() }

        func prepare(
            _ plan: FetchPlan, reading paths: [[String]], options: (any StoreRequestOptions)?
        ) async throws(StoreError) -> FetchPlan {
            try await store.prepare(plan, reading: paths, options: options)
        }

        func prepareNow(
            _ plan: FetchPlan, reading paths: [[String]], options: (any StoreRequestOptions)?
        ) throws(StoreError) -> FetchPlan {
            try store.prepareNow(plan, reading: paths, options: options)
        }

        func count(_ plan: FetchPlan, options: (any StoreRequestOptions)?) async throws(StoreError) -> Int? {
            try await store.count(plan, options: options)
        }

        func countNow(_ plan: FetchPlan, options: (any StoreRequestOptions)?) throws(StoreError) -> Int? {
            try store.countNow(plan, options: options)
        }

        func prepareRows(
            entityIndex: Int, keys: [Int64], options: (any StoreRequestOptions)?
        ) async throws(StoreError) {
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

        func checkCommitNow() throws(StoreError) { try store.checkCommitNow() }

        func successors(of keys: [Int64], entityIndex: Int) throws(StoreError) -> [Int64: Int64] {
            try store.successors(of: keys, entityIndex: entityIndex)
        }

        func stages(_ options: (any StoreRequestOptions)?) -> [(any StoreRequestOptions)?] { store.stages(options) }
    }
#endif
