import Foundation
import StrataSQLite
import StrataStore

/// Keeps a mirror in step with a back end: sends what was changed here, and applies what was changed there.
///
///     let report = try await store.sync.synchronize()
///     print(report.received, "objects received,", report.failures.count, "changes refused")
///     for change in try store.sync.failedChanges() { print(change.identity, change.error) }
///
/// Call ``synchronize()`` when the app starts, when the network comes back (`RemoteStore.synchronizes(with:)`) and when the
/// server has news (``serverHasChanges()``). If it is running already, the call joins it. Contexts may work meanwhile, and are
/// notified of the changes as of a save.
///
/// All state is in the mirror's file, written by the transactions that it belongs to: a process that is killed at any point
/// goes on there when it starts again. A change is under way from before its request is sent until its answer is in the mirror.
/// It is sent again under the same name until there is an answer.
public final class SyncEngine: Sendable {
    let mirror: Mirror
    let backend: any RemoteBackend
    /// How it works.
    public let options: SyncOptions
    let clock: any RemoteClock
    /// Numbers from 0 up to 1.
    let random: @Sendable () -> Double
    let executor: (any TaskExecutor)?
    let news = SyncNews()
    private let runs = SyncRuns()
    let hints = ChangeHints()
    /// Waits for the online saves of an object, by topmost entity and key, and finds out what those without an answer have done.
    let settling = Guarded<(@Sendable (RowIdentity) async throws(SyncError) -> Void)?>(nil)

    /// - Parameters:
    ///   - random: Gives numbers from 0 up to 1, for the lengths of waits.
    ///   - executor: Runs the work; nil for the default.
    package init(
        mirror: Mirror, backend: any RemoteBackend, options: SyncOptions = .init(),
        clock: any RemoteClock = SystemClock(),
        random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }, executor: (any TaskExecutor)? = nil
    ) {
        self.mirror = mirror
        self.backend = backend
        self.options = options
        self.clock = clock
        self.random = random
        self.executor = executor
    }

    // MARK: Running

    /// Sends all changes that wait.
    ///
    ///     let report = try await store.sync.push()
    ///     for result in report.failures { print(result.identity, result.action) }
    ///
    /// Referenced objects are sent before those that refer to them, and several in a request if the back end supports that.
    /// Requests that fail for a passing reason are sent again, ``SyncOptions/retries`` times with growing waits, so without a
    /// network the call takes some 25 seconds to fail. A change that the server refuses is set aside, and the push goes on.
    ///
    /// A second call joins one that runs. If all waiting callers are cancelled, it stops at the next step.
    /// - Returns: The outcome of each change; changes that the server refused are in ``SyncReport/failures``.
    /// - Throws: ``SyncError`` if not everything could be sent; what was sent counts.
    @discardableResult
    public func push() async throws(SyncError) -> SyncReport { try await run(.push) }

    /// Applies what has changed at the server, deletions included.
    ///
    ///     let report = try await store.sync.pull()
    ///     print(report.received, "received,", report.removed, "removed")
    ///
    /// If the back end has cursors, it reads only what has changed since the last pull. Otherwise it reads all objects, or the
    /// newer ones by ``SyncOptions/modificationAttribute``, and compares primary keys to find deletions. Changes that wait here
    /// stay on top of what it reads. An interrupted pull continues where it was.
    ///
    /// A second call joins one that runs.
    /// - Returns: How many objects were received and removed, and records that could not be applied.
    /// - Throws: ``SyncError`` if it could not be read to the end; the mirror keeps what was read.
    @discardableResult
    public func pull() async throws(SyncError) -> SyncReport { try await run(.pull) }

    /// Sends all changes that wait, and then applies what has changed at the server: ``push()``, then ``pull()``.
    ///
    /// A push keeps a change whose object the server no longer has if the server lacks other objects, too. The pull shows whether
    /// these were deleted, so that such changes are sent once more after it.
    /// - Returns: The results of both.
    /// - Throws: ``SyncError`` if one of them could not be completed. What was sent and read counts; the next call does the
    ///   rest.
    @discardableResult
    public func synchronize() async throws(SyncError) -> SyncReport { try await run(.both) }

    private func run(_ kind: SyncRuns.Kind) async throws(SyncError) -> SyncReport {
        let run = runs.join(kind) { [self] (run: SyncRuns.Run, previous: SyncRuns.Run?) in
            // The task keeps the engine on purpose; it ends when the work is done.
            Task(executorPreference: executor) { [self] in
                if let previous { _ = await previous.result }
                let result = await work(run)
                runs.end(run)
                return result
            }
        }
        let result = await withTaskCancellationHandler {
            await run.result
        } onCancel: {
            runs.leave(run)
        }
        return try result.get()
    }

    private func work(_ run: SyncRuns.Run) async -> Result<SyncReport, SyncError> {
        var report = SyncReport()
        do throws(SyncError) {
            var push: PushRun?
            if run.kind != .pull { push = try await self.push(run, &report) }
            if run.kind != .push {
                try await pull(&report)
                // The server had lost more than one object, and has told since which of them others have deleted.
                if push?.hasWitness == false { push = try await self.push(run, &report) }
            }
            // What could not be sent for a reason of its own kept nothing else back.
            if let postponement = push?.postponement { throw .remote(postponement) }
        } catch {
            news.update {
                $0.phase = .idle
                $0.error = error
            }
            return .failure(error)
        }
        news.update {
            $0.phase = .idle
            $0.error = nil
        }
        return .success(report)
    }

    private func push(_ run: SyncRuns.Run, _ report: inout SyncReport) async throws(SyncError) -> PushRun {
        runs.reopenPush(run)
        var push = PushRun(self)
        defer { report.results += push.results }
        while true {
            try await push.run()
            // Who saves from now on starts another push; who has saved before is served by this one.
            runs.endPush(run)
            guard try local({ () throws(StoreError) in try push.isAnythingLeft() }) else { break }
            runs.reopenPush(run)
        }
        news.update { $0.lastPush = now }
        return push
    }

    private func pull(_ report: inout SyncReport) async throws(SyncError) {
        var pull = PullRun(self)
        defer {
            report.results += pull.results
            report.received = pull.received
            report.removed = pull.removed
            report.unreadable = pull.unreadable
        }
        try await pull.run()
        news.update { $0.lastPull = now }
    }

    // MARK: News

    /// The current activity, now and whenever it changes.
    ///
    ///     for await status in store.sync.statuses {
    ///         if case .pulling(let entity) = status.phase { print("reading", entity, status.done) }
    ///         if let error = status.error { print(error) }
    ///     }
    public var statuses: AsyncStream<SyncStatus> { news.statuses() }
    /// What is being done now.
    public var status: SyncStatus { news.status }
    /// The result of each change that is sent from now on. A reader that is slower than the engine keeps the newest
    /// 10,000; changes that the server refused stay in the outbox in any case.
    public var results: AsyncStream<SyncResult> { news.results() }

    // MARK: What waits

    /// How many changes wait to be sent, not counting failed ones: for a badge, or to ask before a log-out.
    /// - Throws: ``StoreError`` if the mirror cannot be read.
    public func pendingCount() throws(StoreError) -> Int { try mirror.entryCount(failed: false) }

    /// The changes that the server refused. They stay in the outbox until you call ``retry(_:)`` or ``drop(_:)``, or change
    /// their objects again.
    /// - Throws: ``StoreError`` if the mirror cannot be read.
    public func failedChanges() throws(StoreError) -> [FailedChange] {
        try mirror.failedEntries().map {
            FailedChange(entry: $0, entityName: mirror.model.entities[$0.identity.entityIndex].name)
        }
    }

    /// Lets failed changes be sent again by the next push.
    /// - Throws: ``StoreError`` if the mirror cannot be written.
    public func retry(_ changes: [FailedChange]) throws(StoreError) { try mirror.retry(changes.map(\.entry)) }

    /// Discards failed changes: new objects are removed, others get back the values that the server last reported, and the next
    /// pull requests their current state. If a deleted object was made again since, dropping the deletion keeps the new object and
    /// its changes.
    /// - Throws: ``StoreError`` if the mirror cannot be written.
    public func drop(_ changes: [FailedChange]) throws(StoreError) { try mirror.drop(changes.map(\.entry)) }

    /// The records that could not be applied since the store was opened. Each pull asks for them again.
    public func unreadableRecords() -> [UnreadableRecord] { mirror.unreadable.all }

    // MARK: Purging

    /// Removes objects here, with their waiting changes. The server is not notified, and references to the objects stay.
    /// - Throws: ``StoreError`` if the mirror cannot be written.
    public func purge(_ identities: [RemoteIdentity]) throws(StoreError) { try mirror.purge(identities) }

    /// Removes all objects of an entity here, with their waiting changes; the next pull reads the entity again.
    /// - Throws: ``StoreError`` if the mirror cannot be written.
    public func purge(_ entity: EntityDescription) throws(StoreError) { try mirror.purge(entity) }

    /// Removes everything here, with all waiting changes; the next pull reads everything again. Call it when another user logs
    /// in, after a ``push()`` if changes may wait.
    /// - Throws: ``StoreError`` if the mirror cannot be written.
    public func reset() throws(StoreError) { try mirror.reset() }

    // MARK: Requests

    /// The server's time, as far as it is known.
    var now: Date { clock.now.addingTimeInterval(backend.clockOffset) }

    /// Waits before the next attempt.
    /// - Parameter failures: How many attempts have failed.
    /// - Throws: The error itself if the server asks for a longer wait than ``SyncOptions/maximumWait``.
    func pause(_ failures: Int, _ error: RemoteError) async throws(SyncError) {
        if let asked = error.retryAfter, asked > options.maximumWait { throw .remote(error) }
        let longest = min(options.longestDelay, options.firstDelay * pow(2, Double(min(failures, 60) - 1)))
        let seconds = max(error.retryAfter ?? 0, longest * (1 - random() / 2))
        let phase = news.status.phase
        news.update { $0.phase = .waiting(until: clock.now.addingTimeInterval(seconds)) }
        defer { news.update { $0.phase = phase } }
        do throws(RemoteError) {
            try await clock.sleep(seconds: seconds)
        } catch {
            throw .remote(error)
        }
    }

    /// Does what can be done again without harm, and again where it fails for a passing reason.
    func read(_ operation: RemoteOperation) async throws(SyncError) -> RemoteAnswer {
        var failures = 0
        while true {
            do throws(RemoteError) {
                try checkCancellation()
                return try await backend.perform(operation, options: options.request)
            } catch {
                failures += 1
                guard error.isTransient, failures <= options.retries else { throw .remote(error) }
                try await pause(failures, error)
            }
        }
    }

    func checkCancellation() throws(RemoteError) {
        if Task.isCancelled {
            throw RemoteError(.cancelled, domain: "Strata", message: "the synchronization was cancelled")
        }
    }
}

/// Runs what reads or writes the mirror.
func local<T>(_ body: () throws(StoreError) -> T) throws(SyncError) -> T {
    do throws(StoreError) {
        return try body()
    } catch {
        throw .store(error)
    }
}
