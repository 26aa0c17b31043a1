import Foundation
import StrataStore

/// A store with its model and classes, and the contexts on it.
///
///     let container = try PersistentContainer(GazetteerModel.self, at: .file(path: "gazetteer.sqlite"))
///     let context = container.viewContext
///     let cities = try context.fetch(City.where { $0.population > 1_000_000 })
///
/// Open one container for each store when your app starts, and keep it. It is safe to send anywhere; its contexts are not.
/// Opening creates the file if there is none, and migrates it to the model if nothing is lost by that; see
/// ``SQLiteStore/Options``.
///
/// Which context you need depends on where you are: ``viewContext`` on the main actor, ``newBackgroundContext()`` or
/// ``performBackgroundTask(_:)`` for work away from it, ``newContext(automaticallyMergesChanges:reading:)`` in an actor or task
/// of yours, and ``read(from:_:)`` and ``write(_:)`` for the requests of a server. Contexts share a cache of rows, and a commit
/// of one reaches those that merge changes.
///
/// Contexts keep the store open; they do not need the container. ``close()`` closes the store for all of them.
public final class PersistentContainer: Sendable {
    /// The context of the main actor: for user interfaces and simple programs.
    ///
    ///     let cities = try await container.viewContext.fetch(City.where { $0.population > 1_000_000 })
    ///     cities.first?.note = "largest"
    ///     try await container.viewContext.save()
    ///
    /// Views can observe its objects. It merges the saves of other contexts by itself, as soon as the main actor is free;
    /// pending changes stay on top. With `await`, fetches and saves do not block the main thread; reading a property of a fault
    /// does, so prefetch what you show.
    ///
    /// It is created when you first use it, and released with the container unless you keep it.
    @MainActor public var viewContext: ManagedObjectContext {
        if let mainContext { return mainContext.takeUnretainedValue() }
        let context = makeViewContext()
        mainContext = .passRetained(context)
        return context
    }
    // Created at its first use: in a program that does not use it and whose main thread never returns to the main
    // actor, the notices of saves would accumulate. Reached only through ``viewContext``, and so only on the main
    // actor; released there, too, because others may drop the last reference to the container while the main actor
    // still works with objects of the context.
    private nonisolated(unsafe) var mainContext: Unmanaged<ManagedObjectContext>?
    let coordinator: StoreCoordinator
    /// The merge policy of new contexts of this container; ``MergePolicy/error`` unless you set another one.
    ///
    ///     container.defaultMergePolicy = .objectWinsByProperty
    ///
    /// Contexts that exist already keep theirs, so set it right after you open the container; ``viewContext`` counts as
    /// existing once it has been used. A context that ``ManagedObjectContext/makeChild()`` creates starts with the policy of
    /// its parent.
    public var defaultMergePolicy: MergePolicy {
        get { policy.withLock(\.self) }
        set { policy.withLock { $0 = newValue } }
    }
    private let policy = Guarded(MergePolicy.error)
    /// Called each time the use of a property reads the store, in any context that is made afterwards: a fault is filled, or
    /// a relationship is loaded that was not prefetched. For development; nil unless you set it.
    ///
    ///     container.onUnplannedLoad = { print($0) }
    public var onUnplannedLoad: (@Sendable (UnplannedLoad) -> Void)? {
        get { loadHandler.withLock(\.self) }
        set { loadHandler.withLock { $0 = newValue } }
    }
    private let loadHandler = Guarded<(@Sendable (UnplannedLoad) -> Void)?>(nil)
    private let writes: WriteLane
    private let readers = WorkerPool(label: "strata.reads", width: 4)
    let workers = WorkerPool(label: "strata.tasks", width: 8)

    /// Opens a SQLite store for a generated model.
    ///
    ///     var options = SQLiteStore.Options()
    ///     options.busyTimeout = 10
    ///     let container = try PersistentContainer(GazetteerModel.self, at: .file(path: "cities.sqlite"), options: options)
    ///     let forTests = try PersistentContainer(GazetteerModel.self, at: .memory(name: nil))
    ///
    /// The call blocks the thread until the store is open. That is quick, unless the file must be migrated: call it away from
    /// the main thread then, or show the progress that ``MigrationOptions/onProgress`` reports.
    /// - Parameters:
    ///   - model: The type that the generator wrote for the model file.
    ///   - location: The file, or memory.
    ///   - options: Timeouts, migration, history, tracing and so on.
    /// - Throws: ``PersistenceError/store(_:)`` if the store cannot be opened or migrated,
    ///   ``PersistenceError/classMismatch(entity:className:reason:)`` if the classes were generated for another model.
    public convenience init<M: GeneratedModel>(
        _ model: M.Type, at location: SQLiteStore.Location, options: SQLiteStore.Options = .init()
    ) throws(PersistenceError) {
        try self.init(model: model.model, classes: model.classes, at: location, options: options)
    }

    /// Opens a SQLite store for a model that you declare in Swift.
    ///
    ///     let model = try ManagedObjectModel(name: "Notes") {
    ///         Entity("Note") { Attribute("text", .string) }
    ///     }
    ///     let container = try PersistentContainer(model: model, at: .file(path: "notes.sqlite"))
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - classes: Classes of entities, recognized by their `entityName`. Entities without one have ``ManagedObject`` itself.
    ///   - location: The file, or memory.
    ///   - options: Timeouts, migration, history, tracing and so on.
    /// - Throws: ``PersistenceError/store(_:)`` if the store cannot be opened or migrated,
    ///   ``PersistenceError/classMismatch(entity:className:reason:)`` for a class whose entity the model does not have.
    public convenience init(
        model: ManagedObjectModel, classes: [ManagedObject.Type] = [], at location: SQLiteStore.Location,
        options: SQLiteStore.Options = .init()
    ) throws(PersistenceError) {
        let store: SQLiteStore
        do throws(StoreError) {
            store = try SQLiteStore.open(model: model, location: location, options: options)
        } catch {
            throw .store(error)
        }
        try self.init(store: store, classes: classes)
    }

    /// Creates a container on a store that you have opened: one of another kind, or a SQLite store that you also use directly.
    ///
    ///     let store = try SQLiteStore.open(model: GazetteerModel.model, location: .memory(name: nil))
    ///     let container = try PersistentContainer(store: store, classes: GazetteerModel.classes)
    ///
    /// - Parameters:
    ///   - store: The store, whose model the container takes.
    ///   - classes: Classes of entities, recognized by their `entityName`. Entities without one have ``ManagedObject`` itself.
    /// - Throws: ``PersistenceError/classMismatch(entity:className:reason:)`` if a class does not fit the model of the store.
    public init(store: any PersistentStore, classes: [ManagedObject.Type] = []) throws(PersistenceError) {
        coordinator = try StoreCoordinator(store: store, classes: classes)
        writes = WriteLane(isAtomic: coordinator.set == nil)
    }

    @MainActor private func makeViewContext() -> ManagedObjectContext {
        let context = makeContext(name: "view", observesObjects: true)
        context.automaticallyMergesChanges = true
        let boundary = MainActorBoundary(context)
        context.core.inbox.setOnFirstPost { boundary.schedule() }
        // Views of the context are notified of edits as soon as the main actor is free.
        context.core.settings.onFirstChange = { boundary.schedule() }
        return context
    }

    deinit {
        guard let mainContext else { return }
        nonisolated(unsafe) let context = mainContext
        Task { @MainActor in context.release() }
    }

    /// The store. In a container with several stores, this is all of them as one, which passes each call to the store of the
    /// entity; see ``store(forConfiguration:)`` for a single one.
    public var store: any PersistentStore { coordinator.store }
    /// The model of the store, with entities, attributes and relationships as they were checked.
    public var model: ManagedObjectModel { coordinator.model }

    /// Creates a context for the caller's isolation: an actor of yours keeps it in a property, a task in a variable.
    ///
    ///     actor Registry {
    ///         private let context: ManagedObjectContext
    ///         init(_ container: PersistentContainer) { context = container.newContext() }
    ///
    ///         func name(of id: String) throws -> String? { try context.find(City.self, id)?.name }
    ///     }
    ///
    /// Creating a context is cheap and reads nothing. Without automatic merging, objects keep what they have read, and a save
    /// of what others have changed meanwhile is a conflict; that suits a unit of work with a clear end. A context that you keep
    /// for long, or that shows live results, should merge.
    ///
    /// - Parameters:
    ///   - automaticallyMergesChanges: Whether saves of other contexts are merged at boundaries; see
    ///     ``ManagedObjectContext/automaticallyMergesChanges``.
    ///   - source: Whether it may read copies of the store; see ``ManagedObjectContext/readSource``.
    public func newContext(
        automaticallyMergesChanges: Bool = false, reading source: ReadSource = .primary
    ) -> sending ManagedObjectContext {
        let context = makeContext(name: nil, reading: source)
        context.automaticallyMergesChanges = automaticallyMergesChanges
        return context
    }

    private func makeContext(
        name: String?, observesObjects: Bool = false, reading source: ReadSource = .primary
    ) -> sending ManagedObjectContext {
        var settings = ContextSettings(
            merging: MergeRules(defaultMergePolicy), observesObjects: observesObjects, name: name,
            onUnplannedLoad: onUnplannedLoad)
        if source == .replica { settings.replica = coordinator.replicaSource(isFresh: true) }
        return ManagedObjectContext(coordinator: coordinator, parent: nil, settings: settings)
    }

    /// Creates a context on a serial queue of its own, which merges the saves of other contexts.
    ///
    ///     let background = container.newBackgroundContext()
    ///     let names = try await background.perform { try $0.fetch(FetchRequest<City>(limit: 10)).map(\.name) }
    ///
    /// Keep it for repeated work, such as a synchronization that remembers objects between two steps. Each one has a queue, and
    /// its pending changes are dropped when you release it. For a single piece of work, use ``performBackgroundTask(_:)``.
    public func newBackgroundContext() -> BackgroundContext {
        let context = makeContext(name: "background")
        context.automaticallyMergesChanges = true
        return BackgroundContext(context)
    }

    /// Runs a closure on another thread, in a context made for it. Changes that the closure does not save are dropped.
    ///
    ///     try await container.performBackgroundTask { context in
    ///         for city in try context.fetch(City.where { $0.note != nil }) { city.note = nil }
    ///         try context.save()
    ///     }
    ///
    /// Use it for an import, an export or a bulk operation. The closure is synchronous, so call the blocking methods of the
    /// context; they block none of Swift's cooperative threads. You may start any number of tasks; up to eight of them run at
    /// the same time, and the others wait in order. The save may conflict with those of other contexts as usual; see
    /// ``MergePolicy``.
    /// - Returns: The result of the closure, which must be `Sendable`: an ID or a value, not an object.
    /// - Throws: The error of the closure.
    @discardableResult
    public func performBackgroundTask<R: Sendable, E: Error>(
        _ body: @escaping @Sendable (ManagedObjectContext) throws(E) -> R
    ) async throws(E) -> R {
        try await workers.run { () throws(E) in try body(self.makeContext(name: "background")) }
    }

    // MARK: Requests

    /// Runs a closure that reads, on another thread, in a context made for it: for the requests of a server.
    ///
    ///     let names = try await container.read { context in
    ///         try context.fetch(City.where { $0.population > 1_000_000 }.limit(20)).map(\.name)
    ///     }
    ///
    /// Up to four reads run at the same time, and the others wait in order. Each sees the commits that came before it, and none
    /// sees the unsaved changes of another context. Changes that the closure makes are dropped.
    ///
    /// With ``ReadSource/replica``, it sees the commits of this process that came before it, and those of others as far as the
    /// copy of the store that answers has them:
    ///
    ///     let count = try await container.read(from: .replica) { context in
    ///         try context.count(City.where { $0.population > 1_000_000 })
    ///     }
    ///
    /// - Parameters:
    ///   - source: Whether copies of the store may be read; see ``ManagedObjectContext/readSource``.
    ///   - body: Reads, and returns something `Sendable`: values, IDs or ``FrozenObject``s.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure.
    public func read<R: Sendable, E: Error>(
        from source: ReadSource = .primary, _ body: @escaping @Sendable (ManagedObjectContext) throws(E) -> R
    ) async throws(E) -> R {
        try await readers.run { () throws(E) in try body(self.makeContext(name: "read", reading: source)) }
    }

    /// Runs a closure that writes, on another thread, and saves its changes: for the requests of a server.
    ///
    ///     let id = try await container.write { context in
    ///         Continent(context: context, continentId: "SA", name: "South America").objectID
    ///     }
    ///
    /// The call returns when the changes are durable. Writes run one after the other, so that they never conflict with each
    /// other. Those that wait at the same moment share one transaction, yet each succeeds or fails on its own: if a closure
    /// throws, or its changes do not pass validation, nothing of it is saved, and nothing of it is left for the next one.
    ///
    /// A closure may run more than once, so it must have no effect besides its changes and its result. It need not call `save()`.
    /// If the shared transaction fails, each of its closures runs again in a transaction of its own. Under ``MergePolicy/error``,
    /// a closure whose objects another context or process changes or deletes meanwhile runs again and sees the new values, up to
    /// ten times.
    ///
    /// The context is a child of the one that saves, so bulk operations and ``ManagedObjectContext/pin(for:)`` throw in it; use
    /// ``performBackgroundTask(_:)`` for these.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure, or that of the save; see ``ManagedObjectContext/save()``.
    @discardableResult
    public func write<R: Sendable>(
        _ body: @escaping @Sendable (ManagedObjectContext) throws -> R
    ) async throws -> R {
        try await writes.run(body) { self.makeContext(name: "write") }
    }

    /// The ID of an object by its URI, for instance one that you have kept in settings or received from another process.
    ///
    ///     let uri = city.objectID.uri
    ///     if let id = container.objectID(for: uri) { print(try context.existingObject(City.self, with: id).name) }
    ///
    /// Nothing is read, so the object need not exist any longer.
    /// - Returns: nil if it is not a URI of an object of this container's stores and model.
    public func objectID(for uri: URL) -> ObjectID? {
        guard let id = ObjectID(uri: uri, model: model),
            id.storeIdentifier == coordinator.bindings[id.entity.index].storeIdentifier
        else { return nil }
        return id
    }

    /// Copies the store to a new file, as it is at one moment, while contexts and other processes read and write it.
    ///
    ///     let report = try await container.backUp(to: "backups/2026-11-25.sqlite")
    ///     print("\(report.fileSize) bytes, \(report.externalCount) files")
    ///
    /// The work is done on another thread; see `SQLiteStore.backUp(to:)`. Unsaved changes are not in the copy.
    /// - Parameters:
    ///   - path: A path at which there is no file yet, in a folder that exists.
    ///   - configuration: The configuration whose store is copied, in a container with several stores. The copies of several
    ///     stores are of several moments.
    /// - Throws: ``PersistenceError/store(_:)`` with the reason, `StoreError.unsupported(store:feature:)` if the store is not in
    ///   SQLite, or if there are several and none is named; ``PersistenceError/invalidStores(model:reasons:)`` if there is no
    ///   such configuration.
    @discardableResult
    public func backUp(
        to path: String, configuration: String? = nil
    ) async throws(PersistenceError) -> BackupReport {
        let store = try configuration.map { (name) throws(PersistenceError) in try existingStore(name) } ?? store
        guard let store = store as? SQLiteStore else {
            throw .store(
                .unsupported(
                    store: store.name,
                    feature: store is StoreSet ? "one backup of several stores; name the configuration" : "backups"))
        }
        return try await workers.run { () throws(PersistenceError) in
            do throws(StoreError) {
                return try store.backUp(to: path)
            } catch {
                throw .store(error)
            }
        }
    }

    /// Closes the store. Contexts fail with ``StoreError/closed(path:)`` from then on; values that have been read can still be
    /// used.
    ///
    /// You need it only to release the file at a certain moment, before you move or delete it for instance. Otherwise the store
    /// is closed when the container and its contexts have been released. Unsaved changes are not saved.
    public func close() { coordinator.store.close() }
}
