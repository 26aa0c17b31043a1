import Foundation

/// The work of an engine that is under way: one thing at a time, and the same thing once for all who ask.
///
/// `@unchecked Sendable`: all state is reached with the lock held alone.
final class SyncRuns: @unchecked Sendable {
    enum Kind: Hashable, Sendable { case push, pull, both }

    /// One piece of work. It is cancelled once all who wait for it are.
    final class Run: @unchecked Sendable {
        let kind: Kind
        let task: Task<Result<SyncReport, SyncError>, Never>
        private let lock = NSLock()
        private var waiters = 1

        init(_ kind: Kind, _ task: Task<Result<SyncReport, SyncError>, Never>) {
            self.kind = kind
            self.task = task
        }

        func enter() { lock.withLock { waiters += 1 } }

        func leave() {
            let isLast = lock.withLock {
                waiters -= 1
                return waiters == 0
            }
            if isLast { task.cancel() }
        }
    }

    private let lock = NSLock()
    private var current: [Run] = []

    /// Joins the work of a kind, or starts it behind what is under way.
    func join(_ kind: Kind, _ start: (_ previous: Run?) -> Run) -> Run {
        lock.withLock {
            if let run = current.first(where: { $0.kind == kind && !$0.task.isCancelled }) {
                run.enter()
                return run
            }
            let run = start(current.last)
            current.append(run)
            return run
        }
    }

    /// The oldest work has ended.
    func end(_ kind: Kind) {
        lock.withLock {
            if let index = current.firstIndex(where: { $0.kind == kind }) { current.remove(at: index) }
        }
    }
}

/// Hands on what an engine does to all who want to know.
///
/// `@unchecked Sendable`: all state is reached with the lock held alone.
final class SyncNews: @unchecked Sendable {
    private let lock = NSLock()
    private var current = SyncStatus()
    private var statusListeners: [UUID: AsyncStream<SyncStatus>.Continuation] = [:]
    private var resultListeners: [UUID: AsyncStream<SyncResult>.Continuation] = [:]

    var status: SyncStatus { lock.withLock { current } }

    func update(_ change: (inout SyncStatus) -> Void) {
        lock.withLock {
            let before = current
            change(&current)
            guard current != before else { return }
            for listener in statusListeners.values { listener.yield(current) }
        }
    }

    func post(_ result: SyncResult) {
        lock.withLock { for listener in resultListeners.values { listener.yield(result) } }
    }

    func statuses() -> AsyncStream<SyncStatus> {
        let (stream, continuation) = AsyncStream.makeStream(of: SyncStatus.self)
        let id = UUID()
        lock.withLock {
            statusListeners[id] = continuation
            continuation.yield(current)
        }
        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            _ = lock.withLock { self.statusListeners.removeValue(forKey: id) }
        }
        return stream
    }

    func results() -> AsyncStream<SyncResult> {
        let (stream, continuation) = AsyncStream.makeStream(of: SyncResult.self)
        let id = UUID()
        lock.withLock { resultListeners[id] = continuation }
        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            _ = lock.withLock { self.resultListeners.removeValue(forKey: id) }
        }
        return stream
    }

    deinit {
        for listener in statusListeners.values { listener.finish() }
        for listener in resultListeners.values { listener.finish() }
    }
}
