import Foundation
import StrataStore

/// Where a fetch looks.
public enum FetchPolicy: Int, Sendable, Hashable, CaseIterable {
    /// The network; its errors are the fetch's.
    case networkOnly = 0
    /// The mirror. If nothing is found there, the result is empty.
    case cacheOnly = 1
    /// The network; the mirror if the server cannot be reached. Other errors are the fetch's.
    case networkElseCache = 2
    /// The mirror; the network if nothing is found there.
    case cacheElseNetwork = 3
    /// The mirror immediately, and the network's result when it comes: see `ManagedObjectContext.results(of:)`. A fetch
    /// with a single result returns the network's.
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

/// Options of one fetch or save for a remote store, which override the store's settings.
///
///     let here = RemoteOptions(fetchPolicy: .cacheOnly)
///     let todos = try await context.fetch(FetchRequest<Todo>().options(here))        // no request
///     try await context.save(options: RemoteOptions(savePolicy: .networkElseQueue))  // waits in the outbox without network
public struct RemoteOptions: StoreRequestOptions, Sendable, Hashable {
    /// Where a fetch looks; nil to use the store's setting.
    public var fetchPolicy: FetchPolicy?
    /// Where a save writes; nil to use the store's setting.
    public var savePolicy: SavePolicy?
    /// How requests are made; nil to use the store's setting.
    public var request: RequestOptions?
    /// Whether results of the network are kept in the mirror beyond what the context needs; nil to use the store's
    /// setting.
    public var cachesResults: Bool?
    /// Whether work that the server cannot do may be done here, which may read more than the result; nil to use the
    /// store's setting.
    public var finishesLocally: Bool?
    /// The relationships of a fetch whose objects come along, as paths with dots: `list.owner`. They come in the same answer
    /// where the server can do that, and by further requests elsewhere.
    public var includes: [String]
    /// The properties that the server is asked for, by name; nil for all. An object that the mirror does not have as a whole
    /// can tell these, and those that the condition and the order of the fetch name. The first access to another property,
    /// and the first change, read the whole object. A server that cannot select is asked for all.
    public var properties: [String]?
    /// Further conditions of a fetch, on what other queries find.
    public var subqueries: [RemoteSubquery]
    /// Takes the number of all objects that meet the conditions of a fetch, whatever its limit and its offset.
    public var total: TotalCount?
    /// Is told how far the files of a save have come.
    public var fileProgress: FileProgress?

    /// All as the store is told.
    public init(
        fetchPolicy: FetchPolicy? = nil, savePolicy: SavePolicy? = nil, request: RequestOptions? = nil,
        cachesResults: Bool? = nil, finishesLocally: Bool? = nil, includes: [String] = [],
        properties: [String]? = nil, subqueries: [RemoteSubquery] = [], total: TotalCount? = nil,
        fileProgress: FileProgress? = nil
    ) {
        self.fetchPolicy = fetchPolicy
        self.savePolicy = savePolicy
        self.request = request
        self.cachesResults = cachesResults
        self.finishesLocally = finishesLocally
        self.includes = includes
        self.properties = properties
        self.subqueries = subqueries
        self.total = total
        self.fileProgress = fileProgress
    }
}
