import Foundation
import StrataStore

/// Managed objects on a StackMob server: a client, and the store that mirrors what it reads and saves.
///
///     let stack = try StackMobStore.open(model: model, client: client, location: .file(path: "cities.sqlite"))
///     let container = try PersistentContainer(store: stack.remote, classes: [City.self, Country.self, User.self])
///     try await stack.sync.synchronize()
///
/// ``remote`` is an ordinary `RemoteStore`: set fetch and save policies there or in each request. The client's session signs
/// its requests; a request that finds the session expired waits until it is renewed.
///
/// The mirror belongs to the user who is logged in: give each user a file of their own, or ``reset()`` it when another one logs
/// in.
public final class StackMobStore: Sendable {
    /// Logs users in, and makes all requests.
    public let client: StackMobClient
    /// The store: what containers are made on, and where policies are set.
    public let remote: RemoteStore
    private let following = Guarded<ReachabilityObservation?>(nil)

    /// Opens a store, or makes it where there is none. Nothing is sent.
    /// - Parameters:
    ///   - model: The model. The entity of users has the name of the client's schema of users.
    ///   - client: The application.
    ///   - location: Where the mirror is.
    ///   - options: Policies, and how the mirror is opened.
    /// - Throws: ``StoreError``, of case `unsupported` for a model that StackMob cannot keep, naming entity and property.
    public static func open(
        model: ManagedObjectModel, client: StackMobClient, location: SQLiteStore.Location,
        options: RemoteStore.Options = .init()
    ) throws(StoreError) -> StackMobStore {
        let remote = try RemoteStore.open(
            model: model, backend: client.backend(for: model), location: location, options: options)
        return StackMobStore(client: client, remote: remote)
    }

    private init(client: StackMobClient, remote: RemoteStore) {
        self.client = client
        self.remote = remote
    }

    /// Sends what waits in the mirror, and applies what has changed at the server.
    public var sync: SyncEngine { remote.sync }

    /// Forgets all objects here, with the changes of them that wait and the passwords that were to go along: for when another
    /// user logs in, before anything is fetched for that one.
    ///
    ///     try await stack.sync.push()  // otherwise, waiting changes are lost
    ///     try await client.logOut()
    ///     try stack.reset()
    ///
    /// The server is not notified; contexts see that the objects are gone. Let requests and synchronizations of the user before
    /// end first, since what they bring later is applied.
    /// - Throws: `StoreError` if the mirror cannot be written; nothing is lost.
    public func reset() throws(StoreError) { try remote.sync.reset() }

    /// Sets the password that a new user object is saved with. It is held in memory until then and kept nowhere; it
    /// cannot be read. A new user object without one is not saved: code -104.
    /// - Parameter password: nil takes it back.
    public func setPassword(_ password: String?, for user: ObjectID) {
        remote.setPassword(password, for: user)
    }

    /// Changes the fetch policy of the store with the reachability of the server: now if it is known, and at each change.
    ///
    ///     stack.followReachability { $0 == .reachable ? .networkElseCache : .cacheOnly }
    ///
    /// - Parameter policy: The policy to fetch by; nil to leave it as it is. nil in place of the closure ends what another call
    ///   began.
    public func followReachability(
        _ policy: (@Sendable (NetworkReachability.Status) -> FetchPolicy?)?
    ) {
        guard let policy else { return following.withLock { $0 = nil } }
        let apply: @Sendable (NetworkReachability.Status) -> Void = { [weak remote] status in
            if let policy = policy(status) { remote?.fetchPolicy = policy }
        }
        following.withLock { $0 = client.reachability.onChange(apply) }
        let status = client.reachability.status
        if status != .unknown { apply(status) }
    }
}
