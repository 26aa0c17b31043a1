#if Server
    import Metrics
    import StrataStore

    /// The metrics of requests. They are made once for each method and kept, because a factory looks for them by names and
    /// labels.
    final class RequestMetrics: Sendable {
        private struct Series: Sendable {
            private let method: String
            private let seconds: Metrics.Timer
            private let bytes = Counter(label: "http_response_bytes_total")
            private var requests: [Int: Counter] = [:]

            init(_ method: String) {
                self.method = method
                seconds = Metrics.Timer(label: "http_request_duration_seconds", dimensions: [("method", method)])
            }

            private mutating func requests(_ status: Int) -> Counter {
                if let known = requests[status] { return known }
                let new = Counter(
                    label: "http_requests_total", dimensions: [("method", method), ("status", String(status))])
                requests[status] = new
                return new
            }

            /// The metrics of requests with an answer of a status.
            mutating func all(_ status: Int) -> (requests: Counter, seconds: Metrics.Timer, bytes: Counter) {
                (requests(status), seconds, bytes)
            }
        }

        private let series = Guarded<[String: Series]>([:])

        /// Counts a request.
        func count(_ method: String, status: Int, bytes: Int, seconds: Double) {
            let method = Self.known(method)
            let metrics = series.withLock { $0[method, default: Series(method)].all(status) }
            metrics.requests.increment()
            metrics.seconds.recordSeconds(seconds)
            metrics.bytes.increment(by: bytes)
        }

        private static func known(_ method: String) -> String {
            ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].first { $0 == method } ?? "other"
        }
    }
#endif
