#if Server
    /// How many requests each client may send.
    final class RateLimiter: Sendable {
        private let buckets: TokenBuckets?

        /// - Parameters:
        ///   - perSecond: On average; 0 for any number.
        ///   - burst: Together, before the average counts.
        init(perSecond: Int, burst: Int) {
            buckets = perSecond > 0 ? TokenBuckets(perSecond: Double(perSecond), burst: Double(burst)) : nil
        }

        /// Takes a request from the client's bucket.
        /// - Throws: ``ServerError`` 503, which old clients understand, with the seconds to wait.
        func admit(_ client: String, milliseconds now: Int64) throws(ServerError) {
            guard let wait = buckets?.take(ClientNetwork.name(of: client), milliseconds: now) else { return }
            throw ServerError(503, "Too many requests.", retryAfter: max(1, Int(min(wait, 3600).rounded(.up))))
        }
    }
#endif
