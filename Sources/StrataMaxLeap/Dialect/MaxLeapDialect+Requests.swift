import Foundation

extension MaxLeapDialect {
    /// A request with the standing headers.
    /// - Parameters:
    ///   - parts: The path after the address; each part is encoded.
    ///   - parameters: Query parameters, not encoded.
    ///   - json: The body. POST and PUT without one have an empty object.
    /// - Throws: ``RemoteError`` with code 107 if the body has a number that is not finite.
    func request(
        _ method: HTTPRequest.Method, _ parts: [String], parameters: [MaxLeapParameter] = [], json: JSONObject? = nil,
        options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        var head = HTTPRequest(
            method: method, scheme: options.isSecure ? "https" : address.scheme, authority: address.authority,
            path: path(parts) + MaxLeapParameter.query(parameters))
        for (header, value) in standing { head.headerFields[header] = value }
        var body: Data?
        if method == .post || method == .put {
            head.headerFields[.contentType] = "application/json"
            body = try Self.body(.object(json ?? [:]))
        }
        return WireRequest(head, body: body).adding(options.headers)
    }

    /// The path of a request, with that of the address: `/2.0/classes/Post/1`.
    func path(_ parts: [String]) -> String {
        address.path + "/" + parts.map { PercentEncoding.encode($0) }.joined(separator: "/")
    }

    /// The headers of every request.
    private var standing: [(HTTPField.Name, String)] {
        var headers: [(MaxLeapHeader, String)] = [(.applicationID, applicationID)]
        if let masterKey {
            headers.append((.masterKey, masterKey))
        } else if let apiKey {
            headers.append((.apiKey, apiKey))
        }
        if let installationID { headers.append((.installationID, installationID)) }
        return headers.compactMap { header, value in field(header).map { ($0, value) } }
    }

    /// The name of a header; nil if the dialect has none.
    func field(_ header: MaxLeapHeader) -> HTTPField.Name? { header.name(in: flavor).flatMap { HTTPField.Name($0) } }

    /// A value as the body of a request.
    static func body(_ json: JSONValue) throws(RemoteError) -> Data {
        do throws(JSONWritingError) {
            return try json.data()
        } catch {
            throw MaxLeapError.invalidJSON.error("\(error); nothing was sent")
        }
    }

    /// The path of a class: users and installations have their own.
    func path(ofClass className: String) throws(RemoteError) -> [String] {
        switch className {
        case "_User": return ["users"]
        case "_Installation": return ["installations"]
        default:
            guard MaxLeapObject.isKey(className, ofClass: true) else {
                throw MaxLeapError.invalidClassName.error(
                    "\"\(className.prefix(80))\" is not a valid class name; use letters, digits and underscores, a letter first"
                )
            }
            return ["classes", className]
        }
    }

    /// The path of an object.
    func path(_ className: String, _ id: String) throws(RemoteError) -> [String] {
        guard !id.isEmpty else {
            throw MaxLeapError.missingObjectId.error("\(className): the object has no identifier; save it first")
        }
        // As a part of a path these would lead elsewhere.
        guard id != ".", id != ".." else {
            throw MaxLeapError.invalidObjectId.error("\(className): \"\(id)\" is not an object identifier")
        }
        return try path(ofClass: className) + [id]
    }
}

/// One query parameter of a request, before it is encoded.
///
///     let query = MaxLeapQuery("Post").where("likes", .greater(10)).limited(to: 20)
///     for parameter in try query.parameters(for: .parse) { print(parameter.name, parameter.value) }
///
/// ``MaxLeapQuery/parameters(for:)`` gives those of a query: `where` with the conditions as JSON, `order`, `limit` and so on.
/// Use them in a test, or in a log, to see what is asked; ``MaxLeapQuery/encoded(for:)`` is the text of an address.
public struct MaxLeapParameter: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// `?limit=10&where=…`, or nothing. All but letters, digits and `-._~` is encoded.
    static func query(_ parameters: [MaxLeapParameter]) -> String {
        parameters.isEmpty ? "" : "?" + encoded(parameters)
    }

    static func encoded(_ parameters: [MaxLeapParameter]) -> String {
        parameters.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }
            .joined(separator: "&")
    }
}
