#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// The entries of `_metadata` in a database.
    struct DatabaseNotes: DeferredNotes {
        let connection: PostgresConnection
        let path: String

        func attempt<T>(_ body: () throws(PostgresError) -> T) throws(StoreError) -> T {
            do throws(PostgresError) { return try body() } catch {
                throw PostgresStore.storeError(error, path: path, model: nil)
            }
        }

        static func notes(
            from prefix: String, on connection: PostgresConnection
        ) throws(PostgresError) -> [String] {
            var parameters = StatementParameters()
            parameters.add(prefix)
            let result = try connection.execute(
                "SELECT value FROM \"_metadata\" WHERE starts_with(key, $1)", parameters)
            return (0..<result.rowCount).map { result.text($0, 0) }
        }

        func notes(from prefix: String) throws(StoreError) -> [String] {
            try attempt { () throws(PostgresError) in try Self.notes(from: prefix, on: connection) }
        }

        func note(_ key: String) throws(StoreError) -> String? {
            var parameters = StatementParameters()
            parameters.add(key)
            let result = try attempt { () throws(PostgresError) in
                try connection.execute("SELECT value FROM \"_metadata\" WHERE key = $1", parameters)
            }
            return result.rowCount == 1 ? result.text(0, 0) : nil
        }

        func setNote(_ key: String, _ value: String?) throws(StoreError) {
            var parameters = StatementParameters()
            parameters.add(key)
            if let value { parameters.add(value) }
            try attempt { () throws(PostgresError) in
                guard value != nil else {
                    _ = try connection.execute("DELETE FROM \"_metadata\" WHERE key = $1", parameters)
                    return
                }
                // An entry that the transaction sees, and somebody else has removed, must be a conflict and not be made again.
                let changed = try connection.execute(
                    "UPDATE \"_metadata\" SET value = $2 WHERE key = $1 RETURNING 1", parameters)
                if changed.rowCount > 0 { return }
                _ = try connection.execute("INSERT INTO \"_metadata\"(key, value) VALUES ($1, $2)", parameters)
            }
        }

        /// The extent of a table with a condition; see ``DeferredSteps``.
        func extent(_ rows: String) throws(StoreError) -> (count: Int, last: Int64)? {
            let result = try attempt { () throws(PostgresError) in
                try connection.execute("SELECT count(*), max(\"_id\") FROM \(rows)", isKept: false)
            }
            let count = Int(result.integer(0, 0))
            return count > 0 ? (count, result.integer(0, 1)) : nil
        }
    }

    /// A database in which deferred steps are done.
    ///
    /// A batch is one transaction at the isolation level repeatable read: where another process writes one of its objects, or does
    /// the same batch, the server refuses one of the two, and that one begins again. A lock sees to it that this is rare. In the
    /// transaction of a migration, which keeps all others away, there are no transactions of batches.
    ///
    /// If the connection is lost, the server takes back the batch, and another connection does it again. If that happens during a
    /// commit, what the batch has noted says whether it is done.
    final class DatabasePlace: DeferredPlace {
        let path: String
        let layout: StoreLayout
        private var connection: PostgresConnection
        /// The store whose commits are parts of the transaction.
        private var store: PostgresStore
        private let schema: String
        private let migration: MigrationOptions
        /// When the transaction began.
        private var beginning = ContinuousClock.now
        /// The store whose steps they are; nil if a migration has begun the transaction.
        private let owner: PostgresStore?

        private var isWithin: Bool { owner == nil }

        private var entries: DatabaseNotes { DatabaseNotes(connection: connection, path: path) }

        /// How often a batch is done again that others have got in the way of.
        private static let limit = 50

        /// A place for the steps of a store that is open.
        init(_ store: PostgresStore, _ migration: MigrationOptions) throws(StoreError) {
            path = store.name
            layout = store.layout
            self.migration = migration
            schema = store.options.schema
            owner = store
            connection = try store.makeConnection()
            self.store = Self.store(of: store, through: connection)
        }

        private static func store(of owner: PostgresStore, through connection: PostgresConnection) -> PostgresStore {
            // A conflict is not solved by trying again within the transaction.
            var options = owner.options
            options.retryLimit = 0
            let borrowed = BorrowedConnection.pair(connection, schema: options.schema).present
            return PostgresStore(owner, through: PostgresPool(borrowed), options)
        }

        /// A place in the transaction of a migration.
        init(
            within connection: PostgresConnection, _ layout: StoreLayout, identifier: UUID,
            _ options: PostgresStore.Options, path: String
        ) throws(StoreError) {
            self.path = path
            self.layout = layout
            self.connection = connection
            migration = options.migration
            schema = options.schema
            owner = nil
            store = try PostgresStore(
                identifier: identifier, address: path, options: options, layout: layout,
                pool: PostgresPool(BorrowedConnection.pair(connection, schema: schema).present),
                observers: StatementObserverList())
        }

        func begin() throws(StoreError) {
            if isWithin { return }
            var attempt = 0
            while true {
                do throws(StoreError) {
                    if try beginAlone() { return }
                } catch {
                    connection.rollback()
                    throw error
                }
                // Somebody else does a batch.
                connection.rollback()
                if migration.cancellation?.isCancelled == true { throw .cancelled }
                Retries.pause(min(attempt, 4))
                attempt += 1
            }
        }

        /// - Returns: false if another transaction does a batch.
        private func beginAlone() throws(StoreError) -> Bool {
            beginning = .now
            return try entries.attempt { () throws(PostgresError) in
                try connection.begin("ISOLATION LEVEL REPEATABLE READ")
                // Before the transaction sees anything: a migration keeps it away, or waits for its end.
                try connection.run("LOCK TABLE \"_commits\" IN ROW EXCLUSIVE MODE")
                let lock = Identifiers.literal("strata deferred \(schema)")
                return try connection.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(\(lock), 0))")
                    .bytes(0, 0).first == 1
            }
        }

        func commit() throws(StoreError) {
            if isWithin { return }
            // Replicas must show it, even if the connection is lost before the server says that it is there.
            defer { owner?.replicas?.noteNews() }
            try entries.attempt { () throws(PostgresError) in try connection.commit() }
        }

        func rollback() { if !isWithin { connection.rollback() } }

        /// A migration writes it in the end, and knows what it has come to.
        func versionHash() throws(StoreError) -> String? {
            isWithin ? layout.model.versionHash : try note("version_hash")
        }

        func keys(_ rows: String, after: Int64, upTo: Int64, limit: Int) throws(StoreError) -> [Int64] {
            var parameters = StatementParameters()
            parameters.add(after)
            parameters.add(upTo)
            parameters.add(Int64(limit))
            return try entries.attempt { () throws(PostgresError) in
                try connection.execute(
                    "SELECT \"_id\" FROM \(rows) AND \"_id\" > $1 AND \"_id\" <= $2 ORDER BY \"_id\" LIMIT $3",
                    parameters, isKept: !isWithin
                ).integers(0)
            }
        }

        func visiting<T>(_ body: (any PersistentStore) throws(StoreError) -> T) throws(StoreError) -> T {
            let result = try body(store)
            // Only the store takes the connection with its own path.
            try entries.attempt { () throws(PostgresError) in
                try connection.run("SET LOCAL search_path TO \(SQLText.quote(schema))")
            }
            return result
        }

        func repeats(_ error: StoreError, attempt: Int) -> Bool {
            guard let owner, !owner.pool.isClosed else { return false }
            if isLost {
                // As often as a save is tried again; but a batch that takes longer than the server allows would do so each time.
                guard attempt <= owner.options.retryLimit, !mayHaveIdled(owner) else { return false }
                Retries.pause(attempt)
                reconnect(owner)
                return true
            }
            guard case .locked = error, attempt <= Self.limit else { return false }
            Retries.pause(attempt)
            return true
        }

        var isLost: Bool { !connection.isOpen }

        /// Whether the server may have ended the session because the transaction waited too long for the code of the step.
        private func mayHaveIdled(_ owner: PostgresStore) -> Bool {
            let limit = owner.options.idleTransactionTimeout
            return limit > 0 && (ContinuousClock.now - beginning).inSeconds >= limit
        }

        /// Goes on with another connection. If there is none yet, the next batch fails, and is repeated, too.
        private func reconnect(_ owner: PostgresStore) {
            guard let next = try? owner.pool.makeConnection() else { return }
            store.close()
            connection = next
            store = Self.store(of: owner, through: next)
        }

        func notes(from prefix: String) throws(StoreError) -> [String] { try entries.notes(from: prefix) }
        func note(_ key: String) throws(StoreError) -> String? { try entries.note(key) }
        func setNote(_ key: String, _ value: String?) throws(StoreError) { try entries.setNote(key, value) }
    }

    extension PostgresStore: DeferredMigrationStore {
        /// The steps of migrations that are still to be done, in their order.
        /// - Throws: ``StoreError`` if the store cannot be read.
        public func deferredMigrationSteps() throws(StoreError) -> [DeferredMigrationStep] {
            let entries = try reading { (connection) throws(PostgresError) in
                try DatabaseNotes.notes(from: DeferredSteps.prefix, on: connection)
            }
            return try DeferredSteps.steps(entries, path: name)
        }

        /// Does the deferred steps of migrations, with the code of the stages in ``Options/migration``.
        package func runDeferredSteps(
            cancellation: ReadCancellation, onProgress: @escaping @Sendable (MigrationProgress) -> Void,
            onBatch: ([Int: Set<Int64>]) -> Void
        ) throws(StoreError) -> Int {
            let steps = try deferredMigrationSteps()
            guard !steps.isEmpty else { return 0 }
            var migration = options.migration
            migration.cancellation = cancellation
            migration.onProgress = onProgress
            // It has a connection of its own: contexts use those of the pool between two batches.
            let place = try DatabasePlace(self, migration)
            return try DeferredRunner(place, migration).run(steps, why: "it cannot be done", onBatch: onBatch)
        }
    }
#endif
