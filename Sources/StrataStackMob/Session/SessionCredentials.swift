import Foundation

/// The session of a logged-in user as it is kept.
///
///     if let session = client.session.credentials {
///         print(session.userID ?? "-", session.expiration)
///         otherClient.session.replace(with: session)  // another client of the application
///     }
///
/// A ``UserSession`` keeps it in its storage as JSON, and renews it with ``refreshToken``. ``expiration`` is the end of the
/// access token, not of the session: with a refresh token, the user stays logged in. It is secret: printing it shows no token
/// and no key, but its JSON contains both.
public struct SessionCredentials: Sendable, Hashable, Codable {
    /// What signs requests.
    public var signer: MACCredentials
    /// Renews the session; nil if the server gave nothing.
    public var refreshToken: String?
    /// When the access token ends, by this machine's clock.
    public var expiration: Date
    /// The primary key of the user, if the server told it.
    public var userID: String?

    /// Describes a session.
    public init(signer: MACCredentials, refreshToken: String?, expiration: Date, userID: String? = nil) {
        self.signer = signer
        self.refreshToken = refreshToken
        self.expiration = expiration
        self.userID = userID
    }

    init(_ answer: TokenAnswer, primaryKeyField: String) {
        self.init(
            signer: answer.credentials, refreshToken: answer.refreshToken, expiration: answer.expiration,
            userID: answer.user[primaryKeyField]?.string)
    }
}

extension SessionCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// User and end, without what is secret.
    public var description: String {
        "session of \(userID ?? "an unnamed user") until \(expiration.formatted(.iso8601))"
    }
    /// As ``description``.
    public var debugDescription: String { description }
    /// As ``description``, so that `dump` shows nothing secret either.
    public var customMirror: Swift.Mirror {
        Swift.Mirror(self, children: ["userID": userID as Any, "expiration": expiration])
    }
}
