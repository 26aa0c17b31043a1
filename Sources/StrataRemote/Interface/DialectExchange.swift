import StrataStore

/// A request that was sent for an operation, and its answer.
///
///     func isCreated(_ exchanges: [DialectExchange]) -> Bool {
///         guard let last = exchanges.last else { return false }
///         return last.request.head.method == .post && last.response.status == 201
///     }
///
/// ``RemoteDialect/continuation(of:after:options:)`` receives all exchanges of one operation so far. Most operations have one;
/// a service that answers a creation only with an address needs a second one, which reads the object. The request is as the
/// dialect made it, before middleware and signature.
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

/// The decision of a dialect about the answers that it has so far: finished, or another request.
///
///     func next(_ response: WireResponse) throws(RemoteError) -> DialectContinuation {
///         guard response.status == 201, let path = response[header: "Location"] else { return .answer(response) }
///         return .send(try WireRequest(.get, authority: "places.example", path: path))
///     }
///
/// Return it from ``RemoteDialect/continuation(of:after:options:)``. The default is the answer to the first request. An
/// operation takes at most ``HTTPBackend/maximumExchanges`` requests. If a further request is not answered, the store repeats
/// the operation from the beginning, so all requests of an operation must be repeatable.
public enum DialectContinuation: Sendable {
    /// This response is the answer to the operation: ``RemoteDialect/answer(_:to:)`` reads it.
    case answer(WireResponse)
    /// Another request has to be sent first.
    case send(WireRequest)
}
