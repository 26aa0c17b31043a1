/// Where a context reads from; see ``PersistentStore/replicaReader(isFresh:)``.
public enum ReadSource: Sendable, Hashable {
    /// The store itself: a read sees each commit that came before it.
    case primary
    /// A copy of the store that is at most as old as the options of the store allow, and the store itself where none is.
    case replica
}

/// Reads for one context, from copies of the store or from the store itself.
///
/// A read never shows less than an earlier read of the same reader, and never less than what this process has committed before
/// it, whichever copy answers.
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
