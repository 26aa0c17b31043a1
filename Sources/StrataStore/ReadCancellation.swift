import Synchronization

/// A switch that cancels a read or a migration from another thread.
///
///     let cancellation = ReadCancellation()
///     // on another thread: cancellation.cancel()
///     let rows = try store.fetch(plan, known: nil, cancellation: cancellation)
///
/// Pass it to the store with the read, or set ``MigrationOptions/cancellation``, and call ``cancel()`` on any thread. The call
/// that is running throws ``StoreError/cancelled`` soon, and the store is as good as before. A migration leaves the file
/// unchanged.
///
/// You need it only if you call a store yourself. The `async` methods of contexts make one, and cancel it when their task is
/// cancelled. It cannot be reset: create another one for the next read.
public final class ReadCancellation: Sendable {
    private let flag = Atomic<Bool>(false)

    /// A read that goes on until it is cancelled.
    public init() {}

    /// Whether ``cancel()`` has been called.
    public var isCancelled: Bool { flag.load(ordering: .relaxed) }

    /// Stops the read: it throws ``StoreError/cancelled`` soon. Later reads with it do not begin.
    public func cancel() { flag.store(true, ordering: .relaxed) }
}
