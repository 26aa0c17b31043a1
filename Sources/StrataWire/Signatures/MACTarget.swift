/// The parts of a request that a MAC signature covers (OAuth 2 with MAC tokens, in the form that some services have).
public struct MACTarget: Sendable, Hashable {
    /// The HTTP method.
    public var method: String
    /// Path and query in the form that is signed.
    public var requestURI: [UInt8]
    /// The host without the port.
    public var host: String
    /// The port, even where it is the standard one of the scheme.
    public var port: String

    /// Describes what is signed.
    public init(method: String, requestURI: [UInt8], host: String, port: String) {
        self.method = method
        self.requestURI = requestURI
        self.host = host
        self.port = port
    }

    /// What a client signs of a request.
    ///
    /// The path is signed as it is sent. The query is signed with its escapes undone, except for those of the characters
    /// that have a meaning in addresses, and of the space: a client that escapes brackets and one that does not sign the
    /// same.
    /// - Parameters:
    ///   - target: Path and query as they are sent.
    ///   - authority: Host and port as they are sent.
    ///   - scheme: `http` or `https`, which have a standard port each.
    public init(method: String, target: String, authority: String, scheme: String) {
        let (path, query) = Self.split(target)
        let address = HostAndPort(authority)
        self.init(
            method: method, requestURI: Self.join(path, Self.unescaped(query) { !Self.keptEscaped.contains($0) }),
            host: address?.host ?? authority,
            port: String(address?.port ?? HostAndPort.standardPort(of: scheme)))
    }

    /// The message that is signed: time, nonce, method, address, host and port, each followed by a line feed, and one
    /// more line feed.
    public func message(timestamp: String, nonce: String) -> [UInt8] {
        Array("\(timestamp)\n\(nonce)\n\(method)\n".utf8) + requestURI + Array("\n\(host)\n\(port)\n\n".utf8)
    }

    /// What clients of all ages may have signed of a request, the most likely form first: the path as it is sent or
    /// without escapes; the query as in ``init(method:target:authority:scheme:)``, as it is sent, or with those
    /// characters plain that JavaScript leaves plain and browsers escape.
    package static func candidates(method: String, target: String, authority: String, scheme: String) -> [MACTarget] {
        let usual = MACTarget(method: method, target: target, authority: authority, scheme: scheme)
        let (path, query) = split(target)
        let queries = [
            unescaped(query) { !keptEscaped.contains($0) }, query, unescaped(query, where: plainInJavaScript.contains),
        ]
        var candidates: [MACTarget] = []
        for path in [path, unescaped(path) { _ in true }] {
            for query in queries {
                var candidate = usual
                candidate.requestURI = join(path, query)
                if !candidates.contains(candidate) { candidates.append(candidate) }
            }
        }
        return candidates
    }

    private static let keptEscaped = PercentEncoding.Characters(":/.?&=;+!@#$()~ ")
    /// What `encodeURIComponent` does not escape besides the unreserved characters.
    private static let plainInJavaScript = PercentEncoding.Characters("!'()*")

    private static func split(_ target: String) -> (path: [UInt8], query: [UInt8]) {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        let slash = path.first == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]
        return (slash + path, Array(target.utf8.dropFirst(path.count + 1)))
    }

    private static func join(_ path: [UInt8], _ query: [UInt8]) -> [UInt8] {
        query.isEmpty ? path : path + [UInt8(ascii: "?")] + query
    }

    private static func unescaped(_ bytes: [UInt8], where undone: (UInt8) -> Bool) -> [UInt8] {
        PercentEncoding.decode(bytes: bytes, where: undone)
    }
}
