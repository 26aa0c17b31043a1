import Foundation

/// A call of code on the server.
///
///     var request = CustomCodeRequest("thumbnail", method: .get)
///     request.add("id", "42")
///     request.acceptedContentTypes = ["image/png"]
///     if case .data(let png, _) = try await client.perform(request) { print(png.count) }
///
/// Pass it to ``StackMobClient/perform(_:options:)``. Parameters keep their order, and a name may come more than once. The call
/// is signed with the session, if a user is logged in. It is not queued without a network, and does not change the mirror of a
/// store: pull afterwards if the code has changed objects.
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
    /// MIME types of replies that are taken besides JSON, plain text and plain bytes.
    public var acceptedContentTypes: Set<String> = []
    /// Asked after each wait for a busy server what to do; nil to send the same request again.
    public var retryBlock: RetryBlock?

    /// Names a call.
    public init(
        _ name: String, method: Method = .get, parameters: [RemoteParameter] = [], body: Data? = nil,
        contentType: String? = nil
    ) {
        self.method = method
        self.name = name
        self.parameters = parameters
        self.body = body
        self.contentType = contentType
    }

    /// Adds a parameter after those that are there.
    public mutating func add(_ name: String, _ value: String) {
        parameters.append(RemoteParameter(name, value))
    }
}

/// The reply of code on the server: JSON, text or bytes, by its type.
///
///     switch try await client.perform(CustomCodeRequest("hello_world")) {
///     case .json(let value): print(value["message"]?.string ?? "")
///     case .text(let text): print(text)
///     case .data(let bytes, let contentType): print(bytes.count, contentType)
///     }
///
/// Replies of the JSON types and without a type are parsed; a body that is not JSON is an error. Other types than JSON, plain
/// text and plain bytes must be in ``CustomCodeRequest/acceptedContentTypes``. Statuses of failure are thrown as `RemoteError`.
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

    init(_ reply: RemoteReply, _ response: WireResponse) throws(RemoteError) {
        switch reply.contentType {
        case "application/json", "application/vnd.stackmob+json", nil:
            self = .json(reply.body.isEmpty ? .null : try response.json())
        case "text/plain": self = .text(String(decoding: reply.body, as: UTF8.self))
        case let type?: self = .data(reply.body, contentType: type)
        }
    }
}

extension StackMobClient {
    /// Calls code on the server.
    ///
    /// A busy server is waited for as often as ``RequestOptions/retries`` says.
    /// - Throws: ``RemoteError``, with code -100 if the name is empty, and of kind ``RemoteError/Kind/invalidAnswer``
    ///   for a reply of a type that was not declared, or invalid JSON.
    public func perform(
        _ request: CustomCodeRequest, options: RequestOptions? = nil
    ) async throws(RemoteError) -> CustomCodeReply {
        let options = options ?? configuration.requestOptions
        let wire = try configuration.dialect.callRequest(request.call, options: options)
        let response = try await send(wire, options, retrying: request.retryBlock)
        let reply = try configuration.dialect.callReply(
            response, accepting: Set(request.acceptedContentTypes.map { $0.lowercased() }))
        return try CustomCodeReply(reply, response)
    }
}

extension CustomCodeRequest {
    fileprivate var call: RemoteCall {
        RemoteCall(method: method.rawValue, name: name, parameters: parameters, body: body, contentType: contentType)
    }
}
