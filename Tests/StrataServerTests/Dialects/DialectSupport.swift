#if Server
    import Foundation
    import StrataAzure
    import StrataMaxLeap
    import StrataServer
    import StrataStackMob
    import Testing

    /// All dialects, each at a path of its own, over the same data.
    enum Places {
        static let master = "m4ster"

        static let all: [DialectMount] = [
            DialectMount(.stackMob),
            DialectMount(.parse, path: "/parse", applicationID: "app", masterKey: master),
            DialectMount(.maxLeap, path: "/2.0", applicationID: "app", clientKey: "key", masterKey: master),
            DialectMount(.azureServices, path: "/azure1", clientKey: "zumo", masterKey: master),
            DialectMount(.azureApps, path: "/azure2"),
            DialectMount(.datasync, path: "/datasync"),
        ]
    }

    extension Bench {
        /// A server with all dialects.
        static func withDialects(
            model: ManagedObjectModel? = nil, methods: [String: CustomMethod] = [:],
            verifier: (any SocialVerifier)? = nil, _ change: (inout ServerOptions) -> Void = { _ in }
        ) throws -> Bench {
            try Bench(model: model, methods: methods, verifier: verifier) {
                $0.dialects = Places.all
                // Debug builds on a busy machine take their time.
                $0.limits.requests.timeout = 300
                $0.limits.sockets.pingInterval = 300
                change(&$0)
            }
        }

        /// Sends a request in Parse's dialect, as REST clients do.
        @discardableResult
        func parse(
            _ method: String, _ path: String, _ body: JSONValue? = nil, token: String? = nil, master: Bool = false
        ) async -> ServerResponse {
            var headers = ["X-Parse-Application-Id": "app"]
            if let token { headers["X-Parse-Session-Token"] = token }
            if master { headers["X-Parse-Master-Key"] = Places.master }
            return await send(method, "/parse/" + path, body, headers: headers)
        }

        /// Sends a request in MaxLeap's dialect.
        @discardableResult
        func maxLeap(
            _ method: String, _ path: String, _ body: JSONValue? = nil, token: String? = nil
        ) async -> ServerResponse {
            var headers = ["X-ML-AppId": "app", "X-ML-APIKey": "key"]
            if let token { headers["X-ML-Session-Token"] = token }
            return await send(method, "/2.0/" + path, body, headers: headers)
        }

        /// Sends a request as scripts of the Parse library do: a POST of text whose body says what it is.
        @discardableResult
        func script(_ method: String, _ path: String, _ body: JSONObject = [:], token: String? = nil) async
            -> ServerResponse
        {
            var members = body
            if method != "POST" { members["_method"] = .string(method) }
            members["_ApplicationId"] = "app"
            members["_JavaScriptKey"] = "js"
            members["_ClientVersion"] = "js5.3.0"
            members["_InstallationId"] = "0b6c1fbe-7f0f-4b5f-8f54-1dbb8c1b8d7c"
            if let token { members["_SessionToken"] = .string(token) }
            return await send(
                "POST", "/parse/" + path, .object(members), headers: ["Content-Type": "text/plain"])
        }

        /// Sends a request in one of Azure's dialects.
        @discardableResult
        func azure(
            _ version: AzureVersion, _ method: String, _ path: String, _ body: JSONValue? = nil,
            token: String? = nil, headers: [String: String] = [:]
        ) async -> ServerResponse {
            var all = headers
            if version == .mobileServices { all["X-ZUMO-APPLICATION"] = "zumo" }
            if version == .mobileApps { all["ZUMO-API-VERSION"] = "2.0.0" }
            if let token { all["X-ZUMO-AUTH"] = token }
            let place =
                switch version {
                case .mobileServices: "/azure1/"
                case .mobileApps: "/azure2/"
                default: "/datasync/"
                }
            return await send(method, place + path, body, headers: all)
        }
    }

    /// A text as a parameter of a query.
    func escaped(_ text: String) -> String { PercentEncoding.encode(text) }

    // The configurations of clients of the places.
    extension Places {
        /// - Parameter authority: The host, with the port if it is not the usual one.
        static func maxLeap(_ flavor: MaxLeapFlavor, at authority: String) throws -> MaxLeapConfiguration {
            let path = flavor == .parse ? "parse" : "2.0"
            var dialect = try MaxLeapDialect(
                flavor, address: MaxLeapAddress("http://\(authority)/\(path)"), applicationID: "app", apiKey: "key")
            dialect.sendsObjectIds = true
            var configuration = MaxLeapConfiguration(dialect)
            configuration.sessionStorage = MemorySessionStorage()
            return configuration
        }

        static func azure(_ version: AzureVersion, at authority: String) throws -> AzureConfiguration {
            let path =
                switch version {
                case .mobileServices: "azure1"
                case .mobileApps: "azure2"
                default: "datasync"
                }
            var configuration = try AzureConfiguration(
                "http://\(authority)/\(path)", version: version,
                applicationKey: version == .mobileServices ? "zumo" : nil)
            configuration.sessionStorage = MemorySessionStorage()
            return configuration
        }

        static func stackMob(at authority: String) throws -> StackMobConfiguration {
            var configuration = try StackMobConfiguration(publicKey: "7c1f7a3e-4b7a-4f3a-9d1c-0123456789ab")
            configuration.dialect.host = authority
            configuration.dialect.securesCredentials = false
            configuration.dialect.usesExtensions = true
            configuration.sessionStorage = MemorySessionStorage()
            return configuration
        }
    }

    extension LoopbackServer {
        /// A client of Parse or MaxLeap.
        func maxLeapClient(
            _ flavor: MaxLeapFlavor, storage: any SessionStorage = MemorySessionStorage(),
            transport: (any HTTPTransport)? = nil,
            _ change: (inout MaxLeapDialect) -> Void = { _ in }
        ) throws -> MaxLeapClient {
            var configuration = try Places.maxLeap(flavor, at: "127.0.0.1:\(port)")
            change(&configuration.dialect)
            configuration.sessionStorage = storage
            if let transport { configuration.transport = transport }
            configuration.requestOptions.timeout = 300
            return MaxLeapClient(configuration)
        }

        /// A client of Azure.
        func azureClient(
            _ version: AzureVersion, storage: any SessionStorage = MemorySessionStorage(),
            transport: (any HTTPTransport)? = nil,
            _ change: (inout AzureDialect) -> Void = { _ in }
        ) throws -> AzureClient {
            var configuration = try Places.azure(version, at: "127.0.0.1:\(port)")
            change(&configuration.dialect)
            configuration.sessionStorage = storage
            if let transport { configuration.transport = transport }
            configuration.requestOptions.timeout = 300
            return AzureClient(configuration)
        }
    }
#endif
