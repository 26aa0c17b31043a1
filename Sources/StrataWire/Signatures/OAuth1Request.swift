/// The parts of a request that an OAuth 1 signature covers (RFC 5849, section 3.4.1).
package struct OAuth1Request: Sendable, Hashable {
    /// How the parameters of the query count.
    package enum QueryForm: Sendable, Hashable, CaseIterable {
        /// By their names and values, however they are escaped, as the RFC has it.
        case decoded
        /// As they appear in the address, escapes and all, as the libraries of some services sign.
        case asSent
    }

    /// The HTTP method.
    package var method: String
    /// `http` or `https`.
    package var scheme: String
    /// Host and port as they appear in the header `Host`.
    package var authority: String
    /// Path and query as they are sent.
    package var target: String
    /// The body, if its type is `application/x-www-form-urlencoded`; nil for all other bodies, which do not count.
    package var form: String?

    /// Describes a request.
    package init(method: String, scheme: String, authority: String, target: String, form: String? = nil) {
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.target = target
        self.form = form
    }

    /// The address without the query: scheme and host in lower case, the port only where it is not the standard one of
    /// the scheme, the path as it is sent.
    package var baseURI: String {
        let scheme = scheme.lowercased()
        let path = target.prefix { $0 != "?" && $0 != "#" }
        var authority = authority.lowercased()
        if let address = HostAndPort(authority) {
            let isStandard = address.port == nil || address.port == HostAndPort.standardPort(of: scheme)
            authority = isStandard ? address.host : address.description
        }
        return "\(scheme)://\(authority)\(path.hasPrefix("/") ? "" : "/")\(path)"
    }

    /// The text that is signed: method, address and all parameters, sorted by their encoded names and then by their
    /// encoded values.
    ///
    /// `oauth_signature` does not count, wherever it is.
    /// - Parameters:
    ///   - authorization: The parameters of the protocol.
    ///   - queryForm: How the parameters of the query count.
    package func baseString(_ authorization: OAuth1Authorization, queryForm: QueryForm = .decoded) -> String {
        let own = authorization.parameters
            .map { (name: PercentEncoding.encode($0.name), value: PercentEncoding.encode($0.value)) }
        let parameters = (own + query(queryForm) + QueryParameters.split(form ?? "").map(Self.normalized))
            .filter { $0.name != "oauth_signature" }
            .sorted { a, b in
                a.name == b.name ? Self.isBefore(a.value, b.value) : Self.isBefore(a.name, b.name)
            }
            .map { "\($0.name)=\($0.value)" }
            .joined(separator: "&")
        return [method.uppercased(), baseURI, parameters].map { PercentEncoding.encode($0) }.joined(separator: "&")
    }

    private func query(_ form: QueryForm) -> [QueryParameters.Parameter] {
        let query = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first ?? ""
        let parameters = QueryParameters.split(query)
        return switch form {
        case .decoded: parameters.map(Self.normalized)
        case .asSent: parameters.map { (String($0.name), String($0.value)) }
        }
    }

    /// A parameter with the escapes that the standard has, whatever the client escaped.
    private static func normalized(_ name: Substring, _ value: Substring) -> QueryParameters.Parameter {
        (
            PercentEncoding.encode(bytes: QueryParameters.decode(name, true)),
            PercentEncoding.encode(bytes: QueryParameters.decode(value, true))
        )
    }

    private static func isBefore(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }
}
