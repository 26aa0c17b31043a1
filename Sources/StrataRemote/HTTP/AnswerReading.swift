import Foundation
import HTTPTypes

extension RemoteError.Kind {
    /// What a status says where a service gives it no meaning of its own.
    ///
    /// - Parameter status: The status of an answer that is not a success. Sources: RFC 9110 and RFC 6585; some services use
    ///   420 for "too many requests".
    public init(status: Int) {
        self =
            switch status {
            case 401: .unauthorized
            case 403: .forbidden
            case 404: .notFound
            case 410: .gone
            case 408: .timeout
            // The address leads to something else, or to another version of the service.
            case 405, 407, 426, 501, 505, 511: .invalidAnswer
            case 409: .duplicate
            case 412: .conflict
            case 420, 429: .throttled
            case 400..<500: .rejected
            case 500...: .unavailable
            default: .invalidAnswer
            }
    }
}

extension RemoteError {
    /// The error that an answer is, for dialects that give statuses no meaning of their own: of the kind of its status
    /// (``Kind/init(status:)``), and ``Kind/invalidAnswer`` if the status is one of success, or if the body of any status below
    /// 500 is markup, which comes from somebody else.
    ///
    ///     guard response.status == 200 else { throw RemoteError(answer: response, domain: "Shelf") }
    ///
    /// - Parameters:
    ///   - response: The answer. Its status is the code, and its body is kept.
    ///   - domain: Whose error it is: the name of the service.
    ///   - message: What happened; nil for a text with the status.
    public init(answer response: WireResponse, domain: String, message: String? = nil) {
        self.init(
            response.isMarkup && response.status < 500 ? .invalidAnswer : Kind(status: response.status),
            domain: domain, code: response.status,
            message: message ?? "the server answered with status \(response.status)", status: response.status,
            body: response.body)
    }
}

extension WireResponse {
    /// Whether the body is a page for people or other markup, as portals, proxies and firewalls send it in the place of a
    /// service.
    public var isMarkup: Bool {
        if self[header: "Content-Type"]?.lowercased().contains("html") == true { return true }
        return body.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: "<")
    }
}

extension WireRequest {
    /// A GET request for an address, without its fragment (`#…`).
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/invalidRequest`` if the address is not one of HTTP.
    package init(getting address: String) throws(RemoteError) {
        guard let parts = URLComponents(string: address), let scheme = parts.scheme?.lowercased(),
            ["https", "http"].contains(scheme), let host = parts.encodedHost, !host.isEmpty
        else { throw TransportFailure.noAddress(String(address.prefix(200))) }
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        let query = parts.percentEncodedQuery.map { "?" + $0 } ?? ""
        self.init(
            HTTPRequest(
                method: .get, scheme: scheme, authority: host + (parts.port.map { ":\($0)" } ?? ""), path: path + query)
        )
    }

    /// Appends query parameters, except those whose names the request has.
    mutating func add(_ parameters: [RemoteParameter]) {
        if parameters.isEmpty { return }
        let path = head.path ?? "/"
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.count > 1 ? parts[1] : ""
        let known = Set((QueryParameters.read(query) ?? []).map(\.name))
        let pairs = parameters.filter { !known.contains($0.name) }
            .map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
        if pairs.isEmpty { return }
        head.path = "\(parts[0])?" + ((query.isEmpty ? [] : [String(query)]) + pairs).joined(separator: "&")
    }

    /// The request with headers set, in place of those of the same name. Names that no header may have are left out.
    package func adding(_ headers: [String: String]) -> WireRequest {
        var copy = self
        for (name, value) in headers {
            if let field = HTTPField.Name(name) { copy.head.headerFields[field] = value }
        }
        return copy
    }
}
