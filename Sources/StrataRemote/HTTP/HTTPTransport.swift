import Foundation

/// Carries requests to a server: usually `URLSession`, or a script in tests.
public protocol HTTPTransport: Sendable {
    /// Sends a request and waits for the whole answer. Redirects are answers, too: the code that signs requests follows
    /// them.
    /// - Parameter timeout: How many seconds to wait.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/unreachable``, ``RemoteError/Kind/timeout`` or
    ///   ``RemoteError/Kind/cancelled``. An answer of any status is not an error here.
    func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse
}

/// Authorizes requests: signs them, and renews the credentials.
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
