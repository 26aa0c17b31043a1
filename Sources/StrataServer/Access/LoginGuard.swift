#if Server
    import StrataStore

    /// Slows down those who guess passwords.
    ///
    /// A wrong password takes from three buckets: that of the account and the address together, that of the address,
    /// and that of the account. The last one holds back guesses from many addresses; addresses from which somebody has
    /// logged in to the account before do not need it, so that strangers cannot lock the owner out. Accounts that do not
    /// exist have buckets, too: the answer tells nothing.
    final class LoginGuard: Sendable {
        private let pairs: TokenBuckets
        private let addresses: TokenBuckets
        private let accounts: TokenBuckets
        /// Addresses with the accounts that have been logged in to from there, and when.
        private let known = Guarded<[String: Int64]>([:])
        private static let maximumKnown = 100_000

        init(_ policy: PasswordPolicy) {
            pairs = TokenBuckets(perSecond: 1.0 / 60, burst: Double(policy.guesses))
            addresses = TokenBuckets(perSecond: 1.0 / 10, burst: Double(policy.guessesPerAddress))
            accounts = TokenBuckets(perSecond: 1.0 / 60, burst: Double(policy.guessesPerAccount))
        }

        /// A password that somebody shows. It counts as wrong until it is settled.
        struct Attempt: Sendable {
            fileprivate let pair: String
            fileprivate let address: String
            /// nil from a known address.
            fileprivate let account: String?
        }

        /// Lets somebody try a password.
        /// - Throws: ``ServerError`` 503 with the seconds to wait.
        func begin(schema: String, account: String, from client: String, milliseconds now: Int64) throws(ServerError)
            -> Attempt
        {
            let address = ClientNetwork.name(of: client)
            let account = schema + "/" + account
            let pair = address + " " + account
            let isKnown = known.withLock { $0[pair] != nil }
            var taken: [(TokenBuckets, String)] = []
            for (buckets, name) in [(pairs, pair), (addresses, address)] + (isKnown ? [] : [(accounts, account)]) {
                if let wait = buckets.take(name, milliseconds: now) {
                    for (buckets, name) in taken { buckets.giveBack(name, milliseconds: now) }
                    throw ServerError(
                        503, "Too many wrong passwords.", retryAfter: max(1, Int(min(wait, 3600).rounded(.up))))
                }
                taken.append((buckets, name))
            }
            return Attempt(pair: pair, address: address, account: isKnown ? nil : account)
        }

        /// The password was right, or was not checked.
        func forgive(_ attempt: Attempt, milliseconds now: Int64) {
            pairs.giveBack(attempt.pair, milliseconds: now)
            addresses.giveBack(attempt.address, milliseconds: now)
            if let account = attempt.account { accounts.giveBack(account, milliseconds: now) }
        }

        /// The password was right.
        func succeed(_ attempt: Attempt, milliseconds now: Int64) {
            forgive(attempt, milliseconds: now)
            known.withLock { known in
                if known.count >= Self.maximumKnown, known[attempt.pair] == nil {
                    // The older half goes; dates are spread, so that this happens rarely.
                    let middle = known.values.sorted()[known.count / 2]
                    known = known.filter { $0.value > middle }
                }
                known[attempt.pair] = now
            }
        }
    }
#endif
