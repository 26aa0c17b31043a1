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

        func notes(from prefix: String) throws(StoreError) -> [String] {
            var parameters = StatementParameters()
            parameters.add(prefix)
            let result = try attempt { () throws(PostgresError) in
                try connection.execute("SELECT value FROM \"_metadata\" WHERE starts_with(key, $1)", parameters)
            }
            return (0..<result.rowCount).map { result.text($0, 0) }
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
                _ = try connection.execute(
                    value == nil
                        ? "DELETE FROM \"_metadata\" WHERE key = $1"
                        : """
                        INSERT INTO "_metadata"(key, value) VALUES ($1, $2) \
                        ON CONFLICT (key) DO UPDATE SET value = excluded.value
                        """, parameters)
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
    struct DatabasePlace: DeferredPlace {
        let path: String
        let layout: StoreLayout
        private let connection: PostgresConnection
        private let store: PostgresStore
        private let schema: String
        private let migration: MigrationOptions
        /// Whether a migration has begun the transaction.
        private let isWithin: Bool
        /// Called after each commit.
        private let onCommit: () -> Void

        private var entries: DatabaseNotes { DatabaseNotes(connection: connection, path: path) }

        /// How often a batch is done again that others have got in the way of.
        private static let limit = 50

        /// A place for the steps of a store that is open.
        init(_ store: PostgresStore, _ connection: PostgresConnection, _ migration: MigrationOptions) {
            path = store.name
            layout = store.layout
            self.connection = connection
            self.migration = migration
            schema = store.options.schema
            isWithin = false
            // A conflict is not solved by trying again within the transaction.
            var options = store.options
            options.retryLimit = 0
            let borrowed = BorrowedConnection.pair(connection, schema: schema).present
            self.store = PostgresStore(store, through: PostgresPool(borrowed), options)
            onCommit = { store.replicas?.noteNews() }
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
            isWithin = true
            store = try PostgresStore(
                identifier: identifier, address: path, options: options, layout: layout,
                pool: PostgresPool(BorrowedConnection.pair(connection, schema: schema).present),
                observers: StatementObserverList())
            onCommit = {}
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
            try entries.attempt { () throws(PostgresError) in
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
            try entries.attempt { () throws(PostgresError) in try connection.commit() }
            onCommit()
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
            guard !isWithin, case .locked = error, attempt <= Self.limit else { return false }
            Retries.pause(attempt)
            return true
        }

        func notes(from prefix: String) throws(StoreError) -> [String] { try entries.notes(from: prefix) }
        func note(_ key: String) throws(StoreError) -> String? { try entries.note(key) }
        func setNote(_ key: String, _ value: String?) throws(StoreError) { try entries.setNote(key, value) }
    }

    extension PostgresStore: DeferredMigrationStore {
        /// The steps of migrations that are still to be done, in their order.
        public func deferredMigrationSteps() throws(StoreError) -> [DeferredMigrationStep] {
            try use { (connection) throws(StoreError) in
                try DeferredSteps.read(in: DatabaseNotes(connection: connection, path: name))
            }
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
            // A connection of its own: contexts use those of the pool between two batches.
            let connection: PostgresConnection
            do throws(PostgresError) { connection = try pool.makeConnection() } catch { throw storeError(error) }
            let place = DatabasePlace(self, connection, migration)
            return try DeferredRunner(place, migration).run(steps, why: "it cannot be done", onBatch: onBatch)
        }
    }
#endif
