import Foundation
import StrataSQLite
import StrataStore

/// A source of notices that a server has changes: a push message, a socket, a long poll.
///
///     struct PushMessages: ServerChangeFeed {
///         let stream: AsyncStream<Void>
///         func changes() -> AsyncStream<Void> { stream }
///     }
///
///     let (stream, notices) = AsyncStream<Void>.makeStream()
///     let watch = store.synchronizes(with: PushMessages(stream: stream))
///     notices.yield()  // when a message has arrived
///
/// Pass it to `RemoteStore.synchronizes(with:)`; the store then synchronizes after each notice. A notice has no content: the
/// pull finds out what has changed, so a feed may also send one when it has lost its connection. For single messages, such as
/// those of a push service, call ``SyncEngine/serverHasChanges()`` instead.
public protocol ServerChangeFeed: Sendable {
    /// An element each time the server has changes, or may have some because the connection was lost. It ends when nothing more
    /// can come. The reader stops by cancelling its task.
    func changes() -> AsyncStream<Void>
}

/// Synchronizes a store after each notice of a feed, until it is released or cancelled.
///
///     let watch = store.synchronizes(with: feed)
///     // Keep it while the app shows the data.
///     watch.cancel()
///
/// Keep the result of `RemoteStore.synchronizes(with:)` in a property: if you ignore it, the watch ends immediately. It does
/// not keep the store alive. A synchronization that is running when the watch ends goes on; failures are reported by
/// ``SyncEngine/statuses``, and the next notice tries again.
public final class ServerChangeWatch: Sendable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    /// Ends the watch now.
    public func cancel() { task.cancel() }

    deinit { task.cancel() }
}

extension RemoteStore {
    /// Synchronizes whenever a feed says that the server has changes, for as long as the result is kept. How it goes is told by
    /// ``sync``.
    ///
    ///     let watch = store.synchronizes(with: feed)  // keep it
    public func synchronizes(with feed: some ServerChangeFeed) -> ServerChangeWatch {
        let changes = feed.changes()
        return ServerChangeWatch(
            Task { [weak self] in
                for await _ in changes {
                    guard let self else { return }
                    self.sync.serverHasChanges()
                }
            })
    }
}

extension SyncEngine {
    /// Says that the server has changes: a push message has come, for instance. The engine synchronizes soon. However often
    /// you call it meanwhile, there is one synchronization, and one more after it if you called it while that was under way.
    ///
    /// It does not throw: ``statuses`` reports the outcome.
    public func serverHasChanges() {
        guard hints.begin() else { return }
        // The task keeps the engine until the work is done.
        Task(executorPreference: executor) { [self] in
            repeat {
                // A server that has one change often has the next one at once.
                try? await clock.sleep(seconds: options.changeDelay)
                hints.take()
                _ = try? await synchronize()
            } while hints.goesOn()
        }
    }
}

/// What was said of changes at the server, and what of it has been looked at.
final class ChangeHints: Sendable {
    private struct State {
        var isRunning = false
        var isAsked = false
    }

    private let state = Guarded(State())

    /// Something was said.
    /// - Returns: Whether somebody has to look at it.
    func begin() -> Bool {
        state.withLock { state in
            state.isAsked = true
            if state.isRunning { return false }
            state.isRunning = true
            return true
        }
    }

    /// Marks everything that was said until now as handled.
    func take() { state.withLock { $0.isAsked = false } }

    /// Whether something was said meanwhile; if not, the task ends.
    func goesOn() -> Bool {
        state.withLock { state in
            if !state.isAsked { state.isRunning = false }
            return state.isAsked
        }
    }
}
