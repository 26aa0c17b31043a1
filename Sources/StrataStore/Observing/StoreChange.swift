import Foundation

/// A change of a store that no context made, as contexts receive it once it is permanent.
///
///     feed.post(
///         StoreChange(
///             changes: changes, effects: CommitEffects(), previousRows: before,
///             deletedRows: changes.deletes.map { _ in nil }))
///
/// A synchronization makes one for what it has received, and a bulk operation for the rows that it has written. Contexts need
/// the rows of before in order to find out which properties have changed: without them, they could not keep a pending change on
/// top of the new values. ``previousRows`` has one row for each update of ``changes``, and ``deletedRows`` one element for each
/// delete, both in the same order.
public struct StoreChange: Sendable {
    /// What was written.
    public var changes: ChangeSet
    /// What the store did beyond it.
    public var effects: CommitEffects
    /// The rows before the updates of ``changes``, in the same order.
    public var previousRows: [RowReference]
    /// The rows of the deletes of ``changes`` as they were, in the same order; nil where none is known.
    public var deletedRows: [RowReference?]

    /// Describes a change.
    public init(
        changes: ChangeSet, effects: CommitEffects, previousRows: [RowReference], deletedRows: [RowReference?]
    ) {
        self.changes = changes
        self.effects = effects
        self.previousRows = previousRows
        self.deletedRows = deletedRows
    }
}

/// Passes changes that no context made to the contexts of a store.
///
///     let feed = StoreChangeFeed()
///     let observation = feed.observe { change in print(change.changes.updates.count, "updates") }
///
/// A store whose data also change from elsewhere, as those of a mirror, returns one from ``PersistentStore/changes`` and calls
/// ``post(_:)`` after each change that has become permanent. Contexts observe it, and merge at their next boundary. Changes
/// that came through ``PersistentStore/commit(_:)`` are not posted: the container passes those on.
///
/// Handlers run on the thread that posts, one after the other, so they must return soon. Both methods may be called from any
/// thread.
public final class StoreChangeFeed: Sendable {
    private struct State {
        var handlers: [Int: @Sendable (StoreChange) -> Void] = [:]
        var nextNumber = 0
    }

    private let state = Guarded(State())

    /// A feed without listeners.
    public init() {}

    /// Calls a closure after each change, on the thread that made it, for as long as the result is kept.
    public func observe(_ handler: @escaping @Sendable (StoreChange) -> Void) -> StoreObservation {
        let number = state.withLock { state in
            state.nextNumber += 1
            state.handlers[state.nextNumber] = handler
            return state.nextNumber
        }
        return StoreObservation { [weak self] in self?.state.withLock { _ = $0.handlers.removeValue(forKey: number) } }
    }

    /// Calls the handlers of all observers with a change, on this thread.
    public func post(_ change: StoreChange) {
        for handler in state.withLock({ Array($0.handlers.values) }) { handler(change) }
    }
}

/// An observation of a store, which lasts until you release it.
///
///     let observation = store.observeStatements { trace in print(trace.sql) }
///     // As long as `observation` is kept, each statement is printed.
///
/// Methods such as ``PersistentStore/observeForeignCommits(_:)``, ``PersistentStore/observeStatements(_:)`` and
/// `StoreChangeFeed.observe(_:)` return it. Keep it in a property: if you ignore the result, the observation ends
/// immediately. There is no method to end it; set the property to nil. A call that has begun on another thread may still be
/// running then.
///
/// If you write a store, create one with the closure that removes the handler; it runs once, in `deinit`.
public final class StoreObservation: Sendable {
    private let onEnd: @Sendable () -> Void

    /// - Parameter onEnd: Called once, when the observation is released.
    public init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}
