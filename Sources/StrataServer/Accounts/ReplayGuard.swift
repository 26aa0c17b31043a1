#if Server
    import Synchronization

    /// Remembers signatures for as long as their time would let them in again.
    ///
    /// A signature is one request's: the old client chose nonces among 10,000, so that two honest requests of one
    /// second may share one, but not with the same method and URI. Only signatures that were checked get in here, so
    /// nobody without a key can fill the memory; when it is full all the same, requests are refused instead of
    /// forgetting one that could come back.
    final class ReplayGuard: Sendable {
        private struct State {
            var seen: Set<[String]> = []
            /// In the order in which they came.
            var line: [(key: [String], forgetAt: Int64)] = []
            var first = 0
        }

        private let state = Mutex(State())
        private let capacity: Int

        init(capacity: Int) { self.capacity = capacity }

        /// Takes in a signature.
        /// - Parameters:
        ///   - now: The present in seconds.
        ///   - window: How far the time of a signature may be off, in seconds.
        /// - Throws: ``ServerError`` 401 if it has been there, 503 if no more can be remembered.
        func admit(_ key: [String], now: Int64, window: Int64) throws(ServerError) {
            let verdict: ServerError? = state.withLock { state in
                while state.first < state.line.count, state.line[state.first].forgetAt < now {
                    state.seen.remove(state.line[state.first].key)
                    state.first += 1
                }
                if state.first > 1024, state.first * 2 > state.line.count {
                    state.line.removeFirst(state.first)
                    state.first = 0
                }
                if state.seen.contains(key) { return .unauthorized("The signature was used before.") }
                guard state.seen.count < capacity else {
                    return ServerError(503, "Too many signed requests.", retryAfter: 1)
                }
                state.seen.insert(key)
                // A time in the future is let in until it is a window in the past.
                state.line.append((key, now + 2 * window))
                return nil
            }
            if let verdict { throw verdict }
        }
    }
#endif
