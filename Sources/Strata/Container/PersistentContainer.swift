import Foundation

/// A store with its model and classes, and the contexts on it. Safe to send anywhere.
///
///     let container = try PersistentContainer(GazetteerModel.self, at: .file(path: "gazetteer.sqlite"))
///     let context = container.viewContext
public final class PersistentContainer: Sendable {
    /// The context of the main actor: for user interfaces and simple programs. It takes in the saves of other contexts,
    /// and its objects can be observed.
    @MainActor public var viewContext: ManagedObjectContext {
        if let mainContext { return mainContext.takeUnretainedValue() }
        let context = makeViewContext()
        mainContext = .passRetained(context)
        return context
    }
    // Made when it is first asked for: the saves that it is told of would pile up in a program that has no use for it
    // and whose main thread never comes back to the main actor. Reached through ``viewContext`` alone, and so on the main
    // actor alone; released there, too, because others may drop the last reference to the container while the main actor
    // still works with objects of the context.
    private nonisolated(unsafe) var mainContext: Unmanaged<ManagedObjectContext>?
    let coordinator: StoreCoordinator

    /// Opens a SQLite store.
    /// - Parameters:
    ///   - model: What generated code defines.
    ///   - location: The file, or memory.
    ///   - options: Time-outs, tracing and so on.
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

    /// Works on any store that has been opened.
    /// - Throws: ``PersistenceError/classMismatch(entity:className:reason:)`` if classes do not fit.
    public init(store: any PersistentStore, classes: [ManagedObject.Type] = []) throws(PersistenceError) {
        coordinator = try StoreCoordinator(store: store, classes: classes)
    }

    @MainActor private func makeViewContext() -> ManagedObjectContext {
        let context = ManagedObjectContext(coordinator: coordinator, parent: nil, observesObjects: true)
        context.name = "view"
        context.automaticallyMergesChanges = true
        context.mailbox.setOnFirstPost { [weak self] in
            Task { @MainActor in self?.viewContext.processPendingChanges() }
        }
        return context
    }

    deinit {
        guard let mainContext else { return }
        nonisolated(unsafe) let context = mainContext
        Task { @MainActor in context.release() }
    }

    /// The store.
    public var store: any PersistentStore { coordinator.store }
    /// The model.
    public var model: ManagedObjectModel { coordinator.model }

    /// Makes a context for the caller's isolation: an actor of yours keeps it in a property, a task in a variable.
    /// - Parameter automaticallyMergesChanges: Whether saves of other contexts are taken in at boundaries.
    public func newContext(automaticallyMergesChanges: Bool = false) -> sending ManagedObjectContext {
        let context = ManagedObjectContext(coordinator: coordinator, parent: nil, observesObjects: false)
        context.automaticallyMergesChanges = automaticallyMergesChanges
        return context
    }

    /// Makes a context on a serial queue of its own.
    public func newBackgroundContext() -> BackgroundContext { BackgroundContext(coordinator: coordinator) }

    /// Runs a closure in a background context made for it.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws.
    public func performBackgroundTask<R: Sendable, E: Error>(
        _ body: @Sendable (ManagedObjectContext) throws(E) -> R
    ) async throws(E) -> R {
        try await newBackgroundContext().perform(body)
    }

    /// The ID of an object by its URI.
    /// - Returns: nil if it is no URI of an object of this container's store and model.
    public func objectID(for uri: URL) -> ObjectID? {
        guard let id = ObjectID(uri: uri, model: model), id.storeIdentifier == store.identifier else { return nil }
        return id
    }

    /// Closes the store. Contexts fail with ``StoreError/closed(path:)`` from then on.
    public func close() { coordinator.store.close() }
}
