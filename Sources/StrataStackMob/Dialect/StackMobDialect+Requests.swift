import Foundation

extension StackMobDialect {
    /// A data request with the standing headers.
    /// - Parameters:
    ///   - path: The path as it is sent, with a leading slash.
    ///   - parameters: Query parameters, not encoded; they are sorted by name.
    ///   - json: The body; on POST and PUT the content type is told.
    ///   - secure: Whether the request carries credentials.
    /// - Throws: ``RemoteError`` if a POST or PUT asks for expanded objects, or the body has a number that is not finite.
    package func dataRequest(
        _ method: HTTPRequest.Method, _ path: String, parameters: [(name: String, value: String)] = [],
        json: JSONValue? = nil, secure: Bool = false, options: RequestOptions = RequestOptions()
    ) throws(RemoteError) -> WireRequest {
        if method == .post || method == .put, options.headers.keys.contains(where: { HTTPField.Name($0) == .expand }) {
            throw StackMobError.incompatible("StackMob expands objects that are read, not those that are written")
        }
        var request = plainRequest(
            method, path, query: QueryParameters.sortedStackMobText(parameters), secure: secure, options)
        if method == .post || method == .put { request.head.headerFields[.contentType] = "application/json" }
        request.body = try json.map(Self.body)
        return request.adding(options.headers)
    }

    /// A value as the body of a request.
    /// - Throws: ``RemoteError`` that names the place of a number which JSON does not have.
    static func body(_ json: JSONValue) throws(RemoteError) -> Data {
        do throws(JSONWritingError) {
            return try json.data()
        } catch {
            throw StackMobError.incompatible("\(error); nothing was sent")
        }
    }

    /// Asks whether the server is there, and for its time.
    func pingRequest(options: RequestOptions = RequestOptions()) -> WireRequest {
        plainRequest(.head, "/", query: "", secure: false, options).adding(options.headers)
    }

    /// The schema as it appears in a path.
    func schemaPath(_ schema: String) -> String { Self.path(schema.lowercased()) }

    /// A path whose parts are encoded, without the slash at its beginning.
    static func path(_ path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false)
            .map { PercentEncoding.encode($0, keeping: .stackMobQuery) }.joined(separator: "/")
    }

    /// Whether requests to a host go by HTTPS because it is another machine.
    func securesRemote(_ host: String) -> Bool {
        guard securesRemoteHosts else { return false }
        let name = HostAndPort(host)?.host.lowercased() ?? host
        return !["localhost", "127.0.0.1", "::1", "[::1]"].contains(name)
    }

    /// A request with the three standing headers only.
    func plainRequest(
        _ method: HTTPRequest.Method, _ path: String, query: String, secure: Bool, _ options: RequestOptions
    ) -> WireRequest {
        let isHTTPS = isSecure || options.isSecure || securesRemote(host) || secure && securesCredentials
        var head = HTTPRequest(
            method: method, scheme: isHTTPS ? "https" : "http", authority: host,
            path: query.isEmpty ? path : "\(path)?\(query)")
        head.headerFields[.accept] = accept
        head.headerFields[.apiKey] = publicKey
        head.headerFields[.userAgent] = userAgent
        return WireRequest(head)
    }
}

extension HTTPField.Name {
    // The names are tokens of HTTP, so that none is nil.
    static let apiKey = Self("X-StackMob-API-Key")!
    static let orderBy = Self("X-StackMob-OrderBy")!
    static let select = Self("X-StackMob-Select")!
    static let expand = Self("X-StackMob-Expand")!
    static let relations = Self("X-StackMob-Relations")!
    static let cascadeDelete = Self("X-StackMob-CascadeDelete")!
}
