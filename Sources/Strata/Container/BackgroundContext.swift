import Foundation

/// A context on a serial queue of its own. Objects stay inside of the closures: arguments and results must be
/// `Sendable`.
///
///     let count = try await background.perform { context in
///         _ = City(context: context, cityId: "3936456", name: "Lima", country: peru)
///         try context.save()
///     }
public actor BackgroundContext {
    private let queue: SerialQueue
    private let context: ManagedObjectContext

    /// The queue that everything of this context runs on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    init(_ context: sending ManagedObjectContext) {
        queue = SerialQueue(label: "strata.background-context")
        self.context = context
    }

    /// Runs a closure on the context's queue and waits without blocking. Changes that the closure does not save stay
    /// for the next one.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws.
    public func perform<R: Sendable, E: Error>(
        _ body: @Sendable (ManagedObjectContext) throws(E) -> R
    ) throws(E) -> R {
        context.core.processPendingChanges()
        defer { context.processPendingChanges() }
        return try body(context)
    }

    /// Runs a closure that waits for other work, such as the answer of a server, on the context's queue.
    ///
    ///     try await background.perform { context in
    ///         for story in try await feed.latest() {
    ///             _ = Article(context: context, articleId: story.id, title: story.title)
    ///         }
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
        context.core.processPendingChanges()
        defer { context.processPendingChanges() }
        return try await body(context)
    }

    /// Runs a closure on the context's queue and blocks the calling thread until it has ended. Calls from within a
    /// closure of the same context run immediately.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws.
    public nonisolated func performAndWait<R: Sendable, E: Error>(
        _ body: @Sendable (ManagedObjectContext) throws(E) -> R
    ) throws(E) -> R {
        let result: Result<R, E> = queue.sync {
            self.assumeIsolated { isolated in
                do throws(E) {
                    return .success(try isolated.perform(body))
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
