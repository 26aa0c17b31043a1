import Foundation

/// Carries requests to a server: usually `URLSession`, or a script in tests.
///
///     struct Delayed: HTTPTransport {
///         let transport: any HTTPTransport
///         func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
///             try await SystemClock().sleep(seconds: 0.2)
///             return try await transport.send(request, timeout: timeout)
///         }
///     }
///
/// ``URLSessionTransport`` is the default of all clients, and `AsyncHTTPTransport` of `StrataAsyncHTTP` is the better one for
/// large amounts of data on Linux. Implement it for another library, or to wrap one as above. A transport follows no redirects,
/// keeps no cookies and no answers, and retries nothing. To see or change requests before they are signed, use an
/// ``HTTPMiddleware`` instead.
public protocol HTTPTransport: Sendable {
    /// Sends a request and waits for the whole answer. Redirects are answers, too: the code that signs requests follows
    /// them.
    /// - Parameter timeout: How many seconds to wait.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unreachable``, ``RemoteError/Kind/timeout`` or
    ///   ``RemoteError/Kind/cancelled``. An answer of any status is not an error here.
    func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse
}

/// Authorizes requests: signs them, and renews the credentials when a session has ended.
///
///     struct BearerToken: RequestAuthorizer {
///         let token: String
///         func authorize(_ request: WireRequest, options: RequestOptions) async throws(RemoteError) -> WireRequest {
///             var request = request
///             request.head.headerFields[.authorization] = "Bearer \(token)"
///             return request
///         }
///         func recover(
///             from response: WireResponse, to request: WireRequest, options: RequestOptions
///         ) async throws(RemoteError) -> Bool { false }
///     }
///
/// Pass it to ``HTTPBackend``. Clients with a session of their own have one. If a session can be renewed, do it in
/// ``recover(from:to:options:)`` and return true; several requests may find out at the same time, so let one of them renew it
/// and the others wait. Methods may be called from any task.
public protocol RequestAuthorizer: Sendable {
    /// The request as it goes out. Called again for every attempt, so that times and nonces are fresh.
    /// - Throws: ``RemoteError`` if a session is needed and there is none, or renewing it fails.
    func authorize(_ request: WireRequest, options: RequestOptions) async throws(RemoteError) -> WireRequest
    /// Called after an answer that says that the session has ended, once for a request; see ``AnswerReaction/sessionEnded``.
    /// - Returns: Whether to sign and send again.
    /// - Throws: ``RemoteError`` that the caller of the operation gets in place of that answer.
    func recover(from response: WireResponse, to request: WireRequest, options: RequestOptions)
        async throws(RemoteError) -> Bool
}
