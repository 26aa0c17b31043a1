import StrataStore

/// Says when history is purged: from time to time, by the stores that write.
package final class HistoryUpkeep: Sendable {
    private struct State: Sendable {
        var next = ContinuousClock.now
        var count = 0
    }

    /// A purge is due after this many transactions, or this many seconds.
    private static let most = 1000
    private static let seconds = 3600.0

    private let state = Guarded(State())

    package init() {}

    /// Counts a transaction.
    /// - Returns: Whether a purge is due now. The next one is due later.
    package func isDue() -> Bool {
        let now = ContinuousClock.now
        return state.withLock { state in
            state.count += 1
            guard now >= state.next || state.count >= Self.most else { return false }
            state = State(next: now + .seconds(Self.seconds))
            return true
        }
    }
}
