import Foundation

/// The credentials that sign push requests: the application's own keys, by OAuth 1 without a token of a user.
///
///     let credentials = OAuth1Credentials(consumerKey: key, consumerSecret: privateKey)
///     let request = try dialect.pushRequest(.delete(PushToken("0fa9")))
///     let header = credentials.authorization(for: request, seconds: "1368489600", nonce: UUID().uuidString)
///
/// ``PushClient`` uses them for you. Query parameters are signed as they appear in the address, because StackMob's own
/// libraries sign them like this; the body is not signed. The private key lets its owner send messages to all users: do not
/// ship it in an app.
public struct OAuth1Credentials: Sendable, Hashable {
    /// The public key of the application.
    public var consumerKey: String
    /// The private key of the application.
    public var consumerSecret: String

    /// Takes the keys of an application.
    public init(consumerKey: String, consumerSecret: String) {
        self.consumerKey = consumerKey
        self.consumerSecret = consumerSecret
    }

    /// The text that is signed: method, address without query, and all parameters sorted by name. The body does not
    /// count.
    public func baseString(for request: WireRequest, seconds: String, nonce: String) -> String {
        let request = OAuth1Request(request)
        return request.baseString(parameters(request, seconds, nonce), queryForm: .asSent)
    }

    /// HMAC-SHA-1 of ``baseString(for:seconds:nonce:)`` in base64.
    public func signature(for request: WireRequest, seconds: String, nonce: String) -> String {
        let request = OAuth1Request(request)
        return OAuth1Secrets(consumer: consumerSecret)
            .signature(of: request, parameters(request, seconds, nonce), queryForm: .asSent)
    }

    /// The `Authorization` header of a request.
    /// - Parameters:
    ///   - seconds: The time, in whole seconds since 1970.
    ///   - nonce: A text that was not used before, such as a UUID.
    public func authorization(for request: WireRequest, seconds: String, nonce: String) -> String {
        var authorization = parameters(OAuth1Request(request), seconds, nonce)
        authorization["oauth_signature"] = signature(for: request, seconds: seconds, nonce: nonce)
        return authorization.header
    }

    /// The request with its signature in place of any that it had.
    public func signing(_ request: WireRequest, seconds: String, nonce: String) -> WireRequest {
        var copy = request
        copy.head.headerFields[.authorization] = authorization(for: request, seconds: seconds, nonce: nonce)
        return copy
    }

    private func parameters(_ request: OAuth1Request, _ seconds: String, _ nonce: String) -> OAuth1Authorization {
        OAuth1Authorization(consumerKey: consumerKey, timestamp: seconds, nonce: nonce, realm: request.baseURI)
    }
}

extension OAuth1Request {
    /// The parts of a request that are signed, without its body.
    package init(_ request: WireRequest) {
        self.init(
            method: request.head.method.rawValue, scheme: request.head.scheme ?? "http",
            authority: request.head.authority ?? "", target: request.head.path ?? "/")
    }
}
