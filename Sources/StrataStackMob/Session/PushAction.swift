import Foundation

/// The token of a device that messages are pushed to.
///
///     let token = PushToken(deviceToken)  // the bytes that the system gave
///     try await client.push.register(token, for: "bob")
///     for device in try await client.push.tokens(ofUsers: ["bob"])["bob"] ?? [] {
///         print(device.kind, device.token, device.registered ?? .distantPast)
///     }
///
/// Create it from the bytes or from their hexadecimal digits, with the kind of the device: Apple's by default. ``PushClient``
/// registers and deletes tokens, and sends messages to them. Register again at each launch, since the system may change the
/// token.
public struct PushToken: Sendable, Hashable {
    /// The kinds of devices.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Apple's service; a token is 64 hexadecimal digits.
        case ios
        /// Google's old service (C2DM).
        case android
        /// Google's later service.
        case androidGCM = "androidgcm"
    }

    /// The token.
    public var token: String
    /// The kind of device.
    public var kind: Kind
    /// When it was registered, if the server told.
    public var registered: Date?

    /// Names a device.
    public init(_ token: String, kind: Kind = .ios, registered: Date? = nil) {
        self.token = token
        self.kind = kind
        self.registered = registered
    }

    var json: JSONValue { ["token": .string(token), "type": .string(kind.rawValue)] }

    /// Reads a device of an answer.
    init?(json: JSONValue) {
        guard let token = json["token"]?.string else { return nil }
        let time = json["registered_milliseconds"]?.double
        self.init(
            token, kind: json["type"]?.string.flatMap(Kind.init) ?? .ios,
            registered: time.map { Date(timeIntervalSince1970: $0 / 1000) })
    }
}

/// A request about push messages: register a device, send a message, list devices.
///
///     let credentials = OAuth1Credentials(consumerKey: key, consumerSecret: privateKey)
///     let request = try dialect.pushRequest(.broadcast(["alert": "Hello", "badge": 1]))
///     let signed = credentials.signing(request, seconds: "1368489600", nonce: UUID().uuidString)
///
/// ``StackMobDialect/pushRequest(_:options:)`` makes the request, which still has to be signed with ``OAuth1Credentials``. Apps
/// call ``PushClient``, which does both. The content of a message is a JSON object: `alert`, `badge`, `sound` and anything
/// else.
public enum PushAction: Sendable, Hashable {
    /// Ties a device to a user.
    case register(PushToken, user: String, overwrites: Bool = true)
    /// Sends to all devices.
    case broadcast(JSONObject)
    /// Sends to the devices of users.
    case sendToUsers(JSONObject, users: [String])
    /// Sends to devices.
    case sendToTokens(JSONObject, tokens: [PushToken])
    /// Reads the devices of users.
    case tokensOfUsers([String])
    /// Forgets a device.
    case delete(PushToken)
}

extension StackMobDialect {
    /// The request for something with push messages. It still has to be signed with ``OAuth1Credentials``.
    /// - Throws: ``RemoteError`` of code ``StackMobError/invalidArguments`` if a token or a user is empty, or there are
    ///   none; also for a message with a number that is not finite.
    public func pushRequest(
        _ action: PushAction, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        switch action {
        case .register(let token, let user, let overwrites):
            try Self.check([token.token, user])
            return try push(
                "register_device_token_universal",
                ["userId": .string(user), "token": token.json, "overwrite": .boolean(overwrites)], options)
        case .broadcast(let content):
            return try push("push_broadcast_universal", ["kvPairs": .object(content)], options)
        case .sendToUsers(let content, let users):
            try Self.check(users)
            return try push(
                "push_users_universal",
                ["kvPairs": .object(content), "userIds": .array(users.map(JSONValue.string))], options)
        case .sendToTokens(let content, let tokens):
            try Self.check(tokens.map(\.token))
            return try push(
                "push_tokens_universal",
                ["payload": ["kvPairs": .object(content)], "tokens": .array(tokens.map(\.json))], options)
        case .tokensOfUsers(let users):
            try Self.check(users)
            let query = QueryParameters.stackMobText([("userIds", users.joined(separator: ","))])
            return try push("get_tokens_for_users_universal?\(query)", nil, options)
        case .delete(let token):
            try Self.check([token.token])
            return try push("remove_token_universal", token.json, options)
        }
    }

    /// Reads the answer to ``PushAction/tokensOfUsers(_:)``: the devices by user.
    /// - Throws: ``RemoteError`` in the domain of ``StackMobError`` with the status as code.
    public func pushTokens(_ response: WireResponse) throws(RemoteError) -> [String: [PushToken]] {
        try checkPush(response)
        guard let users = (try? JSONValue(parsing: response.body))?["tokens"]?.members else {
            throw RemoteError(
                .invalidAnswer, domain: StackMobError.domain, code: response.status,
                message: "the answer has no object \"tokens\"", status: response.status, body: response.body)
        }
        let tokens = users.map { user, list in (user, (list.elements ?? []).compactMap(PushToken.init(json:))) }
        return Dictionary(uniqueKeysWithValues: tokens)
    }

    /// Refuses an answer of the push service that reports a failure.
    /// - Throws: ``RemoteError`` in the domain of ``StackMobError`` with the status as code.
    public func checkPush(_ response: WireResponse) throws(RemoteError) {
        guard var error = failure(response) else { return }
        error.domain = StackMobError.domain
        throw error
    }

    private func push(
        _ path: String, _ body: JSONValue?, _ options: RequestOptions
    ) throws(RemoteError) -> WireRequest {
        var head = HTTPRequest(
            method: body == nil ? .get : .post, scheme: options.isSecure || securesRemote(pushHost) ? "https" : "http",
            authority: pushHost,
            path: "/\(path)")
        head.headerFields[.accept] = accept
        head.headerFields[.userAgent] = userAgent
        head.headerFields[.contentType] = "application/json; charset=utf-8"
        return WireRequest(head, body: try body.map(Self.body)).adding(options.headers)
    }

    private static func check(_ arguments: [String]) throws(RemoteError) {
        guard !arguments.isEmpty, !arguments.contains("") else {
            throw StackMobError.invalid("a push request needs users and tokens that are not empty; nothing was sent")
        }
    }
}
