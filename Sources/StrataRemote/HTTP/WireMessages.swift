import Foundation
import HTTPTypes

/// A request with its body. The path is as it is sent, percent-encoded, with the query.
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

/// An answer with its body.
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
}
