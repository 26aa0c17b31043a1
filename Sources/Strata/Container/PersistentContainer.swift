import Foundation
import StrataStore

/// A store with its model and classes, and the contexts on it. Safe to send anywhere.
///
///     let container = try PersistentContainer(GazetteerModel.self, at: .file(path: "gazetteer.sqlite"))
///     let context = container.viewContext
public final class PersistentContainer: Sendable {
    /// The context of the main actor: for user interfaces and simple programs. It merges the saves of other contexts,
    /// and its objects can be observed.
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
    /// The merge policy of new contexts of this container; ``MergePolicy/error`` unless you set another one. A context made
    /// by ``ManagedObjectContext/makeChild()`` starts with its parent's.
    ///
    ///     container.defaultMergePolicy = .objectWinsByProperty
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

    /// Opens a SQLite store.
    /// - Parameters:
    ///   - model: What generated code defines.
    ///   - location: The file, or memory.
    ///   - options: Timeouts, tracing and so on.
    /// - Throws: ``PersistenceError/store(_:)`` if the store cannot be opened,
    ///   ``PersistenceError/classMismatch(entity:className:reason:)`` if classes do not fit.
    public convenience init<M: GeneratedModel>(
        _ model: M.Type, at location: SQLiteStore.Location, options: SQLiteStore.Options = .init()
    ) throws(PersistenceError) {
        try self.init(model: model.model, classes: model.classes, at: location, options: options)
    }

    /// Opens a SQLite store for a model that app code declares.
    /// - Parameter classes: Classes of entities, by their `entityName`. Entities without one have ``ManagedObject``
    ///   itself.
    /// - Throws: As the other initializers.
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

    /// Creates a container on a store that you have opened.
    ///
    ///     let store = try SQLiteStore.open(model: GazetteerModel.model, location: .memory(name: nil))
    ///     let container = try PersistentContainer(store: store, classes: GazetteerModel.classes)
    ///
    /// - Throws: ``PersistenceError/classMismatch(entity:className:reason:)`` if classes do not fit.
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

    /// The store; in a container with several, all of them as one, which passes each call to the store of the entity.
    public var store: any PersistentStore { coordinator.store }
    /// The model.
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
    /// - Parameters:
    ///   - automaticallyMergesChanges: Whether saves of other contexts are merged at boundaries.
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

    /// Creates a context on a serial queue of its own.
    ///
    ///     let background = container.newBackgroundContext()
    ///     let names = try await background.perform { try $0.fetch(FetchRequest<City>(limit: 10)).map(\.name) }
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
    /// Any number of tasks may be under way at once; a few of them run at a time.
    /// - Returns: The result of the closure.
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
    /// Several reads run at the same time. Each sees the commits that came before it. Changes that the closure makes are
    /// dropped.
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
    ///   - body: Reads.
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
    /// If the shared transaction fails, each of its closures runs again in a transaction of its own. A closure must therefore
    /// have no effect besides its changes and its result.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure, or that of the save; see ``ManagedObjectContext/save()``.
    @discardableResult
    public func write<R: Sendable>(
        _ body: @escaping @Sendable (ManagedObjectContext) throws -> R
    ) async throws -> R {
        try await writes.run(body) { self.makeContext(name: "write") }
    }

    /// The ID of an object by its URI.
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

    /// Closes the store. Contexts fail with ``StoreError/closed(path:)`` from then on.
    public func close() { coordinator.store.close() }
}
