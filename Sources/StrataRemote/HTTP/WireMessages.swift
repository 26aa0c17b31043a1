import Foundation
import HTTPTypes

/// An HTTP request with its body.
///
///     var request = try WireRequest(.get, authority: "shelf.example", path: "/City?since=41")
///     request.head.headerFields[.acceptLanguage] = "nb"
///
/// A dialect makes it, middleware may change it, an authorizer signs it, and an ``HTTPTransport`` sends it. The path is as it
/// is sent, percent-encoded, with the query: use ``PercentEncoding`` and ``QueryParameters`` to build it. The scheme is HTTPS
/// unless you say otherwise. Values of ``head`` are those of the package swift-http-types, which `import StrataRemote` brings
/// along.
public struct WireRequest: Sendable, Hashable {
    /// Method, scheme, authority, path and headers.
    public var head: HTTPRequest
    /// The body, or nil.
    public var body: Data?

    /// Describes a request.
    public init(_ head: HTTPRequest, body: Data? = nil) {
        self.head = head
        self.body = body
    }
}

/// An HTTP answer with its whole body.
///
///     let json = try response.json(domain: "Shelf")
///     print(response.status, response[header: "ETag"] ?? "-", json["id"]?.string ?? "-")
///
/// A transport returns it for any status: a failure of the server is an answer, too. `json(domain:)` gives the JSON of a
/// success and throws a ``RemoteError`` for everything else, with the kind that HTTP gives to the status. Names of headers are
/// compared without regard to case.
public struct WireResponse: Sendable, Hashable {
    /// Status and headers.
    public var head: HTTPResponse
    /// The body; empty if there is none.
    public var body: Data

    /// Describes an answer.
    public init(_ head: HTTPResponse, body: Data = Data()) {
        self.head = head
        self.body = body
    }

    /// The status.
    public var status: Int { head.status.code }
    /// The value of a header.
    public subscript(header name: String) -> String? { HTTPField.Name(name).flatMap { head.headerFields[$0] } }
    /// The server's time by the header `Date`; nil if there is none. The header has whole seconds, so this is the middle of the
    /// second that it names. A dialect returns it from ``RemoteDialect/time(of:)`` if its service tells no exact time.
    public var date: Date? { self[header: "Date"].flatMap(HTTPDate.date)?.addingTimeInterval(0.5) }
}
