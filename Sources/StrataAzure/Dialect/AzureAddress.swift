import Foundation

/// The address of an application: a host, and a path and a query that every request keeps.
///
///     let address = try AzureAddress("https://notes.azurewebsites.net/api?tenant=a")
///     print(address.host, address.path, address.query)
///
/// A query in the address goes along with all requests, before their own parameters. Characters that no address can have, such
/// as spaces, are escaped. Text that is not an address of HTTP is an error with the code ``AzureError/invalidParameter``; a
/// host without a scheme is not enough. Give ``AzureClient`` the text; it makes the address.
public struct AzureAddress: Sendable, Hashable, CustomStringConvertible {
    /// `https` or `http`.
    public let scheme: String
    /// The host, with a port if it is not the scheme's own.
    public let authority: String
    /// The path that all others begin with, without a slash at its end; empty for most.
    public let path: String
    /// The query that all others begin with, as it is sent; empty for most.
    public let query: String

    /// Reads an address. Characters that no address can have, such as spaces, are escaped.
    /// - Throws: ``RemoteError`` of code ``AzureError/invalidParameter`` if it is not one of HTTP.
    public init(_ text: String) throws(RemoteError) {
        guard let mark = text.range(of: "://") else { throw Self.fault(text) }
        let scheme = text[..<mark.lowerBound].lowercased()
        var rest = text[mark.upperBound...].prefix { $0 != "#" }
        let host = rest.prefix { $0 != "/" && $0 != "?" }
        rest = rest.dropFirst(host.count)
        guard scheme == "https" || scheme == "http", HostAndPort(host) != nil else { throw Self.fault(text) }
        let path = rest.prefix { $0 != "?" }
        self.scheme = scheme
        authority = String(host)
        self.path = Self.trimmingSlashes(PercentEncoding.encode(path, keeping: .azureAddress), end: true)
        query = PercentEncoding.encode(rest.dropFirst(path.count + 1), keeping: .azureAddress)
    }

    /// The address as text.
    public var description: String { "\(scheme)://\(authority)\(path)\(query.isEmpty ? "" : "?\(query)")" }

    /// The host without the port.
    public var host: String { HostAndPort(authority)?.host ?? authority }

    /// A path and query within the application.
    /// - Parameters:
    ///   - pieces: The parts of the path, not escaped.
    ///   - parameters: Pairs of the query as they are sent.
    func path(_ pieces: [String], _ parameters: [String]) -> String {
        target("/" + pieces.map { PercentEncoding.encode($0, keeping: .azurePath) }.joined(separator: "/"), parameters)
    }

    /// A path and query within the application, of a path that is escaped already and begins with a slash.
    func target(_ escaped: String, _ parameters: [String]) -> String {
        let all = ((query.isEmpty ? [] : [query]) + parameters.filter { !$0.isEmpty }).joined(separator: "&")
        return path + escaped + (all.isEmpty ? "" : "?\(all)")
    }

    static func trimmingSlashes(_ text: some StringProtocol, end: Bool) -> String {
        var part = Substring(text)
        while part.last == "/" { part = part.dropLast() }
        if !end { while part.first == "/" { part = part.dropFirst() } }
        return String(part)
    }

    private static func fault(_ text: String) -> RemoteError {
        AzureError.invalidParameter.error(
            "\"\(text.prefix(200))\" is not an address of HTTP; give it whole, as in https://notes.azurewebsites.net")
    }
}

/// The escapes of these services, which are not those of others.
extension PercentEncoding.Characters {
    /// What stays as it is in names and values of query parameters.
    static let azureQuery = alphanumerics.union("-._~$'(),")
    /// What stays as it is in a part of a path.
    static let azurePath = alphanumerics.union("-._~!$&'()*,;=:@")
    /// What stays as it is in an address that is given whole: all that an address may have, and escapes.
    static let azureAddress = alphanumerics.union("-._~!$&'()*+,;=:@/?%[]")
}
