import Foundation
import StrataRemote
import StrataStore

/// A clock for tests: a task that sleeps wakes immediately, and the clock advances by that time.
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

    /// Lets so much time pass and returns.
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
