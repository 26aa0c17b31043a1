#if Server
    import Foundation

    /// A request in Parse's dialect, whichever of its ways it came.
    struct ParseCall: DialectCall {
        var request: ServerRequest
        /// The method that is meant: scripts send POST and name another one in the body.
        var method: String
        /// The parts of the path after the mount.
        var segments: [String]
        /// What asks for objects: of the query, where all are texts, or of a body.
        var parameters: JSONObject
        /// The body without what stands for headers.
        var body: JSONObject
        var caller: Caller
        /// The token of the session that the request was sent in.
        var session: String?

        /// A parameter that is JSON.
        func json(_ name: String, _ depth: Int) throws(ServerError) -> JSONValue? {
            guard let value = parameters[name] else { return nil }
            guard let text = value.string else { return value }
            do {
                return try JSONValue(parsing: Data(text.utf8), maximumDepth: depth)
            } catch {
                throw ParseCode.invalidJSON.error("\(name) is \(error).")
            }
        }

        /// A parameter that is a list of names, joined by commas.
        func names(_ name: String) throws(ServerError) -> [String]? {
            switch parameters[name] {
            case nil, .null: return nil
            case .string(let text):
                return text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
                    .filter { !$0.isEmpty }
            case .array(let elements): return elements.compactMap(\.string)
            default: throw ParseCode.invalidQuery.error("\(name) takes names, joined by commas.")
            }
        }

        /// A parameter that is a whole number.
        func whole(_ name: String) throws(ServerError) -> Int? {
            switch parameters[name] {
            case nil, .null: return nil
            case let value?:
                let number = value.integer.flatMap { Int(exactly: $0) } ?? value.string.flatMap { Int($0) }
                guard let number else { throw ParseCode.invalidQuery.error("\(name) takes a whole number.") }
                return number
            }
        }

        /// Whether a parameter says yes.
        func flag(_ name: String) -> Bool {
            switch parameters[name] {
            case .boolean(let flag): flag
            case .integer(let number): number != 0
            case .string(let text): text == "1" || text.lowercased() == "true"
            default: false
            }
        }
    }

    /// What a client says of itself.
    struct ParseKeys: Sendable {
        var applicationID: String?
        var key: String?
        var master: String?
        var session: String?
    }

    /// What a request says of its sender and itself, in headers or in the body.
    struct ParseEnvelope {
        private(set) var method: String
        private(set) var parameters: JSONObject = [:]
        private(set) var body: JSONObject = [:]
        private(set) var keys = ParseKeys()

        /// The members of a body that stand for headers.
        private static let own: Set<String> = [
            "_method", "_ApplicationId", "_ApplicationKey", "_JavaScriptKey", "_ClientKey", "_RestApiKey", "_MasterKey",
            "_SessionToken", "_ClientVersion", "_InstallationId", "_ApplicationProduction", "_RevocableSession",
            "_noBody", "_context", "_ContentType", "_ContentLength",
        ]

        /// - Parameters:
        ///   - families: The beginnings of the names of the service's headers.
        ///   - isFile: Whether the body is that of a file, which need not be JSON.
        init(_ request: ServerRequest, _ families: [String], isFile: Bool, depth: Int) throws(ServerError) {
            method = request.method
            func header(_ names: String...) -> String? {
                for family in families {
                    for name in names { if let value = request.header("\(family)-\(name)") { return value } }
                }
                return nil
            }
            keys.applicationID = header("Application-Id", "AppId")
            keys.key = header("REST-API-Key", "Client-Key", "JavaScript-Key", "Windows-Key", "APIKey")
            keys.master = header("Master-Key", "MasterKey")
            keys.session = header("Session-Token")
            guard let pairs = request.parameters else {
                throw ParseCode.invalidQuery.error("The query is not UTF-8.")
            }
            for (name, value) in pairs { parameters[name] = .string(value) }
            try readBody(request, isFile: isFile, depth: depth)
        }

        private mutating func readBody(_ request: ServerRequest, isFile: Bool, depth: Int) throws(ServerError) {
            guard !request.body.isEmpty else { return }
            let json: JSONValue
            do {
                json = try JSONValue(parsing: request.body, maximumDepth: depth)
            } catch {
                if isFile { return }
                throw ParseCode.invalidJSON.error("The body is \(error).")
            }
            guard let members = json.members else {
                if isFile { return }
                throw ParseCode.invalidJSON.error("The body is not an object.")
            }
            // A file that is JSON itself has none of these.
            if isFile, members["_ApplicationId"] == nil, members["base64"] == nil { return }
            body = JSONObject(members.filter { !Self.own.contains($0.name) })
            func text(_ names: String...) -> String? { names.lazy.compactMap { members[$0]?.string }.first }
            keys.applicationID = keys.applicationID ?? text("_ApplicationId")
            keys.key = keys.key ?? text("_JavaScriptKey", "_ApplicationKey", "_ClientKey", "_RestApiKey")
            keys.master = keys.master ?? text("_MasterKey")
            keys.session = keys.session ?? text("_SessionToken")
            guard request.method == "POST", let meant = text("_method")?.uppercased(), meant != "POST" else { return }
            guard ["GET", "PUT", "DELETE"].contains(meant) else {
                throw ParseCode.commandUnavailable.error("_method: POST cannot be \(meant.prefix(20)).")
            }
            method = meant
            if meant == "GET" { parameters.merge(body) }
        }
    }
#endif
