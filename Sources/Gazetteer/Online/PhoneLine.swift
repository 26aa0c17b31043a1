#if Server
    import Foundation
    import StrataStackMob

    /// A connection that can be pulled out, and that counts what goes over it.
    ///
    /// `@unchecked Sendable`: what changes is touched only while the lock is held.
    final class PhoneLine: HTTPTransport, @unchecked Sendable {
        private let base = URLSessionTransport()
        private let lock = NSLock()
        private var requests = 0
        private var connected = true

        /// Whether requests arrive.
        var isConnected: Bool {
            get { lock.withLock { connected } }
            set { lock.withLock { connected = newValue } }
        }

        /// How many requests have gone out since this was last asked.
        func takeCount() -> Int {
            lock.withLock {
                defer { requests = 0 }
                return requests
            }
        }

        func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
            let goes = lock.withLock {
                if connected { requests += 1 }
                return connected
            }
            guard goes else { throw RemoteError(.unreachable, message: "the connection has been pulled out") }
            return try await base.send(request, timeout: timeout)
        }
    }
#endif
