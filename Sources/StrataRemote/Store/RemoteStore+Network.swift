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
}

extension Mirror {
    /// Queues what a save has sent without an answer as it was sent: the next push repeats the same requests.
    func adopt(_ writes: [MirrorWrite]) throws(StoreError) {
        try store.transaction { (transaction) throws(StoreError) in
            for write in writes {
                let root = root(write.identity.entityIndex)
                guard var entry = try entries(root: root, key: write.identity.key, on: transaction.connection).last,
                    entry.kind == write.kind, entry.state == .waiting, write.relations.isEmpty
                else { continue }
                entry.state = .sent
                entry.token = write.write.token
                entry.sent = FrozenWrite.encode(write)
                entry.attempts = 1
                try self.write(entry, on: transaction.connection)
            }
        }
        for write in writes {
            online.unknown.remove(RowIdentity(entityIndex: root(write.identity.entityIndex), key: write.identity.key))
        }
    }
}
