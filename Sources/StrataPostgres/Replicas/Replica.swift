#if Postgres
    import Foundation
    import StrataStore

    /// A replica, and what is known of it.
    final class Replica: Sendable {
        typealias Instant = ContinuousClock.Instant

        /// What a failed check throws: the replica works, but has not replayed enough.
        static let behind = PostgresError(sqlState: "ST001", message: "the replica has not replayed enough")
        /// What a failed check throws: the server cannot be used.
        private static let unusableState = "ST002"

        private enum Condition: Sendable {
            case unknown
            case usable
            case paused(String, until: Instant)
        }

        private struct State: Sendable {
            var condition = Condition.unknown
            var isProbing = false
            /// Up to where it has replayed the log, when it was last looked at.
            var position: Int64?
            /// The moment at which a read has found that it had not replayed enough, and up to where it should have.
            var lag: (moment: Instant, wanted: Int64)?
            /// Counts how often it was paused: afterwards it may be another server, or the same with less.
            var epoch = 0
            var answers = 0
        }

        let address: String
        let pool: PostgresPool
        private let retryPause: Duration
        private let state = Guarded(State())
        private let queue = DispatchQueue(label: "strata.postgres.replica")

        init(address: String, pool: PostgresPool, retryPause: Duration) {
            self.address = address
            self.pool = pool
            self.retryPause = retryPause
        }

        /// Changes when what an earlier read has seen proves nothing for the next one.
        var epoch: Int { state.withLock(\.epoch) }

        /// Whether it works, as far as it is known.
        var isUsable: Bool { state.withLock { if case .usable = $0.condition { true } else { false } } }

        /// Whether a read may try it.
        /// - Parameter position: Up to where it must have replayed the log.
        func isWorthTrying(for position: Int64) -> Bool {
            state.withLock { state in
                guard case .usable = state.condition else { return false }
                // To ask again immediately would only delay the read.
                guard let lag = state.lag, lag.wanted <= position else { return true }
                return ContinuousClock.now - lag.moment > .milliseconds(20)
            }
        }

        /// Checks before a read that it will show enough.
        func check(_ connection: PostgresConnection, position: Int64, in log: LogIdentity) throws(PostgresError) {
            let status = try status(on: connection, of: log)
            guard status.position < position else { return }
            state.withLock { $0.lag = (ContinuousClock.now, position) }
            throw Self.behind
        }

        private func status(
            on connection: PostgresConnection, of log: LogIdentity
        ) throws(PostgresError) -> ServerStatus {
            guard let status = try ServerStatus.ofReplica(connection) else {
                throw unusable("it has been promoted; it is not a replica")
            }
            guard status.identity.system == log.system else { throw unusable("it is a replica of another server") }
            guard status.identity.timeline == log.timeline else {
                throw unusable(
                    "it follows timeline \(status.identity.timeline), and the primary writes timeline \(log.timeline)")
            }
            state.withLock { $0.position = status.position }
            return status
        }

        private func unusable(_ reason: String) -> PostgresError {
            PostgresError(sqlState: Self.unusableState, message: reason)
        }

        /// Notes that it has answered.
        func noteAnswer() { state.withLock { $0.answers += 1 } }

        /// Notes that a read has failed. It is left alone for a while if the cause is its own.
        func note(_ error: PostgresError) {
            // It has not replayed enough, is busy, or was told to stop; or the read was in the way of the log.
            let isSound =
                [Self.behind.sqlState, "53300", "57014"].contains(error.sqlState) || error.isTransient
                || error.sqlState.hasPrefix("22")
            if !isSound { pause(Self.text(error)) }
        }

        private static func text(_ error: PostgresError) -> String {
            error.sqlState == unusableState ? error.message : error.description
        }

        /// Leaves it alone for a while.
        func pause(_ reason: String) {
            pool.dropIdle()
            let end = ContinuousClock.now + retryPause
            state.withLock { state in
                state.condition = .paused(reason, until: end)
                state.epoch += 1
                state.lag = nil
            }
        }

        /// Looks at it soon, on another thread.
        /// - Parameter examine: Throws if it has no such store. Called where it has not been used before, or not for a while.
        func probe(_ log: LogIdentity, _ examine: @escaping @Sendable (PostgresConnection) throws -> Void) {
            let isDue = state.withLock { state in
                if state.isProbing { return false }
                if case .paused(_, let end) = state.condition, ContinuousClock.now < end { return false }
                state.isProbing = true
                return true
            }
            guard isDue else { return }
            queue.async { self.look(log, examine) }
        }

        private func look(_ log: LogIdentity, _ examine: (PostgresConnection) throws -> Void) {
            let isKnown = isUsable
            var problem: String?
            do throws(PostgresError) {
                problem = try pool.use { (connection) throws(PostgresError) in
                    _ = try status(on: connection, of: log)
                    if isKnown { return nil }
                    do { try examine(connection) } catch { return "\(error)" }
                    return nil
                }
            } catch {
                // Others have all connections: it works.
                if error.sqlState != "53300" || !isKnown {
                    problem = Self.text(error)
                }
            }
            if let problem { pause(problem) }
            state.withLock { state in
                if problem == nil, !isKnown { state.condition = .usable }
                state.isProbing = false
            }
        }

        /// For people.
        /// - Parameter end: Where the log of the primary ended.
        func report(_ end: Int64?) -> PostgresStore.ReplicaState {
            state.withLock { state in
                var problem: String?
                switch state.condition {
                case .unknown: problem = "it has not been looked at yet"
                case .usable: break
                case .paused(let reason, _): problem = reason
                }
                let missing = end.flatMap { end in state.position.map { Int(max(0, end - $0)) } }
                return PostgresStore.ReplicaState(
                    address: address, isUsable: problem == nil, problem: problem, missingBytes: missing,
                    answers: state.answers)
            }
        }
    }
#endif
