import Foundation

/// Sees each request of a client or a store before it is signed, and its answer: to add headers, to measure, to answer from
/// elsewhere, to send a request again.
///
///     struct Tag: HTTPMiddleware {
///         func send(_ request: WireRequest, next: HTTPNext) async throws(RemoteError) -> WireResponse {
///             var request = request
///             request.head.headerFields[HTTPField.Name("X-Tag")!] = "notes"
///             return try await next(request)
///         }
///     }
///
/// Several are composed in order: the first one sees a request first and its answer last. What ``HTTPBackend`` does for one
/// request – signatures, redirects, waits, the renewal of a session – happens after all of them, so a middleware sees
/// neither signatures nor answers that are handled there. Several tasks may call its methods at the same time.
public protocol HTTPMiddleware: Sendable {
    /// Sends a request, or answers it in place of the server.
    /// - Parameter next: What sends the request: the next middleware, or the network. It may be called more than
    ///   once, or not at all.
    /// - Throws: ``RemoteError``, which becomes that of the request.
    func send(_ request: WireRequest, next: HTTPNext) async throws(RemoteError) -> WireResponse
}

/// The rest of the chain after a middleware: the next middleware, or the network.
///
///     struct Patience: HTTPMiddleware {
///         func send(_ request: WireRequest, next: HTTPNext) async throws(RemoteError) -> WireResponse {
///             let response = try await next(request)
///             return response.status == 502 ? try await next(request) : response
///         }
///     }
///
/// Call it like a function, once, several times, or not at all. ``options`` are those of the request, and ``reaction(to:)``
/// says what an answer means by the words of the service. A second call sends a second request, which a server without tokens
/// carries out twice: repeat only what does no harm.
public struct HTTPNext: Sendable {
    /// How the request is made.
    public let options: RequestOptions
    private let dialect: any RemoteDialect
    private let sends: @Sendable (WireRequest) async throws(RemoteError) -> WireResponse

    init(
        dialect: any RemoteDialect, options: RequestOptions,
        _ sends: @escaping @Sendable (WireRequest) async throws(RemoteError) -> WireResponse
    ) {
        self.dialect = dialect
        self.options = options
        self.sends = sends
    }

    /// Sends a request to the rest of the chain.
    /// - Throws: ``RemoteError`` if there is no answer, or a middleware throws one.
    public func callAsFunction(_ request: WireRequest) async throws(RemoteError) -> WireResponse {
        try await sends(request)
    }

    /// What an answer asks of the client, by the words of the service; see ``RemoteDialect/reaction(to:)``.
    public func reaction(to response: WireResponse) -> AnswerReaction? { dialect.reaction(to: response) }

    /// The same with a middleware in front.
    func behind(_ middleware: any HTTPMiddleware) -> HTTPNext {
        HTTPNext(dialect: dialect, options: options) { (request) async throws(RemoteError) in
            try await middleware.send(request, next: self)
        }
    }
}
