import Foundation

/// A user of a service, as the last answer described them.
///
///     if let user = users.currentUser {
///         print(user.name ?? user.id, user.fields["city"]?.string ?? "-")
///     }
///
/// ``RemoteUsers`` returns it from sign-up and log-in, and as ``RemoteUsers/currentUser``, which is there at the next launch,
/// too. It is a value and does not change; ``RemoteUsers/refreshUser()`` asks the server again. ``fields`` has the service's
/// own names and contains neither passwords nor tokens. To show and edit users as managed objects, declare a user entity in the
/// model.
public struct RemoteUser: Sendable, Hashable {
    /// What the service knows the user by.
    public var id: String
    /// The name that the user logs in by; nil if there is none, or the service does not tell.
    public var name: String?
    /// Whether the user has no name of their own yet.
    public var isAnonymous: Bool
    /// Whether the log-in made the user; nil if the service does not tell.
    public var isNew: Bool?
    /// The services by whose accounts the user can log in, as far as the service tells.
    public var providers: Set<String>
    /// The other fields of the user, by the service's own names, without passwords and tokens.
    public var fields: JSONObject

    /// Describes a user.
    public init(
        id: String, name: String? = nil, isAnonymous: Bool = false, isNew: Bool? = nil, providers: Set<String> = [],
        fields: JSONObject = [:]
    ) {
        self.id = id
        self.name = name
        self.isAnonymous = isAnonymous
        self.isNew = isNew
        self.providers = providers
        self.fields = fields
    }
}

/// A token that shows that a user has an account at another service.
///
///     let token = ProviderToken("facebook", token: accessToken, userID: "1234")
///     let user = try await users.logIn(token)
///
/// Get the token from the library of that service, and pass it to ``RemoteUsers/logIn(_:)`` or ``RemoteUsers/link(_:)``. What a
/// back end needs besides the token differs: the user's ID, a secret (OAuth 1), an expiration date. Put members that only your
/// back end knows into ``fields``. The token is secret: printing the value shows only the service.
public struct ProviderToken: Sendable, Hashable {
    /// The service: `facebook`.
    public var provider: String
    /// The token that it gave.
    public var token: String
    /// The secret of the token, where the service gives one (OAuth 1).
    public var secret: String?
    /// What the service knows the user by.
    public var userID: String?
    /// When the token ends.
    public var expiration: Date?
    /// What else is to be sent, by the names that the back end has for it. It takes the place of what the properties above
    /// come to.
    public var fields: JSONObject

    /// Takes what a service gave.
    public init(
        _ provider: String, token: String, secret: String? = nil, userID: String? = nil, expiration: Date? = nil,
        fields: JSONObject = [:]
    ) {
        self.provider = provider
        self.token = token
        self.secret = secret
        self.userID = userID
        self.expiration = expiration
        self.fields = fields
    }
}

extension ProviderToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The service, without what is secret.
    public var description: String { "token of \(provider)" }
    /// As ``description``.
    public var debugDescription: String { description }
    /// As ``description``, so that `dump` shows nothing secret either.
    public var customMirror: Swift.Mirror { Swift.Mirror(self, children: ["provider": provider]) }
}
