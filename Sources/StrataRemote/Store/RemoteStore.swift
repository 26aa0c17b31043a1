import Foundation
import StrataSQLite
import StrataStore

/// A store that mirrors a back end: objects that were read or saved are in a SQLite file; others are loaded over the network.
///
///     let store = try RemoteStore.open(
///         model: model, backend: backend, location: .file(path: "cities.sqlite"))
///     let container = try PersistentContainer(store: store, classes: [City.self, Country.self])
///     let cities = try await container.viewContext.fetch(FetchRequest<City>())
///
/// Contexts read the mirror; their asynchronous methods first fill it, following the ``FetchPolicy``. A save goes to the server
/// first, or waits in the mirror, following the ``SavePolicy``; ``sync`` sends what waits, and receives what others have
/// changed. Their synchronous methods refuse work that needs the network, with ``StoreError/needsNetwork(store:what:)``, unless
/// ``Options/waitsForNetwork`` is set.
///
/// A mirror belongs to one back end, one account and one process. Use a file for each user, or call ``SyncEngine/reset()`` when
/// another user logs in. Each entity needs a primary key. Relationships may lead to objects of which only the key is known:
/// load them with `ManagedObjectContext.load(_:of:)` or a prefetch.
public final class RemoteStore: NetworkStore {
    /// How a store is opened, and its defaults for requests without options.
    ///
    ///     var options = RemoteStore.Options()
    ///     options.fetchPolicy = .cacheElseNetwork
    ///     options.savePolicy = .cacheOnly
    ///     options.pushesAutomatically = true
    ///     let store = try RemoteStore.open(
    ///         model: model, backend: backend, location: .file(path: "cities.sqlite"), options: options)
    public struct Options: Sendable {
        /// Where fetches look.
        public var fetchPolicy = FetchPolicy.networkElseCache
        /// Where saves write.
        public var savePolicy = SavePolicy.networkThenCache
        /// How requests are made.
        public var request = RequestOptions()
        /// Whether results of the network are kept in the mirror beyond what contexts need.
        public var cachesResults = true
        /// Whether work that the server cannot do may be done here, which may read more than the result.
        public var finishesLocally = false
        /// Whether synchronous methods that need the network block until it has answered. While the main thread waits,
        /// network code that needs the main actor cannot run.
        public var waitsForNetwork = false
        /// Whether a save to the mirror starts a push of the waiting changes. ``RemoteStore/sync`` reports its
        /// progress; changes that fail keep waiting.
        public var pushesAutomatically = false
        /// How ``RemoteStore/sync`` works.
        public var sync = SyncOptions()
        /// How the mirror is opened.
        public var mirror = SQLiteStore.Options()
        /// What a single fetch asks for in addition to its plan.
        var extras = FetchExtras()

        /// The defaults.
        public init() {}
    }

    /// What is mirrored.
    public let backend: any RemoteBackend
    /// Whether synchronous forms wait for the network.
    public let waitsForNetwork: Bool
    /// The objects that are here.
    package let mirror: Mirror
    private let settings: Guarded<Options>
    let file: MirrorFile?
    let surroundings: Surroundings
    /// Sends what waits in the mirror, and applies what has changed at the back end.
    public let sync: SyncEngine

    /// Opens a store, or makes it where there is none. Nothing is sent.
    ///
    ///     let service = HTTPBackend(dialect: dialect, transport: URLSessionTransport())
    ///     let store = try RemoteStore.open(model: model, backend: service, location: .file(path: "cities.sqlite"))
    ///
    /// The mirror of an earlier version of the model is migrated without questions: removed entities and properties are
    /// dropped, and the next pull reads what is new. Waiting changes are kept. A mirror in memory is empty in each launch, and
    /// loses waiting changes at the end of the process.
    /// - Parameters:
    ///   - model: The model. Every entity needs a primary key by the convention.
    ///   - backend: What is mirrored.
    ///   - location: Where the mirror is. It belongs only to this back end and account.
    ///   - options: Defaults for requests without options.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` for a model that the back end or a mirror cannot keep, naming
    ///   entity and property; ``StoreError/locked(path:)`` if another store has the mirror open, in this process or in another
    ///   one; everything else as ``SQLiteStore/open(model:location:options:)``.
    public static func open(
        model: ManagedObjectModel, backend: any RemoteBackend, location: SQLiteStore.Location,
        options: Options = .init()
    ) throws(StoreError) -> RemoteStore {
        try open(model: model, backend: backend, location: location, options: options, surroundings: Surroundings())
    }

    /// As ``open(model:backend:location:options:)``.
    /// - Parameter surroundings: Time, chance and threads.
    package static func open(
        model: ManagedObjectModel, backend: any RemoteBackend, location: SQLiteStore.Location, options: Options,
        surroundings: Surroundings
    ) throws(StoreError) -> RemoteStore {
        do throws(RemoteError) {
            try backend.check(model)
        } catch {
            throw .unsupported(store: backend.name, feature: "the model \(model.name): \(error.message)")
        }
        let file =
            options.mirror.isReadOnly
            ? nil : try MirrorFile.take(location, model: model, creating: options.mirror.createIfMissing)
        let mirror = try Mirror.open(
            model: model, location: location, options: options.mirror,
            server: ServerHabits(
                assigning: backend.capabilities.assigning(in: model),
                remembersWrites: backend.capabilities.features.contains(.idempotencyTokens)),
            now: { surroundings.clock.now.addingTimeInterval(backend.clockOffset) })
        if !options.mirror.isReadOnly {
            try mirror.purgePassing()
            try mirror.purgeFiles()
        }
        return RemoteStore(
            mirror: mirror, backend: backend, options: options, file: file, surroundings: surroundings)
    }

    private init(
        mirror: Mirror, backend: any RemoteBackend, options: Options, file: MirrorFile?, surroundings: Surroundings
    ) {
        self.file = file
        self.surroundings = surroundings
        self.mirror = mirror
        self.backend = backend
        waitsForNetwork = options.waitsForNetwork
        settings = Guarded(options)
        sync = SyncEngine(
            mirror: mirror, backend: backend, options: options.sync, clock: surroundings.clock,
            random: surroundings.random, executor: surroundings.executor)
        sync.settling.withLock { settling in
            settling = { [weak self] (object) async throws(SyncError) in try await self?.settleOnline(object) }
        }
    }

    /// Where fetches look by default. You can change it at any time, when the network comes and goes for instance. It applies
    /// to fetches that begin afterwards, and ``RemoteOptions/fetchPolicy`` of a request overrides it.
    ///
    ///     store.fetchPolicy = .cacheOnly  // the user has turned the network off
    public var fetchPolicy: FetchPolicy {
        get { settings.withLock(\.fetchPolicy) }
        set { settings.withLock { $0.fetchPolicy = newValue } }
    }

    /// Where saves write by default. You can change it at any time. ``RemoteOptions/savePolicy`` of a save overrides it.
    ///
    ///     store.savePolicy = .cacheOnly
    ///     try await context.save()  // waits in the outbox
    ///     try await store.sync.push()
    public var savePolicy: SavePolicy {
        get { settings.withLock(\.savePolicy) }
        set { settings.withLock { $0.savePolicy = newValue } }
    }

    /// What a request says, and the store where it does not.
    func options(_ request: (any StoreRequestOptions)?) -> Options {
        var result = settings.withLock { $0 }
        guard let request = request as? RemoteOptions else { return result }
        result.fetchPolicy = request.fetchPolicy ?? result.fetchPolicy
        result.savePolicy = request.savePolicy ?? result.savePolicy
        result.request = request.request ?? result.request
        result.cachesResults = request.cachesResults ?? result.cachesResults
        result.finishesLocally = request.finishesLocally ?? result.finishesLocally
        result.extras = FetchExtras(request)
        return result
    }

    /// Asks the back end.
    func ask(_ operation: RemoteOperation, _ options: Options) async throws(StoreError) -> RemoteAnswer {
        do throws(RemoteError) {
            return try await backend.perform(operation, options: options.request)
        } catch {
            throw StoreError(error)
        }
    }

    // MARK: Secrets

    /// Sets a value that is sent with the next save of an object to the back end and is never kept here: the password of a new
    /// user. It is held in memory until then.
    ///
    ///     let user = User(context: context, username: "ann")
    ///     store.setSecret(password, named: "password", for: user.objectID)
    ///     try await context.save()
    ///
    /// If the object waits in the mirror and the process ends before it is sent, the next push reports the change as failed,
    /// with an error of the kind ``RemoteError/Kind/missingSecret``. Set the secret again, and call ``SyncEngine/retry(_:)``.
    /// An object of an entity that the store does not have stops the program.
    /// - Parameters:
    ///   - secret: The value; nil removes it.
    ///   - name: The back end's name for the value.
    ///   - object: The ID of the object.
    public func setSecret(_ secret: String?, named name: String, for object: ObjectID) {
        // In a container with several stores, entities have other positions.
        guard let entity = model.entity(named: object.entity.name) else {
            preconditionFailure(
                "\(self.name) has no entity \(object.entity.name): set the secret at the store that keeps it")
        }
        mirror.secrets.set(secret, name, RowIdentity(entityIndex: entity.rootIndex, key: object.key))
    }

    /// Sets the password of a user object; see ``setSecret(_:named:for:)``.
    public func setPassword(_ password: String?, for user: ObjectID) {
        setSecret(password, named: "password", for: user)
    }
}
