#if Postgres
    import StrataSQL
    import StrataStore

    /// Reads for one context: from a replica that shows enough, or from the primary.
    final class ReplicaSession: ReplicaReader, ForwardingReader {
        typealias Instant = ContinuousClock.Instant

        /// A server that has answered. After a failure a replica counts as another one.
        private struct Server: Hashable {
            /// nil for the primary.
            let replica: Int?
            let epoch: Int

            static let primary = Server(replica: nil, epoch: 0)
        }

        private struct State: Sendable {
            /// When the servers have answered last. What another one shows must not be older than that.
            var answers: [Server: Instant] = [:]
            var last: Server?
            var generation = 0
            var primaryReads = 0
        }

        private let store: PostgresStore
        private let set: ReplicaSet
        private let state = Guarded(State())

        init(_ store: PostgresStore, _ set: ReplicaSet, isFresh: Bool) {
            self.store = store
            self.set = set
            if !isFresh { note(.primary) }
        }

        var generation: Int { state.withLock(\.generation) }

        func beginReadingPrimary() { state.withLock { $0.primaryReads += 1 } }

        func endReadingPrimary() { state.withLock { $0.primaryReads -= 1 } }

        private func note(_ server: Server) {
            let now = ContinuousClock.now
            state.withLock { state in
                state.answers[server] = now
                // The other servers of long ago, and those that count as others now.
                if state.answers.count > 2 * set.replicas.count + 2 {
                    state.answers = state.answers.filter { now - $0.value <= set.options.maximumStaleness }
                }
                if let last = state.last, last != server { state.generation += 1 }
                state.last = server
            }
        }

        // MARK: Routing

        /// Runs a read where it may be answered.
        func read<T>(_ body: (PostgresStore) throws(StoreError) -> T) throws(StoreError) -> T {
            var hasTried = false
            if state.withLock({ $0.primaryReads == 0 && !set.replicas.isEmpty }) {
                hasTried = true
                for (server, replica, goal) in routes() {
                    let view = store.view(of: replica, reaching: goal)
                    do throws(StoreError) {
                        let result = try body(view)
                        replica.noteAnswer()
                        note(server)
                        return result
                    } catch {
                        switch error {
                        // The primary would say the same.
                        case .cancelled, .invalidPredicate, .unsupported: throw error
                        default: continue
                        }
                    }
                }
            }
            let result = try body(store)
            if hasTried { set.noteFallback() }
            note(.primary)
            return result
        }

        /// The replicas to try, first the one that has answered last.
        private func routes() -> [(Server, Replica, ReplicaSet.Goal)] {
            let (answers, last) = state.withLock { ($0.answers, $0.last) }
            func route(_ index: Int) -> (Server, Replica, ReplicaSet.Goal)? {
                let replica = set.replicas[index]
                let server = Server(replica: index, epoch: replica.epoch)
                let moment = answers.filter { $0.key != server }.values.max()
                return set.goal(showing: moment).flatMap { goal in
                    replica.isWorthTrying(for: goal.position) ? (server, replica, goal) : nil
                }
            }
            var order = set.order()
            if let index = last?.replica, let place = order.firstIndex(of: index) {
                order.swapAt(0, place)
            }
            return order.compactMap(route)
        }

        func values(_ plan: ValuePlan, cancellation: ReadCancellation?) throws(StoreError) -> [[Value]] {
            // The same moment and the same random numbers on each server.
            var plan = plan
            plan.fetch.environment = plan.fetch.environment ?? EvaluationEnvironment()
            return try read { [plan] (store) throws(StoreError) in try store.values(plan, cancellation: cancellation) }
        }
    }
#endif
