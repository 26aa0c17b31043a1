import StrataSQLite

extension RemoteStore {
    /// Synchronises whenever the network comes back, while you keep the result. ``sync`` reports the progress.
    ///
    ///     let watch = store.synchronizes(with: client.reachability)
    ///     Task { await client.reachability.monitor(every: 30) }
    ///
    /// - Parameter reachability: Reports when the network comes back; something has to poll it, see
    ///   ``NetworkReachability/monitor(every:)``.
    public func synchronizes(with reachability: NetworkReachability) -> ReachabilityObservation {
        reachability.onChange { [weak self] status in
            guard status == .reachable, let sync = self?.sync else { return }
            Task { _ = try? await sync.synchronize() }
        }
    }

    /// Reports the statements of the mirror.
    public func observeStatements(_ handler: @escaping @Sendable (StatementTrace) -> Void) -> StoreObservation? {
        mirror.store.observeStatements(handler)
    }
}
