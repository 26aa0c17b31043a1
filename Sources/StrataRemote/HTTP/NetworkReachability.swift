import Foundation
import StrataStore

/// Whether a server can be reached: found out by a request, remembered for a short time, and reported to listeners.
///
///     let watch = store.synchronizes(with: reachability)  // keep it
///     let monitor = Task { await reachability.monitor(every: 30) }
///     print(await reachability.check())
///
/// Clients with a session of their own may have one, which also learns from all of their requests. For another back end, create
/// one with a closure that asks your server.
///
/// The network does not notify a program when a server becomes reachable; only the outcome of the last request is known.
/// ``check()`` asks when the last answer is too old, ``note(_:)`` takes what other requests met, and ``monitor(every:)`` asks
/// repeatedly until its task is cancelled.
public final class NetworkReachability: Sendable {
    /// What is known of the server.
    public enum Status: Int, Sendable, Hashable, CaseIterable {
        /// Nobody has asked yet.
        case unknown = -1
        /// No answer.
        case notReachable = 0
        /// An answer, of whatever status.
        case reachable = 1
    }

    private struct Listener {
        var handle: @Sendable (Status) -> Void
        var end: @Sendable () -> Void = {}
    }

    private struct State {
        var status = Status.unknown
        var asked: Date?
        var probe: Task<Status, Never>?
        var listeners: [Int: Listener] = [:]
        var nextListener = 0
        /// Changes that listeners have not been notified of, and whether a notification is under way. So all listeners
        /// get them in the same order, and no lock is held in the meantime.
        var news: [Status] = []
        var isTelling = false
    }

    /// How many seconds an answer is remembered.
    public let lifetime: Double
    private let clock: any RemoteClock
    private let probe: @Sendable () async -> Bool
    private let state = Guarded(State())

    /// Watches a server.
    /// - Parameters:
    ///   - lifetime: How many seconds an answer is remembered.
    ///   - clock: What measures them.
    ///   - probe: Asks the server and tells whether anything came back.
    public init(
        lifetime: Double = 5, clock: any RemoteClock = SystemClock(), probe: @escaping @Sendable () async -> Bool
    ) {
        self.lifetime = lifetime
        self.clock = clock
        self.probe = probe
    }

    deinit {
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.end() }
    }

    /// What is known now. Nothing is sent.
    public var status: Status { state.withLock { $0.status } }

    /// The status, after a request if the last answer is older than ``lifetime``. Concurrent calls share one request.
    @discardableResult
    public func check() async -> Status {
        let task = state.withLock { state -> Task<Status, Never>? in
            if let asked = state.asked, abs(clock.now.timeIntervalSince(asked)) < lifetime { return nil }
            if let probe = state.probe { return probe }
            let task = Task { [self] in
                let status: Status = await probe() ? .reachable : .notReachable
                note(status)
                return status
            }
            state.probe = task
            return task
        }
        guard let task else { return status }
        return await task.value
    }

    /// Records the outcome of a request: any answered request shows that the server can be reached.
    public func note(_ status: Status) {
        let tells = state.withLock { state in
            state.probe = nil
            state.asked = status == .unknown ? nil : clock.now
            guard state.status != status else { return false }
            state.status = status
            state.news.append(status)
            guard !state.isTelling else { return false }
            state.isTelling = true
            return true
        }
        if tells { tell() }
    }

    /// Forgets the last answer, so that the next ``check()`` sends a request.
    public func forget() {
        state.withLock { $0.asked = nil }
    }

    /// Asks again and again until the task is cancelled. Listeners hear only about changes.
    /// - Parameter seconds: How long to wait between the requests.
    public func monitor(every seconds: Double) async {
        while !Task.isCancelled {
            forget()
            await check()
            do {
                try await clock.sleep(seconds: seconds)
            } catch {
                return
            }
        }
    }

    /// Calls a function at each change, in order, until the result is cancelled or goes away.
    /// - Parameter handler: Gets the new status. It is called where the change was noticed, and should return soon.
    public func onChange(_ handler: @escaping @Sendable (Status) -> Void) -> ReachabilityObservation {
        let id = add(Listener(handle: handler))
        return ReachabilityObservation { [weak self] in self?.remove(id) }
    }

    /// The changes from now on. The sequence ends with its task or with this object.
    public var changes: AsyncStream<Status> {
        let (stream, continuation) = AsyncStream.makeStream(of: Status.self)
        let id = add(Listener(handle: { continuation.yield($0) }, end: { continuation.finish() }))
        continuation.onTermination = { [weak self] _ in self?.remove(id) }
        return stream
    }

    private func add(_ listener: Listener) -> Int {
        state.withLock { state in
            defer { state.nextListener += 1 }
            state.listeners[state.nextListener] = listener
            return state.nextListener
        }
    }

    private func remove(_ id: Int) {
        state.withLock { _ = $0.listeners.removeValue(forKey: id) }
    }

    private func tell() {
        while let (status, listeners) = next() {
            for listener in listeners { listener.handle(status) }
        }
    }

    private func next() -> (Status, [Listener])? {
        state.withLock { state in
            guard !state.news.isEmpty else {
                state.isTelling = false
                return nil
            }
            return (state.news.removeFirst(), state.listeners.sorted { $0.key < $1.key }.map(\.value))
        }
    }
}

/// A handler that is called when the reachability of a server changes, until this object is released or cancelled.
///
///     let observation = reachability.onChange { status in print(status) }
///     // Keep it as long as you need the calls.
///     observation.cancel()
///
/// ``NetworkReachability/onChange(_:)`` and `RemoteStore.synchronizes(with:)` return it. If you ignore the result, the
/// observation ends immediately. The handler is called where the change was noticed, on any thread. To read changes in a task
/// instead, iterate over ``NetworkReachability/changes``.
public final class ReachabilityObservation: Sendable {
    private let end: Guarded<(@Sendable () -> Void)?>

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = Guarded(end)
    }

    deinit {
        cancel()
    }

    /// Ends it. Another time does nothing.
    public func cancel() {
        let end = end.withLock { end in
            defer { end = nil }
            return end
        }
        end?()
    }
}
