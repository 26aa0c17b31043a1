#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// A store in a PostgreSQL database, which any number of processes on any number of machines may use at the same time.
    ///
    ///     let store = try PostgresStore.open(model: model, at: "postgres://app@db.example.com/cities")
    ///
    /// Each hierarchy of entities has a table, each attribute and to-one relationship a column, each many-to-many
    /// relationship a table of pairs; names follow the model's naming convention. Dates are kept to the microsecond, numbers
    /// and text exactly. See `Documentation/PostgreSQL.md` for what differs from a SQLite store.
    public final class PostgresStore: PersistentStore {
        public let identifier: UUID
        public let name: String
        public var model: ManagedObjectModel { layout.model }
        public var capabilities: StoreCapabilities {
            [
                .persistent, .multiProcess, .uniqueConstraints, .orderedRelationships, .derivedAttributes,
                .spatialIndexes, .externalStorage,
            ]
        }
        let options: Options
        let layout: StoreLayout
        let pool: PostgresPool
        let plans: [EntityPlan]
        let translator: FetchTranslator
        let observers: StatementObserverList
        let announcer: CommitAnnouncer
        /// When dropped external values are removed next.
        let nextSweep = Guarded(ContinuousClock.now)
        let recorder: HistoryRecorder
        /// The replicas of the server; nil if there are none.
        let replicas: ReplicaSet?

        init(
            identifier: UUID, address: String, options: Options, layout: StoreLayout, pool: PostgresPool,
            observers: StatementObserverList, recordsHistory: Bool = false, replicas: ReplicaSet? = nil
        ) throws(StoreError) {
            self.identifier = identifier
            name = "PostgreSQL \(address)"
            self.options = options
            self.layout = layout
            self.pool = pool
            self.observers = observers
            self.replicas = replicas
            recorder = HistoryRecorder(isRecording: recordsHistory)
            announcer = CommitAnnouncer(channel: "strata \(identifier.uuidString.lowercased())")
            var plans: [EntityPlan] = []
            for entity in layout.model.entities { plans.append(try EntityPlan(layout: layout, entity: entity)) }
            self.plans = plans
            var rowPlans: [RowPlan] = []
            for entity in layout.model.entities {
                rowPlans.append(try RowPlan(layout: layout, entityIndex: entity.index))
            }
            translator = FetchTranslator(FetchCompiler(schema: Schema(layout: layout), rowPlans: rowPlans), plans)
        }

        /// The same store through another pool, without replicas.
        init(_ store: PostgresStore, through pool: PostgresPool, _ options: Options? = nil) {
            identifier = store.identifier
            name = store.name
            self.options = options ?? store.options
            layout = store.layout
            self.pool = pool
            plans = store.plans
            translator = store.translator
            observers = store.observers
            announcer = store.announcer
            recorder = store.recorder
            replicas = nil
        }

        deinit { close() }

        public func close() {
            pool.close()
            replicas?.close()
        }

        public func observeStatements(
            _ handler: @escaping @Sendable (StatementTrace) -> Void
        ) -> StoreObservation? { observers.add(handler) }

        /// Runs a closure with a connection of the pool.
        func use<T>(_ body: (PostgresConnection) throws(StoreError) -> T) throws(StoreError) -> T {
            try pool.use(failure: storeError, body)
        }

        /// Runs a closure with a connection of the pool.
        /// - Parameter lost: What the result is if a connection cannot be made at this moment.
        func use<T>(
            lost: (PostgresError) -> T, _ body: (PostgresConnection) throws(StoreError) -> T
        ) throws(StoreError) -> T {
            let outcome: Result<T, StoreError>
            do throws(PostgresError) {
                outcome = try pool.use { (connection) throws(PostgresError) in
                    Result { () throws(StoreError) in try body(connection) }
                }
            } catch {
                guard error.isConnectionLost, error.sqlState != "08003" else { throw storeError(error) }
                return lost(error)
            }
            return try outcome.get()
        }

        /// Runs a closure that reads. It is run again if the connection is lost, because a read can be repeated.
        func reading<T>(_ body: (PostgresConnection) throws(PostgresError) -> T) throws(StoreError) -> T {
            try repeated(body)
        }

        /// What an error of the server means to those who use the store.
        func storeError(_ error: PostgresError) -> StoreError { Self.storeError(error, path: name, model: layout) }

        static func storeError(_ error: PostgresError, path: String, model layout: StoreLayout?) -> StoreError {
            let entity =
                error.table.flatMap { table in layout?.tables.first { $0.name == table } }
                .flatMap { table in layout.map { $0.model.entities[table.rootIndex].name } }
            switch error.sqlState {
            case "08003": return .closed(path: path)
            case "57014": return error.message.contains("timeout") ? .locked(path: path) : .cancelled
            case "55P03", "40001", "40P01": return .locked(path: path)
            case "53100": return .diskFull(path: path)
            case "25006", "42501": return .readOnly(path: path)
            case "3D000": return .notFound(path: path)
            // A table or a column that the store was opened with: somebody else has migrated it since.
            case "42P01" where layout != nil, "42703" where layout != nil: return .migratedElsewhere(path: path)
            case "0A000" where error.message.contains("cached plan must not change"):
                return .migratedElsewhere(path: path)
            case "53300": return .locked(path: path)
            case "XX001", "XX002": return .corrupt(path: path, reason: "\(error)")
            case _ where error.sqlState.hasPrefix("28") || error.sqlState == "08001":
                return .cannotOpen(path: path, reason: "\(error)")
            case _ where error.sqlState.hasPrefix("23"):
                return .constraint(entity: entity ?? error.table ?? "", reason: error.description)
            default:
                return .io(path: path, code: Int(error.sqlState, radix: 36) ?? 0, reason: error.description)
            }
        }

        // MARK: Keys

        public func allocateKeys(_ count: Int, rootIndex: Int) throws(StoreError) -> Range<Int64> {
            guard count > 0 else { return 1..<1 }
            let table = layout.table(rootIndex)
            let limit = StoreKeys.firstUnreserved
            // Rows that came in by other ways keep their keys.
            var parameters = StatementParameters()
            parameters.add(model.entities[rootIndex].name)
            parameters.add(Int64(count))
            let end = try writing { (connection) throws(PostgresError) in
                let result = try connection.execute(
                    """
                    UPDATE "_keys" SET next = greatest(next, coalesce((SELECT max("_id") FROM \(table.quoted) \
                    WHERE "_id" < \(limit)), 0) + 1) + $2 WHERE entity = $1 RETURNING next
                    """, parameters)
                return result.rowCount == 1 ? result.integer(0, 0) : nil
            }
            guard let end, end <= limit else {
                throw .constraint(
                    entity: model.entities[rootIndex].name,
                    reason: "there are no keys left, because a row of \(table.name) or of _keys holds one close to the "
                        + "maximum, or _keys lacks a row")
            }
            return end - Int64(count)..<end
        }

        /// Runs one statement that writes, and again as ``repeated(_:)`` says: to run it twice does no harm.
        private func writing<T>(_ body: (PostgresConnection) throws(PostgresError) -> T) throws(StoreError) -> T {
            try repeated(body)
        }

        /// Runs a closure, and a few times more if the connection is lost or if it would have succeeded in another order.
        private func repeated<T>(_ body: (PostgresConnection) throws(PostgresError) -> T) throws(StoreError) -> T {
            try repeating { () throws(PostgresError) in try pool.use(body) }
        }

        /// A connection that is not one of the pool's.
        func makeConnection() throws(StoreError) -> PostgresConnection {
            try repeating { () throws(PostgresError) in try pool.makeConnection() }
        }

        private func repeating<T>(_ body: () throws(PostgresError) -> T) throws(StoreError) -> T {
            var attempt = 0
            while true {
                do throws(PostgresError) {
                    return try body()
                } catch {
                    attempt += 1
                    if let connectionGuard = pool.connectionGuard {
                        connectionGuard.note(error)
                        throw storeError(error)
                    }
                    // In a transaction that was begun elsewhere, nothing can be done after a failure.
                    guard pool.makesConnections, error.isTransient || error.isConnectionLost,
                        error.sqlState != PostgresError.timeoutState,
                        attempt < 6, !pool.isClosed
                    else { throw storeError(error) }
                    if error.isConnectionLost { pool.dropIdle() }
                    Retries.pause(attempt)
                }
            }
        }

        // MARK: External data

        public func externalData(named name: String) throws(StoreError) -> Data {
            var parameters = StatementParameters()
            parameters.add(name)
            let found = try reading { (connection) throws(PostgresError) -> Data? in
                let result = try connection.execute("SELECT data FROM \"_blobs\" WHERE name = $1", parameters)
                return result.rowCount == 1 ? Data(result.bytes(0, 0)) : nil
            }
            guard let found else { throw .notFound(path: "\(self.name)/\(name)") }
            return found
        }
    }

    /// How commits are announced to other processes.
    struct CommitAnnouncer: Sendable {
        /// The channel.
        let channel: String
        /// What this store's own notifications say, so that it knows them from those of others.
        let session = UUID().uuidString
    }

    /// How long to wait before a transaction is tried again.
    enum Retries {
        /// Waits longer each time, and never as long as another thread that waits for the same.
        static func pause(_ attempt: Int) {
            Thread.sleep(forTimeInterval: Double.random(in: 0.5...1) * 0.005 * Double(1 << min(attempt, 7)))
        }
    }

    /// The observers of the statements of a store.
    final class StatementObserverList: Sendable {
        private struct State: Sendable {
            var handlers: [Int: @Sendable (StatementTrace) -> Void] = [:]
            var nextNumber = 0
        }

        private let state = Guarded(State())

        func add(_ handler: @escaping @Sendable (StatementTrace) -> Void) -> StoreObservation {
            let number = state.withLock { state in
                state.nextNumber += 1
                state.handlers[state.nextNumber] = handler
                return state.nextNumber
            }
            return StoreObservation { [weak self] in
                self?.state.withLock { _ = $0.handlers.removeValue(forKey: number) }
            }
        }

        private func report(_ trace: StatementTrace) {
            let handlers = state.withLock { Array($0.handlers.values) }
            for handler in handlers { handler(trace) }
        }

        /// Reports the statements of a pool.
        /// - Parameters:
        ///   - trace: Called with them, too.
        ///   - replica: The address of the replica, without its password; nil for the primary.
        func observer(
            _ trace: (@Sendable (StatementTrace) -> Void)?, replica: String? = nil
        ) -> PostgresPool.Observer {
            { sql, seconds, rows in
                let statement = StatementTrace(
                    sql: sql, duration: seconds, rows: rows, work: StatementWork(), replica: replica)
                trace?(statement)
                self.report(statement)
            }
        }
    }
#endif
