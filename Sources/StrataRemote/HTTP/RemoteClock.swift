import Foundation

/// The time of this machine, and waiting for it to pass. Tests put a clock of their own in its place.
///
///     func remaining(until end: Date, _ clock: some RemoteClock) async throws(RemoteError) -> Double {
///         try await clock.sleep(seconds: 1)
///         return end.timeIntervalSince(clock.now)
///     }
///
/// Clients, ``HTTPBackend`` and ``NetworkReachability`` measure with it when a session ends, how long to wait before the next
/// attempt, and how old an answer is. The default is ``SystemClock``. `VirtualClock` of `StrataRemoteTesting` lets the time of all
/// waits pass immediately. The server's time is measured separately, as the difference to this clock.
public protocol RemoteClock: Sendable {
    /// What time it is.
    var now: Date { get }
    /// Waits this many seconds; returns immediately for 0 or less.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/cancelled`` as soon as the task is cancelled.
    func sleep(seconds: Double) async throws(RemoteError)
}

/// The machine's own clock, which clients use unless you configure another one.
///
///     let clock: any RemoteClock = SystemClock()
///     try await clock.sleep(seconds: 0.5)
///     print(clock.now)
///
/// ``now`` may jump if the clock is set, and is not corrected by the server's time. ``sleep(seconds:)`` throws as soon as the
/// task is cancelled.
public struct SystemClock: RemoteClock {
    /// The machine's own clock.
    public init() {}

    /// What time it is.
    public var now: Date { Date() }

    /// Waits this many seconds; returns immediately for 0 or less.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/cancelled`` as soon as the task is cancelled.
    public func sleep(seconds: Double) async throws(RemoteError) {
        guard seconds > 0 else { return }
        do {
            try await Task.sleep(for: .seconds(min(seconds, 1e9)))
        } catch {
            throw RemoteError(.cancelled, domain: "Strata", message: "the task was cancelled while it waited")
        }
    }
}
