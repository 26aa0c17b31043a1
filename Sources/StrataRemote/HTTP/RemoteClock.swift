import Foundation

/// The time of this machine, and waiting for it to pass. Tests put a clock of their own in its place.
public protocol RemoteClock: Sendable {
    /// What time it is.
    var now: Date { get }
    /// Waits this many seconds; returns immediately for 0 or less.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/cancelled`` as soon as the task is cancelled.
    func sleep(seconds: Double) async throws(RemoteError)
}

/// The machine's own clock.
public struct SystemClock: RemoteClock {
    /// The machine's own clock.
    public init() {}

    /// What time it is.
    public var now: Date { Date() }

    /// Waits so many seconds.
    public func sleep(seconds: Double) async throws(RemoteError) {
        guard seconds > 0 else { return }
        do {
            try await Task.sleep(for: .seconds(min(seconds, 1e9)))
        } catch {
            throw RemoteError(.cancelled, domain: "Strata", message: "the task was cancelled while it waited")
        }
    }
}
