#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    extension PostgresStore {
        public func replicaReader(isFresh: Bool) -> (any ReplicaReader)? { replicaSession(isFresh: isFresh) }

        private func replicaSession(isFresh: Bool) -> ReplicaSession? {
            replicas.map { ReplicaSession(self, $0, isFresh: isFresh) }
        }

        /// The replicas that ``Options/replicas`` names, as this process sees them, for logs and health checks.
        ///
        ///     let store = try PostgresStore.open(model: model, at: "postgres://app@db.example.com/cities")
        ///     for state in store.replicaStates where !state.isUsable { print(state.address, state.problem ?? "") }
        public var replicaStates: [ReplicaState] { replicas?.reports ?? [] }

        /// How many reads that a replica might have answered went to the primary, because none was proved to be recent enough.
        public var replicaFallbacks: Int { replicas?.fallbacks ?? 0 }

        /// As ``explain(_:counting:)``, by the server that would answer a context with a ``ReadSource``:
        /// ``FetchExplanation/replica`` says which one it was.
        /// - Throws: As ``explain(_:counting:)``.
        public func explain(
            _ plan: FetchPlan, counting: Bool = false, reading source: ReadSource
        ) throws(StoreError) -> FetchExplanation {
            guard source == .replica, let session = replicaSession(isFresh: true) else {
                return try explain(plan, counting: counting)
            }
            return try session.read { (store) throws(StoreError) in try store.explain(plan, counting: counting) }
        }

        /// The store as a replica has it.
        func view(of replica: Replica, reaching goal: ReplicaSet.Goal) -> PostgresStore {
            PostgresStore(
                self, through: PostgresPool(replica.pool, guardedBy: ReplicaGuard(replica: replica, goal: goal)))
        }
    }

    /// Sees to it that a replica shows enough, and notes what fails.
    struct ReplicaGuard: ConnectionGuard {
        let replica: Replica
        let goal: ReplicaSet.Goal

        var address: String { replica.address }

        func check(_ connection: PostgresConnection) throws(PostgresError) {
            try replica.check(connection, position: goal.position, in: goal.log)
        }

        func note(_ error: PostgresError) { replica.note(error) }
    }

    extension ReplicaSet {
        convenience init(
            _ options: PostgresStore.Replicas, model: ManagedObjectModel, identifier: UUID,
            _ store: PostgresStore.Options, primary: PostgresPool, _ observers: StatementObserverList
        ) {
            let replicas = options.addresses.map { address in
                var settings = PostgresSettings(address: address, options: store)
                settings.connectTimeout = min(store.connectTimeout, options.timeout.inSeconds)
                settings.answerTimeout = options.timeout
                let limit = Int((options.timeout.inSeconds * 1000).rounded(.up))
                settings.startStatements.append("SET default_transaction_read_only TO on")
                if store.statementTimeout == 0 || store.statementTimeout > options.timeout.inSeconds {
                    settings.startStatements.append("SET statement_timeout TO \(limit)")
                }
                let place = settings.publicAddress
                let pool = PostgresPool(
                    // A read that would have to wait goes to the primary.
                    settings, limit: options.connectionLimit, timeout: min(1, store.poolTimeout),
                    checkAge: store.healthCheckAge, observer: observers.observer(store.trace, replica: place))
                return Replica(address: place, pool: pool, retryPause: options.retryPause)
            }
            self.init(options, replicas: replicas, primary: primary) { connection in
                let found = try PostgresMetadata.read(on: connection, path: "")
                guard let found, found.identifier == identifier else {
                    throw UnfitReplica(reason: "it has another store")
                }
                guard found.versionHash == model.versionHash else {
                    throw UnfitReplica(reason: "its store has another version of the model")
                }
            }
        }
    }

    /// Why a replica cannot be used.
    private struct UnfitReplica: Error, CustomStringConvertible {
        let reason: String
        var description: String { reason }
    }
#endif
