import Foundation

/// The data that show a user's account at another service.
///
///     let account = try MaxLeapAuthData.facebook(id: "1234", accessToken: accessToken, expiration: .now + 3600)
///     let user = try await client.logIn(account)
///     try await client.link(MaxLeapAuthData("github", ["id": "7", "access_token": .string(accessToken)]))
///
/// There are functions for Facebook and Twitter; for any other service, name the fields as the server's adapter for it expects
/// them. Pass it to ``MaxLeapClient/logIn(_:options:)``, which makes the user if there is none, or to
/// ``MaxLeapClient/link(_:options:)``. The fields are secret: do not log them.
public struct MaxLeapAuthData: Sendable, Hashable {
    /// The service: `facebook`.
    public var provider: String
    /// What it gave, as its library names it.
    public var fields: JSONObject

    /// Names a service and what it gave.
    public init(_ provider: String, _ fields: JSONObject) {
        self.provider = provider
        self.fields = fields
    }

    /// An account at Facebook.
    /// - Parameter expiration: When the token ends.
    /// - Throws: ``RemoteError`` with code 253 for a date outside the years 1 to 9999.
    public static func facebook(
        id: String, accessToken: String, expiration: Date
    ) throws(RemoteError) -> MaxLeapAuthData {
        guard let date = MaxLeapDate.text(expiration) else {
            throw MaxLeapError.invalidAuthData.error("the token ends at no date that can be sent: \(expiration)")
        }
        return MaxLeapAuthData(
            "facebook",
            ["id": .string(id), "access_token": .string(accessToken), "expiration_date": .string(date)])
    }

    /// An account at Twitter.
    public static func twitter(
        id: String, screenName: String, consumerKey: String, consumerSecret: String, authToken: String,
        authTokenSecret: String
    ) -> MaxLeapAuthData {
        MaxLeapAuthData(
            "twitter",
            [
                "id": .string(id), "screen_name": .string(screenName), "consumer_key": .string(consumerKey),
                "consumer_secret": .string(consumerSecret), "auth_token": .string(authToken),
                "auth_token_secret": .string(authTokenSecret),
            ])
    }

    /// A user without a name.
    /// - Parameter id: What the user is known by; a new one for each.
    public static func anonymous(id: UUID = UUID()) -> MaxLeapAuthData {
        MaxLeapAuthData("anonymous", ["id": .string(id.uuidString.lowercased())])
    }

    /// The member of a user that carries it.
    var json: JSONValue { .object([provider: .object(fields)]) }
}
