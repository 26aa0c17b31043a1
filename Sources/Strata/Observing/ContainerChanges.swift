import StrataStore

/// The commits to the store of a container as an asynchronous sequence; ``PersistentContainer/changes`` returns it.
///
///     let task = Task {
///         for await change in container.changes where change.isFromElsewhere { print("another process has saved") }
///     }
///     task.cancel()  // ends the sequence
///
/// It can be sent anywhere and listens to all contexts of the container, to servers and to other processes. Each iterator
/// listens from its creation on, and gets one change for everything since its previous one, so a slow reader needs little
/// memory. It cannot fail, and ends only when the task is cancelled. For unsaved edits in one context, there is
/// ``ManagedObjectContext/changes``.
public struct ContainerChanges: AsyncSequence, Sendable {
    /// What was committed.
    public typealias Element = ContainerChange
    /// Nothing can fail.
    public typealias Failure = Never

    let coordinator: StoreCoordinator

    /// Gives the changes one after the other.
    public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
        let buffer: ContainerChangeBuffer

        /// The next change; nil once the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ContainerChange? {
            while true {
                if let change = buffer.take() { return change }
                if buffer.signal.hasEnded { return nil }
                _ = await buffer.signal.wait(isolation: actor)
            }
        }

        /// The next change; nil once the task is cancelled.
        public mutating func next() async -> ContainerChange? { await next(isolation: nil) }
    }

    /// Listens from now on, until the iterator is released.
    public func makeAsyncIterator() -> AsyncIterator {
        let buffer = ContainerChangeBuffer()
        coordinator.listeners.add(buffer)
        coordinator.watchForeignCommits()
        return AsyncIterator(buffer: buffer)
    }
}

/// Keeps the changes that a reader has not taken yet, merged into one.
final class ContainerChangeBuffer: Sendable {
    let signal = ChangeSignal()
    private let change = Guarded<ContainerChange?>(nil)

    func post(_ next: ContainerChange) {
        change.withLock { change in
            if change == nil { change = next } else { change?.append(next) }
        }
        signal.raise()
    }

    func take() -> ContainerChange? {
        change.withLock { change in
            defer { change = nil }
            return change
        }
    }
}

/// The listeners for commits.
final class CommitListeners: Sendable {
    private struct Entry: Sendable {
        weak var buffer: ContainerChangeBuffer?
    }

    private let entries = Guarded<[Entry]>([])

    func add(_ buffer: ContainerChangeBuffer) {
        entries.withLock { entries in
            entries.removeAll { $0.buffer == nil }
            entries.append(Entry(buffer: buffer))
        }
    }

    /// Whether there are listeners.
    var hasListeners: Bool { entries.withLock { $0.contains { $0.buffer != nil } } }

    /// Notifies all listeners of a commit, which is described only if there are any.
    func post(_ change: () -> ContainerChange) {
        let receivers = entries.withLock { entries in
            if entries.isEmpty { return [ContainerChangeBuffer]() }
            entries.removeAll { $0.buffer == nil }
            return entries.compactMap(\.buffer)
        }
        guard !receivers.isEmpty else { return }
        let change = change()
        for receiver in receivers { receiver.post(change) }
    }
}

extension PersistentContainer {
    /// What is committed to the store: by any context of this container, by a server, or by others on the same file.
    ///
    ///     for await change in container.changes where !change.deleted.isEmpty { removeThumbnails(change.deleted) }
    ///
    /// Each iterator listens from its creation on. If you are slow, you get one change for everything since your last
    /// one.
    ///
    /// The system reports commits by other processes: by inotify on Linux, by kqueue on Apple's systems. You are
    /// notified of such a commit within a few milliseconds, as ``ContainerChange/isEverything``. A PostgreSQL store that
    /// records history tells which objects changed, and misses nothing while its connection is lost. The contexts of this
    /// container that merge changes apply it at their next boundary.
    public var changes: ContainerChanges { ContainerChanges(coordinator: coordinator) }
}
