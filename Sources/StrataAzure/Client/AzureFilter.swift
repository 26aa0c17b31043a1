import Foundation

/// Sees each request of a client before it is sent, and its answer: to add headers, to count, to log in again and send
/// once more.
///
///     struct Tag: AzureFilter {
///         func send(_ request: WireRequest, next: AzureNext) async throws(RemoteError) -> WireResponse {
///             var request = request
///             request.head.headerFields[HTTPField.Name("X-Tag")!] = "notes"
///             return try await next(request)
///         }
///     }
public protocol AzureFilter: Sendable {
    /// Sends a request, or answers it in place of the server.
    /// - Parameter next: What sends the request: the filter after this one, or the network. It may be called more than
    ///   once, or not at all.
    func send(_ request: WireRequest, next: AzureNext) async throws(RemoteError) -> WireResponse
}

/// What comes after a filter.
public struct AzureNext: Sendable {
    let transport: any HTTPTransport
    let timeout: Double

    /// Sends a request to what comes after the filter.
    public func callAsFunction(_ request: WireRequest) async throws(RemoteError) -> WireResponse {
        try await transport.send(request, timeout: timeout)
    }
}

/// A filter that gets a user again when the server answers with status 401, and sends the request once more.
///
///     let again = AzureLogInFilter(client.session) { () async throws(RemoteError) in
///         client.session.replace(with: try await askUser())
///     }
///     let patient = client.adding(again)
///
/// ``AzureSession/onUnauthorized(_:)`` does the same for stores as well, with one log-in for many requests.
public struct AzureLogInFilter: AzureFilter {
    private let session: AzureSession
    private let logIn: @Sendable () async throws(RemoteError) -> Void

    /// Makes a filter for the session that requests are made with.
    public init(_ session: AzureSession, logIn: @escaping @Sendable () async throws(RemoteError) -> Void) {
        self.session = session
        self.logIn = logIn
    }

    /// Sends a request, and once more after a log-in.
    public func send(_ request: WireRequest, next: AzureNext) async throws(RemoteError) -> WireResponse {
        let response = try await next(request)
        guard response.status == 401 else { return response }
        try await logIn()
        return try await next(session.authorized(request))
    }
}

/// The transport of a client: filters in their order, then the network.
struct AzureFilterTransport: HTTPTransport {
    let filter: any AzureFilter
    let rest: any HTTPTransport

    func send(_ request: WireRequest, timeout: Double) async throws(RemoteError) -> WireResponse {
        try await filter.send(request, next: AzureNext(transport: rest, timeout: timeout))
    }

    static func chain(_ filters: [any AzureFilter], _ transport: any HTTPTransport) -> any HTTPTransport {
        filters.reversed().reduce(transport) { AzureFilterTransport(filter: $1, rest: $0) }
    }
}
