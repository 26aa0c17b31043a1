#if Postgres
    import Foundation
    import StrataStore

    /// Checks connections before they are used.
    protocol ConnectionGuard: Sendable {
        /// The address of the server, without its password.
        var address: String { get }
        /// Throws if a connection must not be used for what is to be read.
        func check(_ connection: PostgresConnection) throws(PostgresError)
        /// Notes that a check or a read has failed.
        func note(_ error: PostgresError)
    }

    /// The connections of a store: made when they are needed, up to a limit, and used again.
    ///
    /// A thread that finds all of them in use waits for its turn. A connection that has been idle for a while is asked whether it
    /// still answers before it is used, and is made again if it does not.
    final class PostgresPool: Sendable {
        /// A connection while it is not in use. Safe to send, because only one caller at a time takes it out of the pool.
        private struct Idle: Sendable {
            nonisolated(unsafe) let connection: PostgresConnection
        }

        private struct State: Sendable {
            var idle: [Idle] = []
            var inUse = 0
            var isClosed = false
        }

        /// Where the connections come from.
        private enum Source {
            /// The pool makes its own.
            case own
            /// There is only that of a transaction that somebody else has begun.
            case borrowed(BorrowedConnection)
            /// They are those of another pool, and each is checked before it is used.
            case guarded(PostgresPool, any ConnectionGuard)
        }

        /// Called with each statement, its seconds and its rows.
        typealias Observer = @Sendable (String, Double, Int) -> Void

        private let settings: PostgresSettings
        private let limit: Int
        private let timeout: Double
        private let checkAge: Double
        private let observer: Observer?
        private let source: Source
        // Guarded by the condition.
        private nonisolated(unsafe) var state = State()
        private let condition = NSCondition()

        /// - Parameters:
        ///   - limit: The maximum number of connections.
        ///   - timeout: How long to wait for a free one, in seconds.
        ///   - checkAge: After how many idle seconds a connection is asked whether it still answers.
        init(
            _ settings: PostgresSettings, limit: Int, timeout: Double, checkAge: Double = 30, observer: Observer? = nil
        ) {
            self.settings = settings
            self.limit = limit
            self.timeout = timeout
            self.checkAge = checkAge
            self.observer = observer
            source = .own
        }

        /// A pool with the connection of a transaction that somebody else has begun.
        init(_ borrowed: BorrowedConnection) {
            settings = PostgresSettings(address: "")
            limit = 1
            timeout = 0
            checkAge = 0
            observer = nil
            source = .borrowed(borrowed)
        }

        /// A pool with the connections of another one, each of which is checked before it is used. A statement that fails is not
        /// repeated.
        init(_ pool: PostgresPool, guardedBy connectionGuard: any ConnectionGuard) {
            settings = pool.settings
            limit = pool.limit
            timeout = pool.timeout
            checkAge = pool.checkAge
            observer = pool.observer
            source = .guarded(pool, connectionGuard)
        }

        /// Whether the pool makes connections of its own.
        var makesConnections: Bool { if case .borrowed = source { false } else { true } }

        /// What checks its connections; nil if nothing does.
        var connectionGuard: (any ConnectionGuard)? {
            if case .guarded(_, let connectionGuard) = source { connectionGuard } else { nil }
        }

        /// A pool of the same database without connections.
        func unused() -> PostgresPool {
            if case .borrowed(let borrowed) = source { return PostgresPool(borrowed) }
            return PostgresPool(settings, limit: limit, timeout: timeout, checkAge: checkAge, observer: observer)
        }

        /// Runs a closure with a connection that nobody else uses meanwhile. An open transaction is taken back afterwards.
        /// - Throws: 53300 if none is free in time, class 08 if none can be made, and the error of the closure.
        func use<T>(_ body: (PostgresConnection) throws(PostgresError) -> T) throws(PostgresError) -> T {
            let connection = try take()
            defer { putBack(connection) }
            return try body(connection)
        }

        /// As ``use(_:)``, for closures that throw errors of the store.
        func use<T>(
            failure: (PostgresError) -> StoreError, _ body: (PostgresConnection) throws(StoreError) -> T
        ) throws(StoreError) -> T {
            let connection: PostgresConnection
            do throws(PostgresError) {
                connection = try take()
            } catch {
                throw failure(error)
            }
            defer { putBack(connection) }
            return try body(connection)
        }

        /// A connection that is not one of the pool's.
        func makeConnection() throws(PostgresError) -> PostgresConnection {
            guard makesConnections else { throw Self.closed }
            let connection = try PostgresConnection(settings)
            if let observer { connection.onStatement = { observer($0, $1, $2) } }
            return connection
        }

        private enum Found {
            case idle(Idle)
            case free
            case closed
            case none
        }

        private func find() -> Found {
            condition.lock()
            defer { condition.unlock() }
            let deadline = Date(timeIntervalSinceNow: min(timeout, 1e9))
            while !state.isClosed {
                if let last = state.idle.popLast() {
                    state.inUse += 1
                    return .idle(last)
                }
                if state.inUse < limit {
                    state.inUse += 1
                    return .free
                }
                if !condition.wait(until: deadline) { return .none }
            }
            return .closed
        }

        private func take() throws(PostgresError) -> PostgresConnection {
            switch source {
            case .own: break
            case .borrowed(let borrowed):
                guard !isClosed else { throw Self.closed }
                return try borrowed.take()
            case .guarded(let pool, let connectionGuard):
                let connection = try pool.take()
                do throws(PostgresError) {
                    try connectionGuard.check(connection)
                } catch {
                    pool.putBack(connection)
                    throw error
                }
                return connection
            }
            switch find() {
            case .closed: throw Self.closed
            case .none:
                throw PostgresError(
                    sqlState: "53300", message: "all \(limit) connections were in use for \(timeout) seconds")
            case .idle(let idle):
                let age = (ContinuousClock.now - idle.connection.lastUse).components
                if idle.connection.isOpen, Double(age.seconds) < checkAge || answers(idle.connection) {
                    return idle.connection
                }
            case .free: break
            }
            do throws(PostgresError) {
                return try makeConnection()
            } catch {
                giveBackPlace()
                throw error
            }
        }

        private func answers(_ connection: PostgresConnection) -> Bool {
            (try? connection.execute("SELECT 1")) != nil
        }

        private func putBack(_ connection: PostgresConnection) {
            connection.rollback()
            switch source {
            case .own: break
            case .borrowed(let borrowed): return borrowed.putBack()
            case .guarded(let pool, _): return pool.putBack(connection)
            }
            condition.lock()
            defer { condition.unlock() }
            state.inUse -= 1
            if connection.isOpen, !connection.isInTransaction, !state.isClosed {
                state.idle.append(Idle(connection: connection))
            }
            condition.signal()
        }

        private func giveBackPlace() {
            condition.lock()
            defer { condition.unlock() }
            state.inUse -= 1
            condition.signal()
        }

        /// Whether ``close()`` was called.
        var isClosed: Bool {
            condition.lock()
            defer { condition.unlock() }
            return state.isClosed
        }

        /// Closes all idle connections now, and the others when they are put back.
        func close() {
            condition.lock()
            defer { condition.unlock() }
            state.isClosed = true
            state.idle = []
            condition.broadcast()
        }

        /// Closes the idle connections: the server they lead to has gone.
        func dropIdle() {
            condition.lock()
            defer { condition.unlock() }
            state.idle = []
        }

        static let closed = PostgresError(sqlState: "08003", message: "the store has been closed")
    }
#endif
