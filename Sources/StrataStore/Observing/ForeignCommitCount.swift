/// What a store knows of commits that others have made to its data: other processes, and other stores of this one.
public enum ForeignCommitCount: Sendable, Hashable {
    /// Nobody else can commit.
    case none
    /// How often the store has noticed such commits, with those up to now. The number never falls while the store is open.
    case known(Int)
    /// There may be any.
    case unknown
}
