#if Postgres
    import Foundation
    import StrataStore

    /// The replicas of a store, and what is known of the primary's log.
    final class ReplicaSet: Sendable {
        typealias Instant = ContinuousClock.Instant

        private struct State: Sendable {
            var timeline = LogTimeline()
            var lastUse = ContinuousClock.now
            /// Whether the next look at the servers is under way.
            var isWatching = false
            var next = 0
            var fallbacks = 0
            var isClosed = false
        }

        /// What a read needs to know to go to a replica.
        struct Goal {
            /// Up to where it must have replayed the log.
            let position: Int64
            let log: LogIdentity
        }

        let options: PostgresStore.Replicas
        let replicas: [Replica]
        private let primary: PostgresPool
        /// Throws if a server does not have the store.
        private let examine: @Sendable (PostgresConnection) throws -> Void
        private let state = Guarded(State())
        private let queue = DispatchQueue(label: "strata.postgres.log")
        /// Held while one thread asks the primary: other threads wait, and use the answer.
        private let asking = NSLock()

        init(
            _ options: PostgresStore.Replicas, replicas: [Replica], primary: PostgresPool,
            examine: @escaping @Sendable (PostgresConnection) throws -> Void
        ) {
            self.options = options
            self.replicas = replicas
            self.primary = primary
            self.examine = examine
            watch()
        }

        func close() {
            state.withLock { $0.isClosed = true }
            for replica in replicas { replica.pool.close() }
        }

        // MARK: What this process knows

        /// Notes a commit of this process, on the connection that has made it.
        func noteCommit(on connection: PostgresConnection) {
            let position = try? ServerStatus.ofCommit(connection)
            let now = ContinuousClock.now
            state.withLock { $0.timeline.noteCommit(at: position, now: now) }
        }

        /// Notes that this process may know now of any commit.
        func noteNews() {
            let now = ContinuousClock.now
            state.withLock { $0.timeline.noteCommit(at: nil, now: now) }
        }

        /// Notes that no replica could answer a read.
        func noteFallback() { state.withLock { $0.fallbacks += 1 } }

        /// How many reads the primary has answered in place of a replica.
        var fallbacks: Int { state.withLock(\.fallbacks) }

        // MARK: Choosing

        /// What a replica must show to a read that begins now.
        /// - Parameter moment: It shows what was committed before that.
        /// - Returns: nil if the primary is to be read.
        func goal(showing moment: Instant?) -> Goal? {
            let now = ContinuousClock.now
            let oldest = now - options.maximumStaleness
            let wanted = moment.map { max($0, oldest) } ?? oldest
            if let goal = known(wanted) { return goal }
            // A reader that has seen more than the log's last known end stays where it is until the next look.
            if wanted > oldest, known(oldest) != nil { return nil }
            asking.lock()
            defer { asking.unlock() }
            if let goal = known(wanted) { return goal }
            look()
            return known(wanted)
        }

        private func known(_ moment: Instant) -> Goal? {
            state.withLock { state in
                guard let log = state.timeline.identity, let position = state.timeline.position(showing: moment) else {
                    return nil
                }
                return Goal(position: position, log: log)
            }
        }

        /// The positions of the replicas that work, in the order in which a read may try them: each time another one is first.
        func order() -> [Int] {
            let start = state.withLock { state in
                state.lastUse = ContinuousClock.now
                state.next = (state.next + 1) % max(1, replicas.count)
                return state.next
            }
            watch()
            return replicas.indices.map { ($0 + start) % replicas.count }.filter { replicas[$0].isUsable }
        }

        // MARK: Looking

        /// Looks at the servers from time to time, on another thread, while there are reads.
        private func watch() {
            let starts = state.withLock { state in
                if state.isWatching || state.isClosed { return false }
                state.isWatching = true
                return true
            }
            if starts { queue.async { [weak self] in self?.lookAround() } }
        }

        private func lookAround() {
            asking.lock()
            look(flushing: true)
            asking.unlock()
            if let log = state.withLock(\.timeline.identity) {
                for replica in replicas { replica.probe(log, examine) }
            }
            let goesOn = state.withLock { state in
                let isUsed = ContinuousClock.now - state.lastUse < .seconds(60)
                if !isUsed || state.isClosed { state.isWatching = false }
                return state.isWatching
            }
            guard goesOn else { return }
            queue.asyncAfter(deadline: .now() + options.interval.inSeconds) { [weak self] in self?.lookAround() }
        }

        /// Asks the primary where its log ends. Without an answer nothing new is proved.
        /// - Parameter flushes: Whether the end is to get to the disk, and to the replicas, even if nobody commits.
        private func look(flushing flushes: Bool = false) {
            let moment = ContinuousClock.now
            let last = state.withLock { $0.timeline.latest?.position }
            let status: ServerStatus
            do throws(PostgresError) {
                status = try primary.use { (connection) throws(PostgresError) in
                    let status = try ServerStatus.ofPrimary(connection)
                    // Reads leave records, too, which would otherwise wait for the next commit, or for a checkpoint.
                    if flushes, status.flushed < status.position, status.position == last {
                        try connection.execute("SELECT pg_current_xact_id()")
                    }
                    return status
                }
            } catch {
                if error.isConnectionLost { primary.dropIdle() }
                return
            }
            let isOther = state.withLock { state in
                state.timeline.add(
                    LogTimeline.Sample(position: status.position, moment: moment), of: status.identity,
                    span: options.maximumStaleness)
            }
            guard isOther else { return }
            for replica in replicas { replica.pause("the primary has changed its timeline") }
        }

        /// The replicas, for people.
        var reports: [PostgresStore.ReplicaState] {
            let end = state.withLock { $0.timeline.latest?.position }
            return replicas.map { $0.report(end) }
        }
    }
#endif
