import Foundation

/// A user who is logged in, as it is kept: the service's name for the user, and the token.
///
///     if let user = client.session.user {
///         print(user.id, user.expiration ?? .distantFuture)
///     }
///
/// ``AzureSession/user`` is the present one. To take up a user whose token was kept elsewhere, create one and call
/// ``AzureSession/replace(with:)``. ``expiration`` is read from the token without checking its signature, and is nil if the
/// token does not tell. The token is secret: printing the user does not show it, but its coded form contains it.
public struct AzureUser: Sendable, Hashable, Codable {
    /// The name that the service gave to the user: `sid:12345678`, `Facebook:1234`.
    public var id: String
    /// What requests are made with.
    public var token: String

    /// Takes up a user whose token was kept elsewhere.
    public init(id: String, token: String) {
        self.id = id
        self.token = token
    }

    /// When the token ends, if it is a JSON Web Token that tells (RFC 7519, `exp`). Nothing is checked but that.
    public var expiration: Date? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        var text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: String(text)), let json = try? JSONValue(parsing: data),
            let seconds = json["exp"]?.double
        else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }
}

extension AzureUser: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The name, without what is secret.
    public var description: String { "user \(id)" }
    /// As ``description``.
    public var debugDescription: String { description }
    /// As ``description``, so that `dump` shows nothing secret either.
    public var customMirror: Swift.Mirror { Swift.Mirror(self, children: ["id": id]) }
}
