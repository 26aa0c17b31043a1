import Foundation
import StrataStore

/// Where a fetch looks: the network, the mirror, or both.
///
///     store.fetchPolicy = .cacheElseNetwork
///     let large = City.where { $0.population > 1_000_000 }.options(RemoteOptions(fetchPolicy: .networkOnly))
///     let cities = try await context.fetch(large)
///
/// The store has a default, ``RemoteStore/fetchPolicy``, which ``networkElseCache`` is until you set another one; a request can
/// override it. It also applies to counts, and to members that a load or a prefetch asks for.
///
/// The network's answer is written to the mirror first and read from there, so unsaved changes and changes that wait to be sent
/// stay on top of it. After a fetch without a limit, the mirror removes objects that the server no longer has.
public enum FetchPolicy: Int, Sendable, Hashable, CaseIterable {
    /// The network. The fetch throws its errors, including that the server cannot be reached.
    case networkOnly = 0
    /// The mirror. If nothing is found there, the result is empty.
    case cacheOnly = 1
    /// The network; the mirror if the server cannot be reached or does not answer in time. The fetch throws other errors, such
    /// as a status of 500.
    case networkElseCache = 2
    /// The mirror; the network if nothing is found there.
    case cacheElseNetwork = 3
    /// The mirror immediately, and the network's result when it comes: see `ManagedObjectContext.results(of:)`. A fetch
    /// with a single result returns the network's.
    case cacheThenNetwork = 4
}

/// Where a save writes: the network, or the mirror, from which a synchronization sends it later.
///
///     city.name = "Qosqo"
///     try await context.save(options: RemoteOptions(savePolicy: .networkElseQueue))  // works offline, too
///     print(try store.sync.pendingCount(), "changes wait")
///
/// The store has a default, ``RemoteStore/savePolicy``, which ``networkThenCache`` is until you set another one. With it, a
/// save fails without a network, and the objects keep their changes. Choose ``cacheOnly`` for an app that works offline and
/// calls ``SyncEngine/synchronize()``, and ``networkElseQueue`` for one that sends immediately if it can.
///
/// A change in the outbox is sent with the primary keys, versions and operations that it was made with. If the server refuses
/// it later, the save has already succeeded: ``SyncEngine/failedChanges()`` lists it.
public enum SavePolicy: Int, Sendable, Hashable, CaseIterable {
    /// The network, then the mirror with what the server answered.
    case networkThenCache = 0
    /// The network. The mirror keeps what it has of other objects; those saved become known to it as far as the context
    /// needs them.
    case networkOnly = 1
    /// The mirror; the outbox keeps the change, in the same transaction, for the next synchronization.
    case cacheOnly = 2
    /// The network, then the mirror with what the server answered. If the server cannot be reached, or does not answer in
    /// time, the mirror and the outbox, as with ``cacheOnly``.
    case networkElseQueue = 3
}

/// Options of one fetch, load or save for a remote store, which override the store's settings.
///
///     let here = RemoteOptions(fetchPolicy: .cacheOnly)
///     let cities = try await context.fetch(FetchRequest<City>().options(here))       // no request
///     try await context.save(options: RemoteOptions(savePolicy: .networkElseQueue))  // waits in the outbox without network
///
/// Set them with `FetchRequest.options(_:)`, or pass them to `save(options:)`. Properties that are nil use the setting of
/// ``RemoteStore/Options``. Stores of another kind ignore them, so the same code runs on a SQLite store in tests.
///
/// ``includes``, ``properties``, ``subqueries`` and ``total`` apply only to fetches: they bring related objects along, read
/// only some properties, add conditions on other queries, and report how many objects there are in all.
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
