import Crypto
import Foundation

/// What signs the requests of a logged-in user: OAuth 2 with MAC tokens.
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
    ///   - nonce: Any text without quotes that was not used with this time before.
    public func authorization(for request: WireRequest, seconds: Int64, nonce: String) -> String {
        authorization(for: MACTarget(request), seconds: seconds, nonce: nonce)
    }

    /// The `Authorization` header of what is signed of a request.
    public func authorization(for target: MACTarget, seconds: Int64, nonce: String) -> String {
        let mac = signature(of: target.message(seconds: seconds, nonce: nonce))
        return "MAC id=\"\(accessToken)\",ts=\"\(seconds)\",nonce=\"\(nonce)\",mac=\"\(mac)\""
    }

    /// The request with its signature in place of any that it had.
    public func signing(_ request: WireRequest, seconds: Int64, nonce: String) -> WireRequest {
        var copy = request
        copy.head.headerFields[.authorization] = authorization(for: request, seconds: seconds, nonce: nonce)
        return copy
    }

    /// The signature of a message: HMAC-SHA-1 in base64.
    public func signature(of message: [UInt8]) -> String { HMACSHA1.base64(message, key: key) }
}

/// What a MAC signature covers of a request.
public struct MACTarget: Sendable, Hashable {
    /// The HTTP method.
    public var method: String
    /// Path and query in the form that is signed.
    public var requestURI: [UInt8]
    /// The host without the port.
    public var host: String
    /// The port, also where it is the scheme's own.
    public var port: String

    /// Describes what is signed.
    public init(method: String, requestURI: [UInt8], host: String, port: String) {
        self.method = method
        self.requestURI = requestURI
        self.host = host
        self.port = port
    }

    /// What is signed of a request. The path is signed as it is sent. The query is signed with escapes undone, but for
    /// those of the signs that have a meaning in addresses, and of the space: so a client that escapes brackets and one
    /// that does not sign the same.
    public init(_ request: WireRequest) {
        let path = request.head.path ?? "/"
        let parts = path.utf8.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        var uri = Array(parts[0])
        if uri.first != UInt8(ascii: "/") { uri.insert(UInt8(ascii: "/"), at: 0) }
        if parts.count > 1, !parts[1].isEmpty {
            uri.append(UInt8(ascii: "?"))
            uri += PercentEncoding.decode(parts[1], keeping: Self.escapedSigns)
        }
        let authority = Authority(request.head.authority ?? "")
        self.init(
            method: request.head.method.rawValue, requestURI: uri, host: authority.host,
            port: authority.port ?? (request.head.scheme?.lowercased() == "https" ? "443" : "80"))
    }

    /// The message that is signed: time, nonce, method, address, host and port, each with a line feed behind it, and one
    /// more line feed.
    public func message(seconds: Int64, nonce: String) -> [UInt8] {
        Array("\(seconds)\n\(nonce)\n\(method)\n".utf8) + requestURI + Array("\n\(host)\n\(port)\n\n".utf8)
    }

    private static let escapedSigns = Set(":/.?&=;+!@#$()~ ".utf8)
}

/// Host and port of an address.
struct Authority {
    let host: String
    /// The port, if there is one.
    let port: String?

    init(_ text: String) {
        // The colons of an IPv6 address stand in brackets.
        let tail = text.lastIndex(of: "]").map { text[$0...] } ?? text[...]
        if let colon = tail.lastIndex(of: ":"), tail[colon...].dropFirst().allSatisfy(\.isNumber),
            colon != text.index(before: text.endIndex)
        {
            host = String(text[..<colon])
            port = String(text[text.index(after: colon)...])
        } else {
            host = text.hasSuffix(":") ? String(text.dropLast()) : text
            port = nil
        }
    }
}

enum HMACSHA1 {
    /// The authentication code in base64. The key is text in UTF-8.
    static func base64(_ message: [UInt8], key: String) -> String {
        let code = HMAC<Insecure.SHA1>.authenticationCode(
            for: Data(message), using: SymmetricKey(data: Data(key.utf8)))
        return Data(code).base64EncodedString()
    }
}
