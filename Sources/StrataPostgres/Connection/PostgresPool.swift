#if Postgres
    import Foundation
    import StrataStore

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

        /// Called with each statement, its seconds and its rows.
        typealias Observer = @Sendable (String, Double, Int) -> Void

        private let settings: PostgresSettings
        private let limit: Int
        private let timeout: Double
        private let checkAge: Double
        private let observer: Observer?
        /// The connection of a transaction that somebody else has begun; nil if the pool makes its own.
        private let borrowed: BorrowedConnection?
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
            borrowed = nil
        }

        /// A pool with the connection of a transaction that somebody else has begun.
        init(_ borrowed: BorrowedConnection) {
            self.borrowed = borrowed
            settings = PostgresSettings(address: "")
            limit = 1
            timeout = 0
            checkAge = 0
            observer = nil
        }

        /// Whether the pool makes connections of its own.
        var makesConnections: Bool { borrowed == nil }

        /// A pool of the same database without connections.
        func unused() -> PostgresPool {
            if let borrowed { return PostgresPool(borrowed) }
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
            if let borrowed {
                guard !isClosed else { throw Self.closed }
                return try borrowed.take()
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
            if let borrowed { return borrowed.putBack() }
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
