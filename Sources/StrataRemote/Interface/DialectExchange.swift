import StrataStore

/// A request that was sent for an operation, and its answer.
public struct DialectExchange: Sendable {
    /// The request, as the dialect made it.
    public let request: WireRequest
    /// The last answer to it, after what the authorizer, the middleware and the waiting have done.
    public let response: WireResponse

    /// Puts both together.
    public init(request: WireRequest, response: WireResponse) {
        self.request = request
        self.response = response
    }
}

/// What a dialect does with the answers that it has so far; see ``RemoteDialect/continuation(of:after:options:)``.
public enum DialectContinuation: Sendable {
    /// This response is the answer to the operation: ``RemoteDialect/answer(_:to:)`` reads it.
    case answer(WireResponse)
    /// Another request has to be sent first.
    case send(WireRequest)
}
