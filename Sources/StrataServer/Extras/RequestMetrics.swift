#if Server
    import Metrics
    import StrataStore

    /// The metrics of requests. Each is made once, because a factory looks for it by its name and labels.
    final class RequestMetrics: Sendable {
        private struct Key: Hashable {
            let method: String
            let status: Int
        }

        private struct Series: Sendable {
            let requests: Counter
            let seconds: Metrics.Timer
            let bytes: Counter

            init(_ key: Key) {
                let method = ("method", key.method)
                requests = Counter(
                    label: "http_requests_total", dimensions: [method, ("status", String(key.status))])
                seconds = Metrics.Timer(label: "http_request_duration_seconds", dimensions: [method])
                bytes = Counter(label: "http_response_bytes_total")
            }
        }

        private let series = Guarded<[Key: Series]>([:])

        /// Counts a request.
        func count(_ method: String, status: Int, bytes: Int, seconds: Double) {
            let key = Key(method: Self.known(method), status: status)
            let series = series.withLock { all in
                if let known = all[key] { return known }
                let new = Series(key)
                all[key] = new
                return new
            }
            series.requests.increment()
            series.seconds.recordSeconds(seconds)
            series.bytes.increment(by: bytes)
        }

        private static func known(_ method: String) -> String {
            ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].first { $0 == method } ?? "other"
        }
    }
#endif
