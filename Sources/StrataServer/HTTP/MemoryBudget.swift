#if Server
    import StrataStore
    import Synchronization

    /// The memory that the bodies and answers of all requests together may take. Each request has a lease, which
    /// returns its share when its last owner is released: the work of a request may outlive its connection.
    ///
    /// No address takes more than its share, so that a few clients who stall cannot stop the others.
    final class MemoryBudget: Sendable {
        /// A body that is worked on exists as bytes, as parsed values and as objects that are about to be written. How
        /// much that is depends on what it says; arrays of small numbers take the most.
        static let weightOfBodies = 8

        private struct State {
            var used = 0
            var shares: [String: Int] = [:]
        }

        private let limit: Int
        private let share: Int
        private let state = Guarded(State())

        /// - Parameters:
        ///   - limit: All of it, in bytes.
        ///   - percent: What one address may have of it.
        init(limit: Int, percent: Int = 100) {
            self.limit = limit
            share = limit / 100 * percent
        }

        private func take(_ bytes: Int, _ client: String, anyway: Bool) -> Bool {
            state.withLock { state in
                let own = state.shares[client, default: 0]
                // A client without anything gets what it asks for: a share may be smaller than a body that is allowed.
                let fits = bytes <= limit - state.used && (own == 0 || bytes <= share - own)
                guard fits || anyway else { return false }
                state.used += bytes
                state.shares[client] = own + bytes
                return true
            }
        }

        private func giveBack(_ bytes: Int, _ client: String) {
            state.withLock { state in
                state.used -= bytes
                let rest = state.shares[client, default: 0] - bytes
                state.shares[client] = rest > 0 ? rest : nil
            }
        }

        /// A part of the budget.
        final class Lease: MemoryShare {
            private let budget: MemoryBudget
            private let client: String
            private let taken = Atomic(0)

            init(_ budget: MemoryBudget, client: String) {
                self.budget = budget
                self.client = ClientNetwork.name(of: client)
            }

            /// Another part, for the same client.
            init(besides other: Lease) {
                (budget, client) = (other.budget, other.client)
            }

            /// Takes more.
            /// - Throws: ``ServerError`` 503 if there is no more.
            func take(_ bytes: Int) throws(ServerError) {
                guard bytes > 0 else { return }
                guard budget.take(bytes, client, anyway: false) else {
                    throw ServerError(503, "The server has its hands full.", retryAfter: 1)
                }
                taken.add(bytes, ordering: .relaxed)
            }

            /// Takes more, even if it is not there: for an answer to what is done already.
            func takeAnyway(_ bytes: Int) {
                guard bytes > 0 else { return }
                _ = budget.take(bytes, client, anyway: true)
                taken.add(bytes, ordering: .relaxed)
            }

            deinit {
                let bytes = taken.load(ordering: .relaxed)
                if bytes > 0 { budget.giveBack(bytes, client) }
            }
        }
    }
#endif
