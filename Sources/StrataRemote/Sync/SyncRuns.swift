import Foundation

/// The work of an engine that is under way: one task at a time, shared by all callers that ask for it.
///
/// `@unchecked Sendable`: all state, that of the runs included, is reached only while the lock is held.
final class SyncRuns: @unchecked Sendable {
    enum Kind: Hashable, Sendable { case push, pull, both }

    typealias Work = Task<Result<SyncReport, SyncError>, Never>

    /// One piece of work. It is cancelled once all its waiting callers are.
    final class Run: @unchecked Sendable {
        let kind: Kind
        fileprivate var task: Work?
        fileprivate var waiters = 1
        /// Whether it has had its last look at the outbox.
        fileprivate var hasPushed = false

        fileprivate init(_ kind: Kind) { self.kind = kind }

        /// What comes of it. The task is there before anybody else sees the run.
        var result: Result<SyncReport, SyncError> {
            get async {
                await task?.value
                    ?? .failure(.remote(RemoteError(.cancelled, domain: "Strata", message: "there is no work")))
            }
        }
    }

    private let lock = NSLock()
    private var current: [Run] = []

    /// Joins the work of a kind, or starts it after what is under way. Work whose push is over is not joined by those
    /// who want to push: they may have saved since.
    func join(_ kind: Kind, _ start: (_ run: Run, _ previous: Run?) -> Work) -> Run {
        lock.withLock {
            if let run = current.first(where: { $0.kind == kind && $0.waiters > 0 && !$0.hasPushed }) {
                run.waiters += 1
                return run
            }
            let run = Run(kind)
            run.task = start(run, current.last)
            current.append(run)
            return run
        }
    }

    /// A caller no longer waits.
    func leave(_ run: Run) {
        lock.withLock {
            run.waiters -= 1
            if run.waiters == 0 { run.task?.cancel() }
        }
    }

    /// The push of some work has found nothing more to send.
    func endPush(_ run: Run) { lock.withLock { run.hasPushed = true } }

    /// The push of some work goes on.
    func reopenPush(_ run: Run) { lock.withLock { run.hasPushed = false } }

    /// Some work has ended.
    func end(_ run: Run) { lock.withLock { current.removeAll { $0 === run } } }
}

/// Reports what an engine does to its listeners.
///
/// `@unchecked Sendable`: all state is reached only with the lock held.
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
        let (stream, continuation) = AsyncStream.makeStream(of: SyncStatus.self, bufferingPolicy: .bufferingNewest(100))
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
        let (stream, continuation) = AsyncStream.makeStream(
            of: SyncResult.self, bufferingPolicy: .bufferingNewest(10_000))
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
