import Foundation

/// The credentials that sign the requests of a logged-in user: OAuth 2 with MAC tokens.
///
///     let request = try dialect.readRequest(schema: "city", id: "1")
///     let signed = credentials.signing(request, seconds: Int64(Date().timeIntervalSince1970), nonce: UUID().uuidString)
///     print(signed.head.headerFields[.authorization] ?? "")
///
/// ``StackMobClient`` signs each attempt itself, by the server's clock. Use this type to send a request by other means, or to
/// check a signature in a test. A nonce must not be used twice at the same time; the signature covers method, path and host,
/// not the body. Token and key are secret: they let anybody act as the user until the token expires.
public struct MACCredentials: Sendable, Hashable, Codable {
    /// The access token.
    public var accessToken: String
    /// The key of the signatures.
    public var key: String

    /// Takes token and key of a session.
    public init(accessToken: String, key: String) {
        self.accessToken = accessToken
        self.key = key
    }

    /// The `Authorization` header of a request.
    /// - Parameters:
    ///   - seconds: The time, in whole seconds since 1970.
    ///   - nonce: A text that was not used with this time before.
    public func authorization(for request: WireRequest, seconds: Int64, nonce: String) -> String {
        authorization(for: MACTarget(request), seconds: seconds, nonce: nonce)
    }

    /// The `Authorization` header of what is signed of a request.
    public func authorization(for target: MACTarget, seconds: Int64, nonce: String) -> String {
        MACAuthorization(signing: target, id: accessToken, key: key, timestamp: String(seconds), nonce: nonce).header
    }

    /// The request with its signature in place of any that it had.
    public func signing(_ request: WireRequest, seconds: Int64, nonce: String) -> WireRequest {
        var copy = request
        copy.head.headerFields[.authorization] = authorization(for: request, seconds: seconds, nonce: nonce)
        return copy
    }

    /// The signature of a message: HMAC-SHA-1 in base64.
    public func signature(of message: [UInt8]) -> String { HMACSHA1.code(of: message, key: key).base64EncodedString() }
}

extension MACTarget {
    /// The parts of a request that are signed.
    public init(_ request: WireRequest) {
        self.init(
            method: request.head.method.rawValue, target: request.head.path ?? "/",
            authority: request.head.authority ?? "", scheme: request.head.scheme ?? "http")
    }
}
