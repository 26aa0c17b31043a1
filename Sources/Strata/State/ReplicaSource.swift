import StrataStore

/// What reads copies of the store for a context, and the rows that were read so.
final class ReplicaSource {
    let reader: any ReplicaReader
    /// The rows may be older than those of the last commit, which the cache of the container has.
    private let cache = RowCache()
    private var sharedStamp: Int
    private var generation: Int

    init(_ reader: any ReplicaReader, _ shared: RowCache) {
        self.reader = reader
        sharedStamp = shared.stamp
        generation = reader.generation
    }

    /// Asks a copy, or the store.
    func read<R>(_ body: (any StoreReader) throws(StoreError) -> R) throws(StoreError) -> R {
        let result = try body(reader)
        forgetIfMoved()
        return result
    }

    private func forgetIfMoved() {
        let now = reader.generation
        guard now != generation else { return }
        generation = now
        cache.forgetAll()
    }

    /// The cache of the rows.
    /// - Parameter shared: The cache of the container: whatever makes its rows old makes these old.
    func rowCache(besides shared: RowCache) -> RowCache {
        forgetIfMoved()
        let stamp = shared.stamp
        if stamp != sharedStamp {
            sharedStamp = stamp
            cache.forgetAll()
        }
        return cache
    }
}

extension StoreCoordinator {
    /// What reads copies of the store for a new context; nil if there are none.
    func replicaSource(isFresh: Bool) -> ReplicaSource? {
        store.replicaReader(isFresh: isFresh).map { ReplicaSource($0, rowCache) }
    }
}

extension ContextCore {
    /// What reads copies of the store for this context, or for the outermost parent.
    var replica: ReplicaSource? {
        guard coordinator.hasReplicas else { return nil }
        return parent?.core.replica ?? settings.replica
    }
}
