#if Server
    import StrataStore

    /// What the bodies and answers of all requests together may take. Each request has a lease, which gives back what it
    /// took when the last who needs it lets go: the work of a request may outlive its connection.
    final class MemoryBudget: Sendable {
        /// A body stands here as bytes, as parsed values and as objects that are about to be written. How much that is
        /// depends on what it says; arrays of small numbers take the most.
        static let weightOfBodies = 8

        private let limit: Int
        private let used = Guarded(0)

        init(limit: Int) { self.limit = limit }

        /// A share of the budget.
        final class Lease: Sendable {
            private let budget: MemoryBudget
            private let taken = Guarded(0)

            init(_ budget: MemoryBudget) { self.budget = budget }

            /// Takes more.
            /// - Throws: ``ServerError`` 503 if there is no more.
            func take(_ bytes: Int) throws(ServerError) {
                let fits = budget.used.withLock { used in
                    guard bytes <= budget.limit - used else { return false }
                    used += bytes
                    return true
                }
                guard fits else { throw ServerError(503, "The server has its hands full.", retryAfter: 1) }
                taken.withLock { $0 += bytes }
            }

            /// Takes more, even if it is not there: for an answer to what is done already.
            func takeAnyway(_ bytes: Int) {
                budget.used.withLock { $0 += bytes }
                taken.withLock { $0 += bytes }
            }

            deinit {
                let bytes = taken.withLock { $0 }
                budget.used.withLock { $0 -= bytes }
            }
        }
    }
#endif
