import Foundation

/// The proof that a user shows to get a session: a password, or a token of another service.
///
///     try await client.logIn(.password(username: "bob", password: password))
///     try await client.logIn(.facebook(token: accessToken, creates: true))
///
/// Pass it to ``StackMobClient/logIn(_:options:)``, or only make the request with ``StackMobDialect/tokenRequest(_:options:)``.
/// Most apps call the methods with arguments instead, such as ``StackMobClient/logIn(username:password:options:)``, or the
/// ``StackMobUsers`` that all services share. The request goes by HTTPS. ``refresh(token:)`` is what a session renews itself
/// with. An empty value is an error before anything is sent.
public enum TokenGrant: Sendable, Hashable {
    /// Name and password.
    case password(username: String, password: String)
    /// Name and the temporary password that was mailed, with the password that is to be the user's from now on.
    case temporaryPassword(username: String, password: String, newPassword: String)
    /// The refresh token of a session.
    case refresh(token: String)
    /// A token of Facebook.
    /// - Parameters:
    ///   - creates: Whether a user is made for it if there is none.
    ///   - username: The name of a user that is made.
    case facebook(token: String, creates: Bool = false, username: String? = nil)
    /// A token of Twitter with its secret.
    /// - Parameters:
    ///   - creates: Whether a user is made for it if there is none.
    ///   - username: The name of a user that is made.
    case twitter(token: String, secret: String, creates: Bool = false, username: String? = nil)
    /// A user of Gigya, with Gigya's signature and its time.
    case gigya(uid: String, signature: String, timestamp: String)
}

extension StackMobDialect {
    /// The request that asks for a session. It is not signed, and goes by HTTPS.
    /// - Throws: ``RemoteError`` of code ``StackMobError/invalidArguments`` if a credential is empty.
    public func tokenRequest(
        _ grant: TokenGrant, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        let (endpoint, credentials) = fields(of: grant)
        for (name, value) in credentials where value.isEmpty {
            throw StackMobError.invalid("a request for a session needs a value for \(name)")
        }
        let form = credentials + [("token_type", "mac"), ("mac_algorithm", "hmac-sha-1")]
        var request = plainRequest(
            .post, "/\(userSchema.lowercased())/\(endpoint)", query: "", secure: true, options)
        request.head.headerFields[.contentType] = "application/x-www-form-urlencoded"
        request.body = Data(QueryParameters.sortedStackMobText(form).utf8)
        return request.adding(options.headers)
    }

    private func fields(of grant: TokenGrant) -> (endpoint: String, fields: [(name: String, value: String)]) {
        switch grant {
        case .password(let username, let password):
            ("accessToken", [(userPrimaryKeyField, username), (userPasswordField, password)])
        case .temporaryPassword(let username, let password, let newPassword):
            (
                "accessToken",
                [(userPrimaryKeyField, username), (userPasswordField, password), ("new_password", newPassword)]
            )
        case .refresh(let token): ("refreshToken", [("refresh_token", token)])
        case .facebook(let token, let creates, let username):
            (
                creates ? "facebookAccessTokenWithCreate" : "facebookAccessToken",
                [("fb_at", token)] + Self.name(creates ? username : nil)
            )
        case .twitter(let token, let secret, let creates, let username):
            (
                creates ? "twitterAccessTokenWithCreate" : "twitterAccessToken",
                [("tw_tk", token), ("tw_ts", secret)] + Self.name(creates ? username : nil)
            )
        case .gigya(let uid, let signature, let timestamp):
            ("gigyaAccessToken", [("gigya_uid", uid), ("gigya_sig", signature), ("gigya_ts", timestamp)])
        }
    }

    private static func name(_ username: String?) -> [(name: String, value: String)] {
        username.map { [("username", $0)] } ?? []
    }
}
