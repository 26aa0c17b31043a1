import Foundation
import StrataRemote
import Synchronization

/// Waits before requests as long as Kinto asks: a server under load adds `Backoff: 10` to its answers, and clients should send
/// nothing for 10 seconds.
///
///     let backend = HTTPBackend(
///         dialect: dialect, transport: URLSessionTransport(), authorizer: credentials, middleware: [KintoBackoff()])
///
/// Unlike `Retry-After`, which ``HTTPBackend`` honors itself, the header says nothing about the answer that it comes with.
///
/// Source: Kinto's documentation of its HTTP API, version 1, "Backoff indicators".
public final class KintoBackoff: HTTPMiddleware {
    private let clock: any RemoteClock
    /// Until when nothing is sent.
    private let end = Mutex(Date.distantPast)

    /// Makes a middleware. Use one for all stores of a server.
    /// - Parameter clock: The clock that waits.
    public init(clock: any RemoteClock = SystemClock()) { self.clock = clock }

    /// Sends a request when the server takes requests again.
    /// - Throws: ``RemoteError`` of kind `throttled` without sending anything, if that is later than
    ///   `RequestOptions.maximumWait` from now.
    public func send(_ request: WireRequest, next: HTTPNext) async throws(RemoteError) -> WireResponse {
        // Other answers may ask for more while this request waits.
        while case let seconds = end.withLock({ $0 }).timeIntervalSince(clock.now), seconds > 0 {
            guard seconds <= next.options.maximumWait else {
                var error = RemoteError(
                    .throttled, domain: "Kinto",
                    message: "the server asks to wait for \(Int(seconds.rounded(.up))) seconds")
                error.retryAfter = seconds
                throw error
            }
            try await clock.sleep(seconds: seconds)
        }
        let response = try await next(request)
        if let seconds = response[header: "Backoff"].flatMap(Double.init), seconds.isFinite, seconds > 0 {
            let told = clock.now.addingTimeInterval(seconds)
            end.withLock { $0 = max($0, told) }
        }
        return response
    }
}
