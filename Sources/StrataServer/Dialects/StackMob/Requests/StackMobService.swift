#if Server
    import Foundation
    import Strata

    /// StackMob's dialect.
    struct StackMobService: BatchDialect {
        let server: DataServer
        private let mount: DialectMount

        init(_ server: DataServer, _ mount: DialectMount) {
            self.server = server
            self.mount = mount
        }

        var options: ServerOptions { server.options }

        static let methods = ["GET", "POST", "PUT", "DELETE", "HEAD"]
        static let exposedHeaders = ["Content-Range", "Retry-After", "X-StackMob-Time-MS"]
        static func isWord(_ part: String) -> Bool { AccountEndpoint(rawValue: part) != nil }
        static func reservesAccountName(_ name: String) -> Bool { isWord(name) }

        func finish(_ response: inout ServerResponse, to request: ServerRequest) {
            response.headers.append(("X-StackMob-Time-MS", String(server.clock.milliseconds)))
            if request.header("X-HTTP-Method-Override")?.uppercased() == "HEAD" { response.body = Data() }
        }

        // MARK: Answering

        func answer(_ original: ServerRequest, _ parts: [String]) async throws(ServerError) -> ServerResponse {
            // The signature covers the method and the path as sent.
            let request = try MethodOverride.apply(to: original)
            guard !parts.isEmpty else { return ServerResponse(json: ["status": "OK"]) }
            var segments = parts
            let path = try OlderPath(&segments)
            let named = try request.version
            let version = path.version ?? named
            let environment = server.databases.environment(version: version)
            let isOAuth = OAuthSignature.isIn(request)
            let isPush = path.isPush || Self.isPush(request.method, segments, hasPrivateKey: isOAuth)
            let principal: Principal
            if isOAuth || isPush {
                try OAuthSignature.check(
                    original, options: options, clock: server.clock, replays: server.gate.replays)
                principal = Principal(account: nil, hasPrivateKey: true)
            } else {
                if let key = options.publicKey, request.header("X-StackMob-API-Key") != key {
                    throw .unauthorized("X-StackMob-API-Key is not the key of this application.")
                }
                principal = try await self.principal(of: original, environment)
            }
            let call = Call(
                request: request, segments: segments,
                caller: Caller(request, principal: principal, environment: environment, options),
                version: version ?? 0)
            return isPush ? try await push(call) : try await answer(call)
        }

        private func principal(
            of request: ServerRequest, _ environment: Environment
        ) async throws(ServerError) -> Principal {
            guard request.header("Authorization") != nil else { return .nobody }
            let sessions = server.sessions
            return try await environment.database.read(.one) { (scope) throws(ServerError) in
                try sessions.principal(of: request, scope: scope)
            }
        }

        /// Answers a request whose sender is known.
        func answer(_ call: Call) async throws(ServerError) -> ServerResponse {
            let name = call.segments.first ?? ""
            if name == "_batch", call.segments.count == 1 { return try await batch(call) }
            if name == "_changes", call.segments.count == 2 { return try await changes(call) }
            if call.segments.count == 1 {
                if server.methods[name] != nil {
                    return try await server.runMethod(name, call.request, call.caller, version: call.version)
                }
                if let answer = try answerOlder(name, call) { return answer }
            }
            let schema = name.lowercased()
            if call.segments.count == 2, let accounts = options.accounts(schema),
                let endpoint = AccountEndpoint(rawValue: call.segments[1])
            {
                return try await answer(endpoint, call, accounts)
            }
            if let fault = ServerSchema.fault(ofName: schema) {
                throw .notFound("There is no /\(name.prefix(80)): \(fault).")
            }
            return try await objects(call, schema: schema)
        }

        // MARK: Failures

        /// The texts are StackMob's, which clients compare; what the core says is for people.
        func failure(_ error: ServerError) -> ServerResponse {
            let (message, detail) = Self.words(of: error)
            return error.response(message: message, detail: detail)
        }

        /// The text of an error, and what describes it.
        static func words(of error: ServerError) -> (message: String, detail: String?) {
            switch error.cause {
            case .authorization: ("Insufficient authorization", error.message)
            case .session: ("Insufficient authorization", error.message)
            case .nobodyMay: ("Invalid HTTP method", error.message)
            case .noObject(.delete): ("This object does not exist", error.message)
            case .noObject: ("object instance does not exist", error.message)
            case .wrongType(let path, let isNew):
                (
                    "\(path): \(isNew ? "an incompatible type" : "has invalid type"), please check your schema",
                    error.message
                )
            case .fixedKey: ("unable to update primary key", error.message)
            case .credentials: ("invalid_client", error.message)
            case .temporaryPassword: (error.message, error.message)
            case .other, .noSchema, .noField, .duplicateKey, .duplicateValue, .changed, .malformed:
                (error.message, error.detail)
            }
        }
    }
#endif
