#if Server
    import Foundation

    /// What comes before the data: rates, sessions, passwords, and signatures that count once.
    struct Gate: Sendable {
        let sessions: Sessions
        let guesses: LoginGuard
        let hasher: PasswordHasher
        /// The signatures of the last minutes.
        let replays: ReplayGuard
        private let rates: RateLimiter

        /// - Parameter memory: What other servers of the database remember, too; nil if there are none.
        init(
            folder: URL, options: ServerOptions, clock: ServerClock, memory: (any SharedMemory)?
        ) throws {
            replays = try ReplayGuard(
                path: memory == nil ? folder.appendingPathComponent("signatures").path : nil,
                capacity: options.limits.rememberedSignatures,
                capacityPerSession: options.limits.signaturesPerSession, now: clock.milliseconds / 1000, shared: memory)
            sessions = Sessions(options: options, replays: replays, memory: memory)
            guesses = LoginGuard(options.passwords)
            hasher = PasswordHasher(options.passwords)
            rates = RateLimiter(perSecond: options.limits.requests.perSecond, burst: options.limits.requests.burst)
        }

        func close() { replays.close() }

        /// Counts a request.
        func admit(_ request: ServerRequest, _ clock: ServerClock) throws(ServerError) {
            try rates.admit(request.client, milliseconds: clock.milliseconds)
        }
    }
#endif
