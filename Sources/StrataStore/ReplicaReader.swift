/// Where a context reads from; see ``PersistentStore/replicaReader(isFresh:)``.
public enum ReadSource: Sendable, Hashable {
    /// The store itself: a read sees each commit that came before it.
    case primary
    /// A copy of the store that is at most as old as the options of the store allow, and the store itself where none is.
    case replica
}

/// Reads for one context, from copies of the store or from the store itself.
///
/// A store with read replicas returns one from ``PersistentStore/replicaReader(isFresh:)``, for a context whose source is
/// ``ReadSource/replica``. The reader chooses a copy for each read.
///
/// A read never shows less than an earlier read of the same reader, and never less than what this process has committed before
/// it, whichever copy answers. If no copy has got that far, the store itself answers. While a save runs, the context calls
/// ``beginReadingPrimary()``, because conflicts are found with the last commit.
public protocol ReplicaReader: StoreReader {
    /// A number that changes whenever another server answers than before: what an unfinished read has found may be older
    /// than what the context knows by then.
    var generation: Int { get }
    /// Sends reads to the store itself until ``endReadingPrimary()`` has been called as often: a save looks at the last
    /// commit.
    func beginReadingPrimary()
    /// Ends what ``beginReadingPrimary()`` has begun.
    func endReadingPrimary()
}
