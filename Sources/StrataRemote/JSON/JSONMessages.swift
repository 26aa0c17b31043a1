import Foundation
import HTTPTypes
import StrataStore

extension WireRequest {
    /// A request that takes and accepts JSON.
    ///
    ///     let request = try WireRequest(.put, authority: "shelf.example", path: "/Note/1", json: ["text": "Buy milk"])
    ///
    /// - Parameters:
    ///   - path: The path and the query as they are sent, percent-encoded; see ``PercentEncoding``.
    ///   - json: The body; nil for none.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/invalidRequest`` for a value that JSON cannot have, such as a number
    ///   that is not finite.
    public init(
        _ method: HTTPRequest.Method, scheme: String = "https", authority: String, path: String, json: JSONValue? = nil
    ) throws(RemoteError) {
        self.init(HTTPRequest(method: method, scheme: scheme, authority: authority, path: path))
        head.headerFields[.accept] = "application/json"
        guard let json else { return }
        head.headerFields[.contentType] = "application/json"
        do throws(JSONWritingError) {
            body = try json.data()
        } catch {
            throw RemoteError(.invalidRequest, domain: "Strata", message: "the body of a request: \(error)")
        }
    }
}

extension WireResponse {
    /// The JSON of an answer with a status of success (200 to 299).
    /// - Parameter domain: Whose error it is if there is none: the name of the service.
    /// - Throws: ``RemoteError`` for another status, as ``RemoteError/init(answer:domain:message:)`` describes it, and of kind
    ///   ``RemoteError/Kind/invalidAnswer`` for a body that is not JSON.
    public func json(domain: String) throws(RemoteError) -> JSONValue {
        guard (200..<300).contains(status) else { throw RemoteError(answer: self, domain: domain) }
        do throws(JSONError) {
            return try JSONValue(parsing: body)
        } catch {
            throw RemoteError(answer: self, domain: domain, message: "the answer is not JSON: \(error)")
        }
    }
}
