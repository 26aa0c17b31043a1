import Foundation

extension AzureDialect {
    /// What a request is made of, besides its address.
    struct Message {
        var features: [AzureFeature] = []
        /// The version that the row must have.
        var ifMatch: String?
        var body: Data?
        var contentType = "application/json"
        /// Whether the header `ZUMO-API-VERSION` goes along, where the version has it.
        var tellsVersion = true
    }

    /// A request to the application.
    /// - Parameter target: Path and query as they are sent.
    func request(
        _ method: HTTPRequest.Method, _ target: String, _ message: Message, options: RequestOptions,
        at other: AzureAddress? = nil
    ) throws(RemoteError) -> WireRequest {
        let address = other ?? address
        var head = HTTPRequest(
            method: method, scheme: options.isSecure ? "https" : address.scheme, authority: address.authority,
            path: target)
        head.headerFields[.zumoInstallation] = installationID
        head.headerFields[.userAgent] = agent.text
        head.headerFields[.zumoVersion] = agent.text
        if version == .mobileServices, let applicationKey { head.headerFields[.zumoApplication] = applicationKey }
        if message.tellsVersion, let api = version.apiVersion { head.headerFields[.zumoAPIVersion] = api }
        if let features = AzureFeature.header(message.features) { head.headerFields[.zumoFeatures] = features }
        if let ifMatch = message.ifMatch { head.headerFields[.ifMatch] = try quoted(ifMatch) }
        if message.body != nil { head.headerFields[.contentType] = message.contentType }
        for (name, value) in options.headers {
            if let field = HTTPField.Name(name) { head.headerFields[field] = value }
        }
        return WireRequest(head, body: message.body)
    }

    /// A request to an address that a server gave whole: with the headers of the application only if it leads there.
    func request(toWhole text: String, _ message: Message, options: RequestOptions) throws(RemoteError) -> WireRequest {
        let target = try AzureAddress(text)
        let path = (target.path.isEmpty ? "/" : target.path) + (target.query.isEmpty ? "" : "?\(target.query)")
        if isOwn(scheme: target.scheme, authority: target.authority) {
            return try request(.get, path, message, options: options, at: target)
        }
        var head = HTTPRequest(method: .get, scheme: target.scheme, authority: target.authority, path: path)
        if let features = AzureFeature.header(message.features) { head.headerFields[.zumoFeatures] = features }
        return WireRequest(head)
    }

    /// Whether an address is the application's, so that its key and its users' tokens may go there: the same host, and not
    /// by HTTP where the application is reached by HTTPS.
    func isOwn(scheme: String?, authority: String?) -> Bool {
        guard let scheme = scheme?.lowercased(), let other = authority.flatMap({ HostAndPort($0) }) else {
            return false
        }
        return [address, loginAddress].contains { own in
            guard let mine = HostAndPort(own.authority), scheme == "https" || own.scheme == "http" else { return false }
            let isSamePort =
                (other.port ?? HostAndPort.standardPort(of: scheme))
                == (mine.port ?? HostAndPort.standardPort(of: own.scheme))
            return other.host.lowercased() == mine.host.lowercased()
                && (isSamePort || scheme != own.scheme && mine.port == nil && other.port == nil)
        }
    }

    /// A value as the body of a request.
    /// - Throws: ``RemoteError`` of code ``AzureError/invalidItem`` that names the place of a number which JSON does not
    ///   have.
    func body(_ json: JSONValue) throws(RemoteError) -> Data {
        do throws(JSONWritingError) {
            return try json.data()
        } catch {
            throw self.error(.invalidItem, "\(AzureError.invalidItem.message) There is \(error).")
        }
    }

    // MARK: Entity tags

    /// A version as it appears in `If-Match`.
    func quoted(_ version: String) throws(RemoteError) -> String {
        guard version.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw error(.invalidItem, "the version \(version.debugDescription) cannot be sent in a header")
        }
        return "\"" + version.replacing("\"", with: "\\\"") + "\""
    }

    /// The version in an `ETag`; nil if it has none.
    static func version(ofTag tag: String?) -> String? {
        guard let tag else { return nil }
        var text = tag[...]
        if text.hasPrefix("W/") { text = text.dropFirst(2) }
        if text.count >= 2, text.first == "\"", text.last == "\"" { text = text.dropFirst().dropLast() }
        return text.isEmpty ? nil : String(text).replacing("\\\"", with: "\"")
    }
}

extension HTTPField.Name {
    // The names are tokens of HTTP, so that none is nil.
    static let zumoApplication = Self("X-ZUMO-APPLICATION")!
    static let zumoAuth = Self("X-ZUMO-AUTH")!
    static let zumoAPIVersion = Self("ZUMO-API-VERSION")!
    static let zumoFeatures = Self("X-ZUMO-FEATURES")!
    static let zumoInstallation = Self("X-ZUMO-INSTALLATION-ID")!
    static let zumoVersion = Self("X-ZUMO-VERSION")!
}
