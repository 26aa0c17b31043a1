#if Server
    import StrataStore

    /// Buckets that fill at a rate, one for each name: each action takes from the bucket until it is empty.
    ///
    /// The memory is bounded. When there is no room for another bucket, new names share one, so that a crowd of names
    /// makes nobody's bucket full again.
    final class TokenBuckets: Sendable {
        private struct Bucket {
            var level: Double
            var time: Int64
        }

        private let rate: Double
        private let burst: Double
        private let capacity: Int
        private let buckets = Guarded<[String: Bucket]>([:])

        /// - Parameters:
        ///   - perSecond: How much flows into each bucket.
        ///   - burst: How much a bucket holds, at least 1.
        ///   - capacity: How many buckets there may be.
        init(perSecond: Double, burst: Double, capacity: Int = 50_000) {
            rate = perSecond
            self.burst = max(1, burst)
            self.capacity = capacity
        }

        /// Takes one from a bucket.
        /// - Returns: The seconds until there is one, if there is none now.
        func take(_ name: String, milliseconds now: Int64) -> Double? {
            buckets.withLock { buckets in
                let name = place(name, &buckets, now)
                var bucket = current(buckets[name], now)
                defer { buckets[name] = bucket }
                guard bucket.level >= 1 else { return (1 - bucket.level) / rate }
                bucket.level -= 1
                return nil
            }
        }

        /// Gives one back.
        func giveBack(_ name: String, milliseconds now: Int64) {
            buckets.withLock { buckets in
                let name = place(name, &buckets, now)
                var bucket = current(buckets[name], now)
                bucket.level = min(burst, bucket.level + 1)
                buckets[name] = bucket
            }
        }

        var count: Int { buckets.withLock(\.count) }

        private func current(_ bucket: Bucket?, _ now: Int64) -> Bucket {
            guard let bucket else { return Bucket(level: burst, time: now) }
            let passed = Double(max(0, now - bucket.time)) / 1000
            return Bucket(level: min(burst, bucket.level + passed * rate), time: now)
        }

        private func place(_ name: String, _ buckets: inout [String: Bucket], _ now: Int64) -> String {
            guard buckets[name] == nil, buckets.count >= capacity else { return name }
            // Full buckets are as good as none.
            buckets = buckets.filter { current($0.value, now).level < burst }
            return buckets.count < capacity ? name : ""
        }
    }
#endif
