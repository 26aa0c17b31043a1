import Foundation

/// A call of code on the server.
///
/// ```swift
/// var request = CustomCodeRequest(.get, "hello_world")
/// request.add("name", "Bob")
/// let reply = try await client.perform(request)
/// ```
public struct CustomCodeRequest: Sendable {
    /// The methods that code answers to.
    public enum Method: String, Sendable, Hashable, CaseIterable {
        /// Reads.
        case get = "GET"
        /// Creates.
        case post = "POST"
        /// Changes.
        case put = "PUT"
        /// Deletes.
        case delete = "DELETE"
    }

    /// How it is called.
    public var method: Method
    /// The name of the code.
    public var name: String
    /// Parameters of the query, in order. A name may come more than once.
    public var parameters: [RemoteParameter]
    /// The body; nil for none.
    public var body: Data?
    /// The MIME type of the body; nil to say nothing about it, as the old libraries did.
    public var contentType: String?
    /// MIME types of replies that are taken beside JSON, plain text and plain bytes.
    public var acceptedContentTypes: Set<String> = []
    /// Asked after each wait for a busy server what to do; nil to send the same request again.
    public var retryBlock: RetryBlock?

    /// Names a call.
    public init(
        _ method: Method = .get, _ name: String, parameters: [RemoteParameter] = [], body: Data? = nil,
        contentType: String? = nil
    ) {
        self.method = method
        self.name = name
        self.parameters = parameters
        self.body = body
        self.contentType = contentType
    }

    /// Adds a parameter behind those that are there.
    public mutating func add(_ name: String, _ value: String) {
        parameters.append(RemoteParameter(name, value))
    }
}

/// What code on the server gave back.
public enum CustomCodeReply: Sendable, Hashable {
    /// A body of one of the JSON types; no body at all is `null`.
    case json(JSONValue)
    /// A body of type `text/plain`.
    case text(String)
    /// Any other body, with its type.
    case data(Data, contentType: String)

    /// The JSON, if it is that.
    public var json: JSONValue? {
        guard case .json(let value) = self else { return nil }
        return value
    }
    /// The text, if it is that.
    public var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// Reads a reply.
    /// - Throws: ``RemoteError`` of kind ``RemoteError/Kind/invalidAnswer`` for a type that was not declared or JSON that
    ///   is none.
    init(_ response: WireResponse, accepting others: Set<String>) throws(RemoteError) {
        let type = response.contentType
        switch type {
        case "application/json", "application/vnd.stackmob+json", "":
            self = .json(response.body.isEmpty ? .null : try response.json())
        case "text/plain": self = .text(String(decoding: response.body, as: UTF8.self))
        case "application/octet-stream": self = .data(response.body, contentType: type)
        case _ where others.contains { $0.lowercased() == type }: self = .data(response.body, contentType: type)
        default:
            throw response.invalid(
                "the reply is of type \(type), which the request does not accept; add it to acceptedContentTypes")
        }
    }
}

extension StackMobClient {
    /// Calls code on the server.
    ///
    /// A busy server is waited for as often as ``RequestOptions/retries`` says.
    /// - Throws: ``RemoteError``, with code -100 if the name is empty.
    public func perform(
        _ request: CustomCodeRequest, options: RequestOptions? = nil
    ) async throws(RemoteError) -> CustomCodeReply {
        guard !request.name.isEmpty else {
            throw StackMobError.invalid("the name of the code is empty; nothing was sent")
        }
        let options = options ?? configuration.requestOptions
        let response = try await send(
            request.wire(configuration.dialect, options), options, retrying: request.retryBlock)
        return try CustomCodeReply(
            response, accepting: request.acceptedContentTypes.union(options.acceptedContentTypes))
    }
}

extension CustomCodeRequest {
    /// The parameters stay in their order.
    fileprivate func wire(_ dialect: StackMobDialect, _ options: RequestOptions) -> WireRequest {
        // The name may be a path of several parts.
        let path = name.split(separator: "/").map { PercentEncoding.encode(String($0), .pathComponent) }
        let query = parameters.map { parameter in
            "\(PercentEncoding.encode(parameter.name, .query))=\(PercentEncoding.encode(parameter.value, .query))"
        }
        var request = dialect.plainRequest(
            HTTPRequest.Method(method), "/" + path.joined(separator: "/"), query: query.joined(separator: "&"),
            secure: false, options)
        request.body = body
        if let contentType { request.head.headerFields[.contentType] = contentType }
        return request
    }
}

extension HTTPRequest.Method {
    fileprivate init(_ method: CustomCodeRequest.Method) {
        switch method {
        case .get: self = .get
        case .post: self = .post
        case .put: self = .put
        case .delete: self = .delete
        }
    }
}
