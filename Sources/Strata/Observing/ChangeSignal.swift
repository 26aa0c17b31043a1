import StrataStore

/// Wakes one task that waits for news. If no task waits, it only remembers that there is news: a slow reader costs no
/// memory.
final class ChangeSignal: Sendable {
    private struct State: Sendable {
        var hasNews = false
        var hasEnded = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Guarded(State())

    /// Whether nothing will come any more.
    var hasEnded: Bool { state.withLock(\.hasEnded) }

    /// There are news.
    func raise() { resume { $0.hasNews = true } }

    /// Nothing will come any more.
    func end() { resume { $0.hasEnded = true } }

    private func resume(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Waits until there are news, or the signal or the task has ended.
    /// - Returns: Whether there are news.
    func wait(isolation actor: isolated (any Actor)? = #isolation) async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation(isolation: actor) { continuation in
                let waits = state.withLock { state in
                    if state.hasNews || state.hasEnded { return false }
                    state.waiter = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        } onCancel: {
            end()
        }
        return state.withLock { state in
            defer { state.hasNews = false }
            return state.hasNews
        }
    }
}
