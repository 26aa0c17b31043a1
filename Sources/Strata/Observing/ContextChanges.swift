/// The changes in a context as an asynchronous sequence, boundary by boundary; ``ManagedObjectContext/changes`` returns it.
///
///     let task = Task { @MainActor in
///         for await change in container.viewContext.changes { print(change.updated.count, "objects were edited") }
///     }
///     task.cancel()  // ends the sequence
///
/// Each iterator listens from its creation on, and gets one change for everything since its previous one. The sequence
/// lives where its context lives, and ends when the context is released or the task is cancelled. It cannot fail. For what is
/// committed to the store, by any context or process, there is ``PersistentContainer/changes``; for a list that you show,
/// ``ManagedObjectContext/live(_:sectionedBy:)``.
public struct ContextChanges: AsyncSequence {
    /// What changed.
    public typealias Element = ContextChange
    /// Nothing can fail.
    public typealias Failure = Never

    let context: ManagedObjectContext

    /// Gives the changes one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let buffer: ContextChangeBuffer

        /// The next change; nil once the context or the task is gone.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ContextChange? {
            while true {
                if let change = buffer.take() { return change }
                if buffer.signal.hasEnded { return nil }
                _ = await buffer.signal.wait(isolation: actor)
            }
        }

        /// The next change; nil once the context or the task is gone.
        public mutating func next() async -> ContextChange? { await next(isolation: nil) }
    }

    /// Listens from now on, until the iterator is released.
    public func makeAsyncIterator() -> AsyncIterator {
        let buffer = ContextChangeBuffer()
        context.core.someRecorder.add(buffer)
        return AsyncIterator(buffer: buffer)
    }
}

/// Keeps the changes that a reader has not taken yet, merged into one.
final class ContextChangeBuffer: BoundaryListener {
    let signal = ChangeSignal()
    private var change = ContextChange()

    func boundaryReached(_ changes: BoundaryChanges, _ core: ContextCore) {
        guard !changes.isEmpty else { return }
        let next = ContextChange(changes, core)
        if change.isEmpty { change = next } else { change.append(next) }
    }

    func boundaryPassed() {
        if !change.isEmpty { signal.raise() }
    }

    func contextEnded() { signal.end() }

    func take() -> ContextChange? {
        guard !change.isEmpty else { return nil }
        defer { change = ContextChange() }
        return change
    }
}

extension ManagedObjectContext {
    /// What changes in the context, boundary by boundary: its own edits, what others saved, and what was refreshed or rolled
    /// back.
    ///
    ///     for await change in context.changes {
    ///         for (id, properties) in change.updated { print(id, properties.oldValues) }
    ///     }
    ///
    /// A boundary is the end of a `perform`, a save, a merge of others' commits, a rollback, or a call of
    /// ``processPendingChanges()``. Each iterator listens from its creation on. If you are slow, you get one change for
    /// everything since your last one. It is the net change: an object that was changed and changed back is not in it.
    ///
    /// The sequence ends when the context is released. A context without listeners does no work for it.
    public var changes: ContextChanges { ContextChanges(context: self) }
}
