import Foundation

/// What signs push requests: the application's own keys, by OAuth 1 without a token of a user.
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

    /// The text that is signed: method, address without query, and all parameters sorted by name. Query parameters
    /// count as they stand in the address; the body does not count.
    public func baseString(for request: WireRequest, seconds: String, nonce: String) -> String {
        let query = (request.head.path ?? "").split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        let pairs =
            parameters(seconds: seconds, nonce: nonce).map { "\($0.name)=\($0.value)" }
            + query.split(separator: "&").map(String.init)
        // By name, and by value where names are equal: not by the pair, in whose order "=" has a place of its own.
        let joined = pairs.map { pair in pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false) }
            .sorted { $0.lexicographicallyPrecedes($1) { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
            .map { $0.joined(separator: "=") }
            .joined(separator: "&")
        return [request.head.method.rawValue, Self.baseURL(of: request), joined]
            .map { PercentEncoding.encode($0, .signature) }
            .joined(separator: "&")
    }

    /// HMAC-SHA-1 of ``baseString(for:seconds:nonce:)`` in base64.
    public func signature(for request: WireRequest, seconds: String, nonce: String) -> String {
        HMACSHA1.base64(
            Array(baseString(for: request, seconds: seconds, nonce: nonce).utf8),
            key: PercentEncoding.encode(consumerSecret, .signature) + "&")
    }

    /// The `Authorization` header of a request.
    /// - Parameters:
    ///   - seconds: The time, in whole seconds since 1970.
    ///   - nonce: A text that was not used before, such as a UUID.
    public func authorization(for request: WireRequest, seconds: String, nonce: String) -> String {
        let signed = [(name: "oauth_signature", value: signature(for: request, seconds: seconds, nonce: nonce))]
        let fields = (parameters(seconds: seconds, nonce: nonce) + signed)
            .map { "\($0.name)=\"\(PercentEncoding.encode($0.value, .signature))\"" }
        return "OAuth " + (["realm=\"\(Self.baseURL(of: request))\""] + fields).joined(separator: ",")
    }

    /// The request with its signature in place of any that it had.
    public func signing(_ request: WireRequest, seconds: String, nonce: String) -> WireRequest {
        var copy = request
        copy.head.headerFields[.authorization] = authorization(for: request, seconds: seconds, nonce: nonce)
        return copy
    }

    private func parameters(seconds: String, nonce: String) -> [(name: String, value: String)] {
        [
            ("oauth_consumer_key", consumerKey), ("oauth_nonce", nonce), ("oauth_signature_method", "HMAC-SHA1"),
            ("oauth_timestamp", seconds), ("oauth_version", "1.0"),
        ]
    }

    /// Scheme, host and path: the first two in lower case, the port only where it is not the scheme's own.
    static func baseURL(of request: WireRequest) -> String {
        let scheme = (request.head.scheme ?? "http").lowercased()
        let authority = Authority((request.head.authority ?? "").lowercased())
        let ownPort = scheme == "https" ? "443" : "80"
        let port = authority.port.flatMap { $0 == ownPort ? nil : ":\($0)" } ?? ""
        let path = (request.head.path ?? "/").prefix { $0 != "?" }
        return "\(scheme)://\(authority.host)\(port)\(path.isEmpty ? "/" : path)"
    }
}
