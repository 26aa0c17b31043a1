import StrataStore

/// Managed objects on a MaxLeap or Parse server: a client, and the store that mirrors what it reads and saves.
///
///     let stack = try MaxLeapStore.open(model: model, client: client, location: .file(path: "posts.sqlite"))
///     let container = try PersistentContainer(store: stack.remote, classes: [Post.self])
///     try await stack.sync.synchronize()
///
/// The primary key of an entity is the server's `objectId`. A new object has a key that is made here until it is saved; then
/// the server's takes its place. If the answer to a creation is lost, the server may have two objects, unless the dialect has
/// ``MaxLeapDialect/usesExtensions`` or ``MaxLeapDialect/sendsObjectIds``.
///
/// The mirror belongs to the user who is logged in: give each user a file of their own, or ``reset()`` it when another one logs
/// in.
public final class MaxLeapStore: Sendable {
    /// Logs users in, and makes all requests.
    public let client: MaxLeapClient
    /// The store: what containers are made on, and where policies are set.
    public let remote: RemoteStore

    /// Opens a store, or makes it where there is none. Nothing is sent.
    /// - Parameters:
    ///   - model: The model. The primary key of each entity is a string.
    ///   - client: The application.
    ///   - location: Where the mirror is.
    ///   - options: Policies, and how the mirror is opened.
    /// - Throws: ``StoreError``, of case `unsupported` for a model that the server cannot keep, naming entity and property.
    public static func open(
        model: ManagedObjectModel, client: MaxLeapClient, location: SQLiteStore.Location,
        options: RemoteStore.Options = .init()
    ) throws(StoreError) -> MaxLeapStore {
        let remote = try RemoteStore.open(
            model: model, backend: client.backend(for: model), location: location, options: options)
        return MaxLeapStore(client: client, remote: remote)
    }

    private init(client: MaxLeapClient, remote: RemoteStore) {
        self.client = client
        self.remote = remote
    }

    /// Sends what waits in the mirror, and applies what has changed at the server.
    public var sync: SyncEngine { remote.sync }

    /// Forgets all objects here, with the changes of them that wait: for when another user logs in, before anything is fetched
    /// for that one. The server is told nothing.
    /// - Throws: ``StoreError`` if the mirror cannot be written; nothing is lost.
    public func reset() throws(StoreError) { try remote.sync.reset() }

    /// Sets the password that a new user object is saved with. It is held in memory until then and kept nowhere.
    /// - Parameter password: nil takes it back.
    public func setPassword(_ password: String?, for user: ObjectID) {
        remote.setPassword(password, for: user)
    }
}
