import Foundation

/// Push messages to devices and users. Requests are signed with the keys of the application, not of a user.
///
///     let push = try client.push
///     try await push.send(["alert": "Your turn", "badge": 1], toUsers: ["bob", "eve"])
///     let devices = try await push.tokens(ofUsers: ["bob"])
///
/// Get it from ``StackMobClient/push``, which throws without a private key in the configuration. A message is JSON by name;
/// `alert`, `badge` and `sound` mean something to every device, and your app receives the rest. Errors have the domain
/// `SMError` and the status as code. The contents of messages are logged, if the client logs.
public struct PushClient: Sendable {
    private let configuration: StackMobConfiguration
    private let sender: HTTPBackend

    init(_ client: StackMobClient) throws(RemoteError) {
        configuration = client.configuration
        guard let key = configuration.privateKey, !key.isEmpty else {
            throw StackMobError.invalid(
                "push requests are signed with the private key of the application; give it in the configuration")
        }
        let authorizer = PushAuthorizer(
            credentials: OAuth1Credentials(consumerKey: configuration.dialect.publicKey, consumerSecret: key),
            configuration: configuration)
        sender = HTTPBackend(
            dialect: configuration.dialect, transport: client.transport, authorizer: authorizer,
            clock: configuration.clock)
    }

    /// Ties a device to a user.
    /// - Parameter overwrites: Whether the token is taken from another user who had it.
    /// - Throws: ``RemoteError``, with code -100 if the token or the user is empty, otherwise the status.
    public func register(
        _ token: PushToken, for user: String, overwrites: Bool = true, options: RequestOptions? = nil
    ) async throws(RemoteError) {
        try await perform(.register(token, user: user, overwrites: overwrites), options)
    }

    /// Sends a message to all devices of the application.
    /// - Throws: ``RemoteError`` with the status if the server refuses it.
    public func broadcast(_ message: JSONObject, options: RequestOptions? = nil) async throws(RemoteError) {
        try await perform(.broadcast(message), options)
    }

    /// Sends a message to all devices of users.
    /// - Throws: ``RemoteError``, with code -100 if there are no users or one is empty, otherwise the status.
    public func send(
        _ message: JSONObject, toUsers users: [String], options: RequestOptions? = nil
    ) async throws(RemoteError) {
        try await perform(.sendToUsers(message, users: users), options)
    }

    /// Sends a message to devices.
    /// - Throws: ``RemoteError``, with code -100 if there are no tokens or one is empty, otherwise the status.
    public func send(
        _ message: JSONObject, toTokens tokens: [PushToken], options: RequestOptions? = nil
    ) async throws(RemoteError) {
        try await perform(.sendToTokens(message, tokens: tokens), options)
    }

    /// The devices of users.
    /// - Returns: Tokens by user; a user without any may be missing.
    /// - Throws: ``RemoteError``, with code -100 if there are no users or one is empty, otherwise the status.
    public func tokens(
        ofUsers users: [String], options: RequestOptions? = nil
    ) async throws(RemoteError) -> [String: [PushToken]] {
        try configuration.dialect.pushTokens(await send(.tokensOfUsers(users), options))
    }

    /// Forgets a device.
    /// - Throws: ``RemoteError``, with code -100 if the token is empty, otherwise the status.
    public func delete(_ token: PushToken, options: RequestOptions? = nil) async throws(RemoteError) {
        try await perform(.delete(token), options)
    }

    private func perform(_ action: PushAction, _ options: RequestOptions?) async throws(RemoteError) {
        try configuration.dialect.checkPush(await send(action, options))
    }

    private func send(_ action: PushAction, _ options: RequestOptions?) async throws(RemoteError) -> WireResponse {
        let options = options ?? configuration.requestOptions
        return try await sender.send(configuration.dialect.pushRequest(action, options: options), options: options)
    }
}

/// Signs with the keys of the application, which never end.
private struct PushAuthorizer: RequestAuthorizer {
    let credentials: OAuth1Credentials
    let configuration: StackMobConfiguration

    func authorize(_ request: WireRequest, options: RequestOptions) async throws(RemoteError) -> WireRequest {
        let seconds = Int64(configuration.clock.now.timeIntervalSince1970.rounded(.down))
        return credentials.signing(request, seconds: String(seconds), nonce: configuration.nonce())
    }

    func recover(
        from response: WireResponse, to request: WireRequest, options: RequestOptions
    ) async throws(RemoteError) -> Bool { false }
}

extension PushToken {
    /// Names a device by the bytes that its system gave: they are written as hexadecimal digits.
    public init(_ bytes: Data, kind: Kind = .ios) {
        self.init(Hexadecimal.text(bytes), kind: kind)
    }
}
