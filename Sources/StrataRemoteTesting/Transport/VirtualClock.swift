import Foundation
import StrataRemote
import StrataStore

/// A clock for tests: a task that sleeps wakes immediately, and the clock advances by that time.
///
///     let clock = VirtualClock()
///     let transport = ScriptedTransport(clock: clock)
///     let backend = HTTPBackend(dialect: MyDialect(), transport: transport, clock: clock)
///     transport.answer(status: 503, headers: ["Retry-After": "30"])
///     transport.answer(json: "{}")
///     _ = try await backend.perform(.ping, options: RequestOptions())
///     #expect(clock.sleeps == [30])
///
/// Use it for everything that waits: retries, `Retry-After`, sessions that expire, reachability. ``sleeps`` tells how long each
/// wait was. To let a session expire, call ``advance(by:)``. Share one clock between the transport and the client; timeouts of
/// `URLSession` do not use it.
public final class VirtualClock: RemoteClock {
    private struct State {
        var now: Date
        var sleeps: [Double] = []
    }

    private let state: Guarded<State>

    /// Creates a clock that shows a time; 2013-05-14 00:00 UTC by default.
    public init(_ now: Date = Date(timeIntervalSince1970: 1_368_489_600)) {
        state = Guarded(State(now: now))
    }

    /// What time it is.
    public var now: Date { state.withLock { $0.now } }
    /// How many seconds were waited each time, in order.
    public var sleeps: [Double] { state.withLock { $0.sleeps } }

    /// Lets time pass.
    public func advance(by seconds: Double) {
        state.withLock { $0.now += seconds }
    }

    /// Lets this much time pass and returns immediately.
    /// - Throws: `RemoteError` of the kind `cancelled` if the task has been cancelled.
    public func sleep(seconds: Double) async throws(RemoteError) {
        guard !Task.isCancelled else {
            throw RemoteError(.cancelled, domain: "Script", message: "the task was cancelled while it waited")
        }
        guard seconds > 0 else { return }
        state.withLock { state in
            state.sleeps.append(seconds)
            state.now += seconds
        }
        await Task.yield()
    }
}
