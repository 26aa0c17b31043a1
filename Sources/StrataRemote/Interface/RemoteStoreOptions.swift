import Foundation
import StrataStore

/// Where a fetch looks.
public enum FetchPolicy: Int, Sendable, Hashable, CaseIterable {
    /// The network; its errors are the fetch's.
    case networkOnly = 0
    /// The mirror. Nothing there is an empty result.
    case cacheOnly = 1
    /// The network; the mirror if the server cannot be reached. Other errors are the fetch's.
    case networkElseCache = 2
    /// The mirror; the network if nothing is found there.
    case cacheElseNetwork = 3
    /// The mirror immediately, and the network's result when it comes: see `ManagedObjectContext.results(of:)`. A fetch
    /// that gives one result gives the network's.
    case cacheThenNetwork = 4
}

/// Where a save writes.
public enum SavePolicy: Int, Sendable, Hashable, CaseIterable {
    /// The network, then the mirror with what the server answered.
    case networkThenCache = 0
    /// The network. The mirror keeps what it has of other objects; those saved become known to it as far as the context
    /// needs them.
    case networkOnly = 1
    /// The mirror; the outbox keeps the change for the next synchronisation.
    case cacheOnly = 2
    /// The network, then the mirror with what the server answered. If the server cannot be reached, or does not answer in
    /// time, the mirror and the outbox, as with ``cacheOnly``.
    case networkElseQueue = 3
}

/// What one fetch or save asks of a remote store, in place of the store's own settings.
public struct RemoteOptions: StoreRequestOptions, Sendable, Hashable {
    /// Where a fetch looks; nil as the store is told.
    public var fetchPolicy: FetchPolicy?
    /// Where a save writes; nil as the store is told.
    public var savePolicy: SavePolicy?
    /// How requests are made; nil as the store is told.
    public var request: RequestOptions?
    /// Whether results of the network are kept in the mirror beyond what the context needs; nil as the store is told.
    public var cachesResults: Bool?
    /// Whether what the server cannot do may be finished here, which may read more than the result; nil as the store is
    /// told.
    public var finishesLocally: Bool?

    /// All as the store is told.
    public init(
        fetchPolicy: FetchPolicy? = nil, savePolicy: SavePolicy? = nil, request: RequestOptions? = nil,
        cachesResults: Bool? = nil, finishesLocally: Bool? = nil
    ) {
        self.fetchPolicy = fetchPolicy
        self.savePolicy = savePolicy
        self.request = request
        self.cachesResults = cachesResults
        self.finishesLocally = finishesLocally
    }
}
