#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// What processes that share a store of PostgreSQL need besides its objects: turns, and texts that are kept for a time.
    package final class PostgresCoordinator: Sendable {
        private let path: String
        private let schema: String
        /// The transaction of a turn stays open as long as the turn; others must not wait for its connection.
        private let turns: PostgresPool
        private let pool: PostgresPool
        /// When expired texts are removed next.
        private let nextSweep = Guarded(ContinuousClock.now)
        /// Reading or keeping a text takes one short statement.
        private static let textConnections = 4
        private static let sweepInterval = Duration.seconds(60)
        /// How far the clocks of processes may be apart, in milliseconds, so that none removes what another still needs.
        private static let clockMargin: Int64 = 60_000

        /// - Parameters:
        ///   - address: The database, as ``PostgresStore/open(model:at:options:)`` takes it.
        ///   - options: The schema, which the store makes, and the timeouts.
        /// - Throws: ``StoreError/invalidOption(name:value:reason:)``.
        package init(_ address: String, options: PostgresStore.Options) throws(StoreError) {
            try options.check()
            let settings = PostgresSettings(address: address, options: options)
            path = settings.publicAddress
            schema = options.schema
            turns = PostgresPool(settings, limit: 1, timeout: options.poolTimeout, checkAge: options.healthCheckAge)
            pool = PostgresPool(
                settings, limit: min(options.connectionLimit, Self.textConnections), timeout: options.poolTimeout,
                checkAge: options.healthCheckAge)
        }

        deinit { close() }

        /// Ends the connections.
        package func close() {
            turns.close()
            pool.close()
        }

        /// Runs a closure while no other process does, and no other thread with this coordinator.
        ///
        /// PostgreSQL ends the turn of a process that has ended, and after a minute that of a machine that is gone. A process that
        /// only stood still goes on then, while another one has the turn: guard what must not happen twice by versions of rows or by
        /// unique values, too.
        /// - Throws: ``StoreError/locked(path:)`` if others take too long, and what else keeps the turn from beginning. The
        ///   closure has not run then.
        package func exclusively(_ body: () -> Void) throws(StoreError) {
            for attempt in 1... {
                do throws(PostgresError) {
                    return try turns.use { (connection) throws(PostgresError) in
                        try connection.begin()
                        try connection.execute(
                            """
                            SELECT pg_advisory_xact_lock(hashtextextended('strata turn ' || \
                            \(Identifiers.literal(schema)), 0))
                            """)
                        body()
                        connection.rollback()
                    }
                } catch {
                    guard error.isConnectionLost, error.sqlState != PostgresError.timeoutState, attempt < 6,
                        !turns.isClosed
                    else { throw failure(error) }
                    turns.dropIdle()
                    Retries.pause(attempt)
                }
            }
        }

        /// A text that stays the same for as long as the data of a store go on from where they were: it changes when the store
        /// is restored from a backup, and when another server takes over.
        package func lineage() throws(StoreError) -> String {
            try use { (connection) throws(PostgresError) in
                let result = try connection.execute(
                    """
                    SELECT system_identifier::text || '/' || timeline_id::text || '/' || '"_metadata"'::regclass::oid::text \
                    FROM pg_control_system(), pg_control_checkpoint()
                    """)
                return result.text(0, 0)
            }
        }

        // MARK: Texts for a time

        /// Makes the table of texts, where it is missing. Call it in ``exclusively(_:)``, after the store was made.
        package func prepareTexts() throws(StoreError) {
            try use { (connection) throws(PostgresError) in
                try connection.run(
                    """
                    CREATE TABLE IF NOT EXISTS "_texts"(\
                    name text PRIMARY KEY, text text NOT NULL, until bigint NOT NULL); \
                    CREATE INDEX IF NOT EXISTS "_texts_until" ON "_texts"(until)
                    """)
            }
        }

        /// Keeps a text until a time, unless another one of that name is kept already. The same text may come again, because the
        /// first answer may have been lost together with the connection.
        /// - Parameters:
        ///   - until: The last moment at which it is there, in milliseconds since 1970.
        ///   - now: The present in milliseconds since 1970; texts of earlier times may be removed.
        ///   - replaces: Whether it takes the place of another one of that name.
        /// - Returns: Whether it is kept now.
        package func keep(
            _ text: String, named name: String, until: Int64, now: Int64, replaces: Bool = false
        ) throws(StoreError) -> Bool {
            try sweep(now - Self.clockMargin)
            var parameters = StatementParameters()
            parameters.add(name)
            parameters.add(text)
            parameters.add(until)
            let conflict =
                "DO UPDATE SET text = excluded.text, until = excluded.until"
                + (replaces ? "" : " WHERE \"_texts\".text = excluded.text")
            return try use { (connection) throws(PostgresError) in
                try connection.execute(
                    """
                    INSERT INTO "_texts"(name, text, until) VALUES ($1, $2, $3) ON CONFLICT (name) \(conflict) \
                    RETURNING 1::bigint
                    """, parameters
                ).rowCount == 1
            }
        }

        /// A text that is kept; nil if there is none, or its time is over.
        package func text(named name: String, now: Int64) throws(StoreError) -> String? {
            var parameters = StatementParameters()
            parameters.add(name)
            parameters.add(now)
            return try use { (connection) throws(PostgresError) in
                let result = try connection.execute(
                    "SELECT text FROM \"_texts\" WHERE name = $1 AND until >= $2", parameters)
                return result.rowCount == 1 ? result.text(0, 0) : nil
            }
        }

        private func sweep(_ now: Int64) throws(StoreError) {
            let isDue = nextSweep.withLock { next in
                guard next <= .now else { return false }
                next = .now + Self.sweepInterval
                return true
            }
            guard isDue else { return }
            var parameters = StatementParameters()
            parameters.add(now)
            try use { (connection) throws(PostgresError) in
                _ = try connection.execute("DELETE FROM \"_texts\" WHERE until < $1", parameters)
            }
        }

        /// Runs a closure, and again if the connection is lost.
        private func use<T>(
            _ body: (PostgresConnection) throws(PostgresError) -> T
        ) throws(StoreError) -> T {
            var attempt = 0
            while true {
                attempt += 1
                do throws(PostgresError) {
                    return try pool.use(body)
                } catch {
                    guard error.isConnectionLost, error.sqlState != PostgresError.timeoutState, attempt < 6,
                        !pool.isClosed
                    else { throw failure(error) }
                    pool.dropIdle()
                    Retries.pause(attempt)
                }
            }
        }

        private func failure(_ error: PostgresError) -> StoreError {
            PostgresStore.storeError(error, path: path, model: nil)
        }
    }
#endif
