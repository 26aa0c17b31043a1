import StrataSQLite

extension RemoteStore {
    /// Synchronises whenever the network comes back, for as long as the result is kept. How it goes is told by ``sync``.
    ///
    ///     let watch = store.synchronizes(with: client.reachability)
    ///     Task { await client.reachability.monitor(every: 30) }
    ///
    /// - Parameter reachability: Tells when the network comes; somebody has to ask it, see
    ///   ``NetworkReachability/monitor(every:)``.
    public func synchronizes(with reachability: NetworkReachability) -> ReachabilityObservation {
        reachability.onChange { [weak self] status in
            guard status == .reachable, let sync = self?.sync else { return }
            Task { _ = try? await sync.synchronize() }
        }
    }

    /// Tells of the statements of the mirror.
    public func observeStatements(_ handler: @escaping @Sendable (StatementTrace) -> Void) -> StoreObservation? {
        mirror.store.observeStatements(handler)
    }
}
