import Foundation

/// A context on a serial queue of its own, for work away from the main actor.
///
///     let count = try await background.perform { context in
///         _ = Continent(context: context, continentId: "SA", name: "South America")
///         try context.save()
///         return try context.count(FetchRequest<Continent>())
///     }
///
/// Create one with ``PersistentContainer/newBackgroundContext()`` and keep it for as long as there is work: it keeps its objects
/// between two closures, and closures run one after the other. For a single piece of work,
/// ``PersistentContainer/performBackgroundTask(_:)`` is shorter.
///
/// Objects stay inside of the closures, because they belong to the queue. What goes in and comes out must be `Sendable`: an
/// ``ObjectID``, values, or a ``FrozenObject``. The context merges the commits of other contexts before each closure.
/// Changes that a closure does not save are still pending in the next one.
public actor BackgroundContext {
    private let queue: SerialQueue
    private let context: ManagedObjectContext

    /// The serial queue of the context, as the executor of the actor.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    /// The way to the parent; nil for a context that saves to the store.
    private let parentLink: ParentLink?

    init(_ context: sending ManagedObjectContext, parentLink: ParentLink? = nil) {
        queue = SerialQueue(label: "strata.background-context")
        self.context = context
        self.parentLink = parentLink
    }

    /// Creates a child of this context on a queue of its own; see ``ManagedObjectContext/makeBackgroundChild(isolation:)``. It
    /// keeps this context alive.
    ///
    ///     let child = await background.makeBackgroundChild()
    public func makeBackgroundChild() -> BackgroundContext { context.makeBackgroundChild(isolation: self) }

    /// Runs a closure on the context's queue and waits without blocking a thread.
    ///
    ///     let names = try await background.perform { context in
    ///         try context.fetch(FetchRequest<City>(limit: 10)).map(\.name)
    ///     }
    ///
    /// Before the closure, the context merges the commits of others; after it, listeners are notified of its changes. The closure
    /// is synchronous, so no other closure of the context runs in between. Use the blocking methods of the context in it: only
    /// this queue waits. Changes that the closure does not save stay for the next one.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws.
    public func perform<R: Sendable, E: Error>(
        _ body: @Sendable (ManagedObjectContext) throws(E) -> R
    ) async throws(E) -> R {
        await followParent()
        return try run(body)
    }

    private func run<R: Sendable, E: Error>(
        _ body: @Sendable (ManagedObjectContext) throws(E) -> R
    ) throws(E) -> R {
        context.core.processPendingChanges()
        defer { context.processPendingChanges() }
        return try body(context)
    }

    /// Applies what the parent shows now, if it lives in another isolation domain.
    private func followParent() async {
        guard let parentLink, let state = await parentLink.state() else { return }
        context.core.showParent(state)
    }

    /// Runs a closure that waits for other work, such as the answer of a server, on the context's queue.
    ///
    ///     try await background.perform { context in
    ///         let lines = try await download()
    ///         for line in lines { _ = Continent(context: context, continentId: line.id, name: line.name) }
    ///         try await context.save()
    ///     }
    ///
    /// While the closure waits, other closures of the same context may run; they see its unsaved changes, and a save of theirs
    /// includes them. Wait before you change objects, or make a context for the work with
    /// ``PersistentContainer/newBackgroundContext()``.
    /// - Returns: The result of the closure.
    /// - Throws: The error of the closure.
    public func perform<R: Sendable, E: Error>(
        _ body: nonisolated(nonsending) @Sendable (ManagedObjectContext) async throws(E) -> R
    ) async throws(E) -> R {
        await followParent()
        context.core.processPendingChanges()
        defer { context.processPendingChanges() }
        return try await body(context)
    }

    /// Runs a closure on the context's queue and blocks the calling thread until it has ended.
    ///
    ///     let count = try background.performAndWait { try $0.count(FetchRequest<City>()) }
    ///
    /// Use it in synchronous code that is not on the main thread; in `async` code, call `perform`. Calls from within a closure of
    /// the same context run immediately.
    ///
    /// A child of a context in another isolation domain does not look at its parent here, so that two that wait never wait for
    /// each other: it shows the parent as it was at the last `perform`, and cannot save.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws.
    public nonisolated func performAndWait<R: Sendable, E: Error>(
        _ body: @Sendable (ManagedObjectContext) throws(E) -> R
    ) throws(E) -> R {
        let result: Result<R, E> = queue.sync {
            self.assumeIsolated { isolated in
                do throws(E) {
                    return .success(try isolated.run(body))
                } catch {
                    return .failure(error)
                }
            }
        }
        return try result.get()
    }
}

/// A dispatch queue as the executor of an actor.
private final class SerialQueue: SerialExecutor {
    private let queue: DispatchQueue
    private let key = DispatchSpecificKey<Bool>()

    init(label: String) {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: key, value: true)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

    /// Runs work on the queue, immediately if the caller is on it already.
    func sync<R>(_ body: () -> R) -> R {
        DispatchQueue.getSpecific(key: key) == true ? body() : queue.sync(execute: body)
    }
}
