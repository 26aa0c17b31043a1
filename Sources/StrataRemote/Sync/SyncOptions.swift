import Foundation

/// How a store is kept in step with its server: conflict policies, retries, sizes of requests.
///
///     var options = RemoteStore.Options()
///     options.sync.policies = ConflictPolicies(.clientWins, delete: .serverModifiedWins)
///     options.sync.modificationAttribute = "modified"
///     options.sync.retries = 0  // a user waits for the result
///     let store = try RemoteStore.open(model: model, backend: backend, location: .memory(name: nil), options: options)
///
/// The options are fixed when the store is opened. The defaults suit a background synchronization: a request that fails for a
/// passing reason is repeated five times within some 25 seconds. ``maximumLossShare`` protects the mirror from a server that
/// has lost its data. Set ``entities`` to pull only a part of a large back end; pushes always send everything that waits.
///
/// It has one of the stored properties for each setting.
public struct SyncOptions: Sendable {
    /// Which side wins if both changed an object.
    public var policies = ConflictPolicies()
    /// How often a request that failed for a passing reason is sent again before the synchronization ends with the
    /// error.
    public var retries = 5
    /// How many seconds to wait before the first retry. Each further wait is twice as long; each is shortened at random
    /// by up to a half, so that clients which failed together do not come back together.
    public var firstDelay: Double = 1
    /// The longest wait in seconds.
    public var longestDelay: Double = 60
    /// The longest wait in seconds that the server may ask for with `Retry-After`. If it asks for more, the
    /// synchronization ends with its error, which says how long; see ``RemoteError/retryAfter``.
    public var maximumWait: Double = 300
    /// How often a change that meets conflicts is decided again before it counts as failed.
    public var conflictRounds = 20
    /// How many requests that create objects may be under way at the same time. Other changes are sent one after the
    /// other, and so are objects that refer to an object that has not been created yet.
    public var requestsAtOnce = 4
    /// How many objects one request asks for.
    public var pageSize = 500
    /// The entities that are pulled, by name; nil for all.
    public var entities: [String]?
    /// For back ends that cannot tell what has changed: the attribute of each entity that says when an object was
    /// last changed, by which a pull asks for changes. Without it, a pull reads everything.
    public var modificationAttribute: String?
    /// The largest share of the objects of an entity that a pull removes because the server no longer has them, from 0
    /// to 1. If more are missing, and at least ten, the pull ends with an error and removes nothing: the server has
    /// lost its data, or is another one. Deletions that the server tells one by one do not count.
    public var maximumLossShare = 0.5
    /// How many seconds ``SyncEngine/serverHasChanges()`` waits for more to come before it synchronizes.
    public var changeDelay: Double = 0.5
    /// Is told how far the files of a push have come.
    public var fileProgress: FileProgress?
    /// How requests are made.
    public var request = RequestOptions()

    /// The usual way.
    public init() {}
}
