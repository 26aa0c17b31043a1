extension ManagedObjectContext {
    /// Whether the context may read copies of the store that are a little older: replicas of a PostgreSQL server.
    ///
    ///     let context = container.newContext(reading: .replica)
    ///     let names = try context.fetch(FetchRequest<City>(limit: 10)).map(\.name)
    ///
    /// With ``ReadSource/replica``, fetches, counts, values, faults and relationships come from a replica that is proved to be
    /// recent enough, or else from the primary. The options of the store say which replicas there are and how old they may be.
    ///
    /// - The context sees what it has saved, and what other contexts of this process had saved before the read.
    /// - It never goes back: a read never shows less than an earlier read of the context.
    /// - Saves, bulk operations and history use the primary. A save compares versions there, so what was changed meanwhile is
    ///   a conflict as usual, and what it reads to resolve one comes from the primary.
    ///
    /// It stays ``ReadSource/primary`` if the store has no replicas. In a container with several stores, each has its own: the
    /// stores without replicas are read themselves. A child context reads what its parent reads, and while a
    /// context is pinned (``pin(for:)``), it reads its version.
    public var readSource: ReadSource {
        get { core.replica == nil ? .primary : .replica }
        set {
            guard newValue != readSource, core.parent == nil else { return }
            core.settings.replica = newValue == .replica ? core.coordinator.replicaSource(isFresh: false) : nil
        }
    }
}
