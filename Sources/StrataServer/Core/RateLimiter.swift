#if Server
    import StrataStore

    /// A bucket of requests for each client: it fills at a rate, and each request takes one.
    final class RateLimiter: Sendable {
        private struct Bucket {
            var level: Double
            var time: Int64
        }

        private let perSecond: Int
        private let burst: Double
        private let buckets = Guarded<[String: Bucket]>([:])
        private static let greatestCount = 50_000

        init(perSecond: Int, burst: Int) {
            self.perSecond = perSecond
            self.burst = Double(max(1, burst))
        }

        /// Takes a request from the client's bucket.
        /// - Throws: ``ServerError`` 503, which old clients understand, with the seconds to wait.
        func admit(_ client: String, milliseconds now: Int64) throws(ServerError) {
            guard perSecond > 0 else { return }
            let rate = Double(perSecond)
            let wait: Double? = buckets.withLock { buckets in
                if buckets.count >= Self.greatestCount {
                    // Full buckets are as good as none.
                    buckets = buckets.filter { $0.value.level + Double(now - $0.value.time) / 1000 * rate < burst }
                    if buckets.count >= Self.greatestCount { buckets.removeAll() }
                }
                var bucket = buckets[client] ?? Bucket(level: burst, time: now)
                bucket.level = min(burst, bucket.level + Double(max(0, now - bucket.time)) / 1000 * rate)
                bucket.time = now
                defer { buckets[client] = bucket }
                guard bucket.level >= 1 else { return (1 - bucket.level) / rate }
                bucket.level -= 1
                return nil
            }
            if let wait {
                throw ServerError(503, "Too many requests.", retryAfter: max(1, Int(wait.rounded(.up))))
            }
        }
    }
#endif
