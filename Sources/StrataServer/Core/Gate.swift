#if Server
    import Foundation

    /// What a request must pass: the rate, and its signature.
    struct Gate: Sendable {
        let sessions: Sessions
        let guesses: LoginGuard
        private let options: ServerOptions
        private let rates: RateLimiter
        private let replays: ReplayGuard

        init(folder: URL, options: ServerOptions, clock: ServerClock) throws {
            self.options = options
            replays = try ReplayGuard(
                path: folder.appendingPathComponent("signatures").path,
                capacity: options.limits.rememberedSignatures,
                capacityPerSession: options.limits.signaturesPerSession, now: clock.milliseconds / 1000)
            sessions = Sessions(options: options, replays: replays)
            guesses = LoginGuard(options.passwords)
            rates = RateLimiter(perSecond: options.limits.requests.perSecond, burst: options.limits.requests.burst)
        }

        func close() { replays.close() }

        /// Counts a request.
        func admit(_ request: ServerRequest, _ clock: ServerClock) throws(ServerError) {
            try rates.admit(request.client, milliseconds: clock.milliseconds)
        }

        /// Whether a request is signed with the application's own keys.
        func isOAuth(_ request: ServerRequest) -> Bool {
            request.header("Authorization")?.lowercased().hasPrefix("oauth ") == true
        }

        /// Checks the signature of a request with the application's own keys.
        func checkOAuth(_ request: ServerRequest, _ clock: ServerClock) throws(ServerError) {
            try OAuthSignature.check(request, options: options, clock: clock, replays: replays)
        }
    }
#endif
