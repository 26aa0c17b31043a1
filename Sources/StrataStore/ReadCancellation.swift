import Synchronization

/// Cancels a read from another thread: pass it to the store with the read, and call ``cancel()`` on any thread.
///
///     let cancellation = ReadCancellation()
///     // on another thread: cancellation.cancel()
///     let rows = try store.fetch(plan, known: nil, cancellation: cancellation)
public final class ReadCancellation: Sendable {
    private let flag = Atomic<Bool>(false)

    /// A read that goes on until it is cancelled.
    public init() {}

    /// Whether somebody has cancelled.
    public var isCancelled: Bool { flag.load(ordering: .relaxed) }

    /// Stops the read: it throws ``StoreError/cancelled`` soon. Later reads with it do not begin.
    public func cancel() { flag.store(true, ordering: .relaxed) }
}
