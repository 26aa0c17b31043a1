/// Host and port as they appear in an address and in the header `Host`: an authority of RFC 3986 without user
/// information.
public struct HostAndPort: Sendable, Hashable, CustomStringConvertible {
    /// A name, an IPv4 address, or an IPv6 address in brackets, as it is spelt.
    public let host: String
    /// The port; nil if none is given, which means that of the scheme.
    public let port: UInt16?

    /// Reads `example.com`, `127.0.0.1:8080` or `[::1]:8080`. An empty port counts as no port.
    /// - Returns: nil for an empty host, characters that no host has, an IPv6 address without brackets, and a port
    ///   that is not a number up to 65535.
    public init?(_ text: some StringProtocol) {
        let host: Substring
        let rest: Substring
        let text = Substring(text)
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]"), Self.isIPv6(text[text.index(after: text.startIndex)..<end]) else {
                return nil
            }
            host = text[...end]
            rest = text[text.index(after: end)...]
        } else {
            host = text.prefix { $0 != ":" }
            rest = text[host.endIndex...]
            guard !host.isEmpty, host.utf8.allSatisfy(Self.nameCharacters.contains) else { return nil }
        }
        guard let port = Self.port(rest) else { return nil }
        self.host = String(host)
        self.port = port.number
    }

    /// The host, and the port if one is given.
    public var description: String { host + (port.map { ":\($0)" } ?? "") }

    /// The standard port of a scheme: 443 for `https`, 80 for all others.
    public static func standardPort(of scheme: String) -> UInt16 { scheme.lowercased() == "https" ? 443 : 80 }

    private static let nameCharacters = PercentEncoding.Characters.unreserved.union("!$&'()*+,;=%")
    private static let addressCharacters = PercentEncoding.Characters("0123456789ABCDEFabcdef:.")

    /// Whether a text may be an IPv6 address. Whether there is such an address is for the system to find out.
    private static func isIPv6(_ text: Substring) -> Bool {
        text.utf8.allSatisfy(addressCharacters.contains) && text.utf8.count { $0 == UInt8(ascii: ":") } >= 2
    }

    /// The port of what follows the host; nil if it is not one.
    private static func port(_ text: Substring) -> (number: UInt16?, Void)? {
        guard let colon = text.utf8.first else { return (nil, ()) }
        let digits = text.dropFirst()
        guard colon == UInt8(ascii: ":"),
            digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        if digits.isEmpty { return (nil, ()) }
        return UInt16(digits).map { ($0, ()) }
    }
}
