import StrataSQLite

extension RemoteStore {
    /// Synchronizes whenever the network comes back, while you keep the result. ``sync`` reports the progress.
    ///
    ///     let watch = store.synchronizes(with: reachability)
    ///     Task { await reachability.monitor(every: 30) }
    ///
    /// - Parameter reachability: Reports when the network comes back; something has to poll it, see
    ///   ``NetworkReachability/monitor(every:)``.
    public func synchronizes(with reachability: NetworkReachability) -> ReachabilityObservation {
        reachability.onChange { [weak self] status in
            guard status == .reachable, let sync = self?.sync else { return }
            Task { _ = try? await sync.synchronize() }
        }
    }

    /// The SQL that finds in the mirror what a plan asks for, and how SQLite runs it.
    ///
    /// Nothing is sent. In a container with several stores, make the plan for ``RemoteStore/model``, which has only the
    /// entities of this store.
    /// - Parameters:
    ///   - plan: What is asked for.
    ///   - counting: Whether the number of objects is asked for.
    /// - Throws: As ``SQLiteStore/explain(_:counting:)``.
    public func explain(_ plan: FetchPlan, counting: Bool = false) throws(StoreError) -> FetchExplanation {
        try mirror.store.explain(plan, counting: counting)
    }

    /// Reports the statements of the mirror.
    public func observeStatements(_ handler: @escaping @Sendable (StatementTrace) -> Void) -> StoreObservation? {
        mirror.store.observeStatements(handler)
    }
}
