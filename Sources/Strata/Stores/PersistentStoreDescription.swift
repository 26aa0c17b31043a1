import StrataSQLite

/// A store that a container opens, and which entities it keeps.
///
///     let container = try PersistentContainer(TravelModel.self, stores: [
///         PersistentStoreDescription(configuration: "Places", at: .file(path: "places.sqlite")),
///         PersistentStoreDescription(at: .file(path: "visits.sqlite")),
///     ])
///
/// Use descriptions if your entities are in several stores: data that you ship and data of the user, a store on disk and one in
/// memory, a local one and the mirror of a server. For one SQLite file,
/// ``PersistentContainer/init(_:at:options:)`` is enough.
///
/// The configurations come from the model file. Each entity must be kept by exactly one store; at most one description is
/// without a configuration and keeps the rest. Relationships cannot cross stores; ``ObjectReference`` can.
public struct PersistentStoreDescription: Sendable {
    /// The configuration of the model whose entities the store keeps; nil for the store of all entities that no other store
    /// keeps.
    public let configuration: String?
    /// The file, if it is known.
    let path: String?
    let open: @Sendable (ManagedObjectModel) throws(StoreError) -> any PersistentStore

    /// The name of the configuration in messages.
    var name: String { configuration ?? ModelConfiguration.defaultName }

    /// Describes a SQLite store.
    /// - Parameters:
    ///   - configuration: The configuration of the model; nil for all entities that no other store keeps.
    ///   - location: The file, or memory. Two stores cannot share a file.
    ///   - options: Timeouts, tracing, migration and so on, for this store.
    public init(
        configuration: String? = nil, at location: SQLiteStore.Location, options: SQLiteStore.Options = .init()
    ) {
        self.configuration = configuration
        if case .file(let path) = location { self.path = path } else { path = nil }
        open = { (model) throws(StoreError) in
            try SQLiteStore.open(model: model, location: location, options: options)
        }
    }

    /// A store of another kind.
    ///
    ///     import StrataCoreData
    ///
    ///     let description = PersistentStoreDescription(configuration: "Notes") { (model) throws(StoreError) in
    ///         try CoreDataStore.open(path: "Notes.sqlite", as: model)
    ///     }
    ///
    /// A remote store is opened in the same way; see `SeveralStores.md`.
    /// - Parameters:
    ///   - configuration: The configuration of the model; nil for all entities that no other store keeps.
    ///   - open: Opens the store. It is given a model with only the entities that the store keeps. The store's own model may
    ///     have more entities, but must describe these in the same way.
    public init(
        configuration: String? = nil,
        open: @escaping @Sendable (ManagedObjectModel) throws(StoreError) -> any PersistentStore
    ) {
        self.configuration = configuration
        path = nil
        self.open = open
    }
}
