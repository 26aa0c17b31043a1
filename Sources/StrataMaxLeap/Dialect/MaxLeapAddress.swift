/// The address of a server: scheme, host and the path that all requests begin with.
///
///     let address = try MaxLeapAddress("https://parse.example.com/parse")
///     let dialect = try MaxLeapDialect(.parse, address: address, applicationID: id)
///
/// MaxLeap's own are ``china`` and ``world``, the default of MaxLeap's dialect; Parse has no usual one. Requests contain keys,
/// so an address must be `https`, or this machine: the dialect refuses others; see ``isPrivate``.
public struct MaxLeapAddress: Sendable, Hashable, CustomStringConvertible {
    /// `https` or `http`.
    public let scheme: String
    /// Host and port.
    public let authority: String
    /// What all paths begin with, without a slash at the end: `/2.0`; empty for none.
    public let path: String

    /// MaxLeap in China.
    public static let china = MaxLeapAddress(scheme: "https", authority: "api.maxleap.cn", path: "/2.0")
    /// MaxLeap elsewhere.
    public static let world = MaxLeapAddress(scheme: "https", authority: "api.maxleap.com", path: "/2.0")

    private init(scheme: String, authority: String, path: String) {
        self.scheme = scheme
        self.authority = authority
        self.path = path
    }

    /// Reads an address, with or without a slash at its end.
    /// - Throws: ``RemoteError`` if it does not begin with `https://` or `http://` and a host, or has a query.
    public init(_ text: String) throws(RemoteError) {
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 3, ["https:", "http:"].contains(parts[0].lowercased()), parts[1].isEmpty,
            HostAndPort(parts[2]) != nil, !text.contains("?"), !text.contains("#"), !text.contains(" ")
        else {
            throw MaxLeapError.notInitialized.error(
                "\(text.prefix(200)) is not the address of a server; write one like https://api.maxleap.cn/2.0/")
        }
        scheme = String(parts[0].dropLast()).lowercased()
        authority = parts[2]
        var path = parts.count > 3 ? parts[3] : ""
        while path.hasSuffix("/") { path.removeLast() }
        self.path = path.isEmpty ? "" : "/" + path
    }

    /// Whether requests go by HTTPS, or to this machine itself.
    public var isPrivate: Bool {
        if scheme == "https" { return true }
        let host = HostAndPort(authority)?.host.lowercased() ?? authority
        return ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host)
    }

    /// The address with a slash at its end.
    public var description: String { "\(scheme)://\(authority)\(path)/" }
}
