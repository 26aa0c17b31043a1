import Foundation

/// A session as the server granted it: tokens, expiration and user.
///
///     let answer = try dialect.tokenAnswer(response, now: Date())
///     let session = SessionCredentials(
///         signer: answer.credentials, refreshToken: answer.refreshToken, expiration: answer.expiration)
///     client.session.replace(with: session)
///
/// ``StackMobDialect/tokenAnswer(_:now:)`` reads it. ``StackMobClient`` does all of this itself when you log in; you need it
/// only if you send token requests by other means. Without `expires_in`, a session lasts an hour. It is secret.
public struct TokenAnswer: Sendable, Hashable {
    /// What signs requests.
    public var credentials: MACCredentials
    /// What renews the session; nil if the server gave none.
    public var refreshToken: String?
    /// When the access token ends.
    public var expiration: Date
    /// The user, with the fields of its schema.
    public var user: JSONObject

    /// Describes a session.
    public init(credentials: MACCredentials, refreshToken: String?, expiration: Date, user: JSONObject = [:]) {
        self.credentials = credentials
        self.refreshToken = refreshToken
        self.expiration = expiration
        self.user = user
    }

    /// Whether the access token has ended.
    public func isExpired(at now: Date) -> Bool { now >= expiration }
}

extension StackMobDialect {
    /// Reads the answer to a request for a session.
    /// - Parameter now: The time of the answer, from which the life of the token counts.
    /// - Throws: ``RemoteError`` of code ``StackMobError/temporaryPasswordResetRequired`` if the password was a temporary
    ///   one and no new one was given, otherwise that of the status, or of kind ``RemoteError/Kind/invalidAnswer``.
    public func tokenAnswer(_ response: WireResponse, now: Date) throws(RemoteError) -> TokenAnswer {
        let json = try? JSONValue(parsing: response.body)
        guard (200..<300).contains(response.status) else {
            let description = json?["error_description"]?.string
            if description == "Temporary password reset required." {
                throw StackMobError.temporaryPasswordResetRequired.error(
                    "the password is a temporary one; log in with it and a new password", status: response.status,
                    body: response.body)
            }
            var error = failure(response)!
            if let description { error.message = description }
            throw error
        }
        guard let token = json?["access_token"]?.string, let key = json?["mac_key"]?.string else {
            throw RemoteError(
                .invalidAnswer, domain: StackMobError.httpDomain, code: response.status,
                message: "the answer to a request for a session has no access_token or no mac_key",
                status: response.status, body: response.body)
        }
        let life = json?["expires_in"]?.double ?? json?["expires_in"]?.string.flatMap(Double.init) ?? 3600
        return TokenAnswer(
            credentials: MACCredentials(accessToken: token, key: key), refreshToken: json?["refresh_token"]?.string,
            expiration: now.addingTimeInterval(life), user: json?["stackmob"]?["user"]?.members ?? [:])
    }
}
