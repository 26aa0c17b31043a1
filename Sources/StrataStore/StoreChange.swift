import Foundation

/// A change of a store that no context made, as contexts hear of it once it is permanent.
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

/// Hands the changes of a store on to everybody who wants to hear of them.
///
/// `@unchecked Sendable`: the handlers are reached with the lock held alone.
public final class StoreChangeFeed: @unchecked Sendable {
    private let lock = NSLock()
    private var handlers: [Int: @Sendable (StoreChange) -> Void] = [:]
    private var nextNumber = 0

    /// A feed that nobody listens to.
    public init() {}

    /// Calls a closure after each change, on the thread that made it, for as long as the result is kept.
    public func observe(_ handler: @escaping @Sendable (StoreChange) -> Void) -> StoreObservation {
        let number = lock.withLock {
            nextNumber += 1
            handlers[nextNumber] = handler
            return nextNumber
        }
        return StoreObservation { [weak self] in
            guard let self else { return }
            _ = lock.withLock { self.handlers.removeValue(forKey: number) }
        }
    }

    /// Tells all of a change.
    public func post(_ change: StoreChange) {
        for handler in lock.withLock({ Array(handlers.values) }) { handler(change) }
    }
}

/// Listens to a ``StoreChangeFeed`` until it goes.
public final class StoreObservation: Sendable {
    private let onEnd: @Sendable () -> Void

    init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}
