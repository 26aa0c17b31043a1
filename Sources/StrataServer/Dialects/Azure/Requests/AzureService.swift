#if Server
    import Foundation
    import Strata

    /// The dialects of Azure Mobile Services, of Azure Mobile Apps, and of Datasync, their successor.
    struct AzureService: ServerDialect {
        let server: DataServer
        let mount: DialectMount

        init(_ server: DataServer, _ mount: DialectMount) {
            self.server = server
            self.mount = mount
        }

        var options: ServerOptions { server.options }
        var kind: DialectMount.Kind { mount.kind }

        static let methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"]
        static let exposedHeaders = ["ETag", "Link", "Location", "Retry-After"]
        static func isWord(_ part: String) -> Bool { ["tables", "api", ".auth", "login", "refresh"].contains(part) }

        // MARK: Answering

        func answer(_ request: ServerRequest, _ segments: [String]) async throws(ServerError) -> ServerResponse {
            let environment = server.environment(of: mount)
            let principal = try await principal(request, environment)
            guard let parameters = request.parameters else {
                throw .badRequest("The query is not UTF-8.")
            }
            let call = AzureCall(
                request: request, segments: segments, parameters: parameters,
                caller: Caller(request, principal: principal, environment: environment, options))
            do throws(ServerError) {
                return try await answer(call)
            } catch {
                var error = error
                // Who is logged in would only log in again.
                if error.cause == .authorization, principal.account != nil { error.status = 403 }
                throw error
            }
        }

        private func principal(
            _ request: ServerRequest, _ environment: Environment
        ) async throws(ServerError) -> Principal {
            if let given = request.header("X-ZUMO-MASTER") {
                guard let key = mount.masterKey, ConstantTime.areEqual(key.utf8, given.utf8) else {
                    throw .unauthorized("The master key is wrong.")
                }
                return Principal(account: nil, hasPrivateKey: true)
            }
            if let key = mount.clientKey, request.header("X-ZUMO-APPLICATION") != key {
                throw .unauthorized("X-ZUMO-APPLICATION is not the key of this application.")
            }
            let authorization = request.header("Authorization")
            let bearer = authorization.flatMap { $0.lowercased().hasPrefix("bearer ") ? String($0.dropFirst(7)) : nil }
            guard let token = request.header("X-ZUMO-AUTH") ?? bearer, !token.isEmpty else { return .nobody }
            let sessions = server.sessions
            return try await environment.database.read(.one) { (scope) throws(ServerError) in
                try sessions.principal(bearer: token.trimmingCharacters(in: .whitespaces), scope: scope)
            }
        }

        private func answer(_ call: AzureCall) async throws(ServerError) -> ServerResponse {
            let segments = call.segments
            switch (call.method, segments.first ?? "", segments.count) {
            case ("GET", "", 0), ("HEAD", "", 0): return ServerResponse(json: ["status": "OK"])
            case ("POST", "login", 2) where kind == .azureServices: return try await logIn(call, segments[1])
            case ("POST", ".auth", 3) where segments[1] == "login": return try await logIn(call, segments[2])
            case ("GET", ".auth", 2) where segments[1] == "refresh": return try await refresh(call)
            case ("GET", ".auth", 2) where segments[1] == "logout": return try await logOut(call)
            case (_, "tables", 2...3):
                try checkVersion(call)
                return try await table(call)
            case (_, "api", 2...):
                try checkVersion(call)
                return try await server.runMethod(
                    segments[1...].joined(separator: "/"), call.request, call.caller)
            default: throw .notFound("There is nothing at \(call.request.path.prefix(200)).")
            }
        }

        /// Clients of the second version name it, so that those of the first do not read its answers.
        private func checkVersion(_ call: AzureCall) throws(ServerError) {
            guard kind == .azureApps else { return }
            let told = call.request.header("ZUMO-API-VERSION") ?? call["zumo-api-version"]
            guard let told, told == "2.0.0" || told.hasPrefix("2.0.") else {
                throw .badRequest("ZUMO-API-VERSION must be 2.0.0; this server does not speak an older protocol here.")
            }
        }

        private func table(_ call: AzureCall) async throws(ServerError) -> ServerResponse {
            let table = call.segments[1]
            let name = table.lowercased()
            guard ServerSchema.fault(ofName: name) == nil else { throw .noSchema(table) }
            let id = call.segments.count > 2 ? call.segments[2] : nil
            switch (call.method, id) {
            case ("GET", nil), ("HEAD", nil): return try await find(call, name)
            case ("GET", let id?), ("HEAD", let id?): return try await read(call, name, id)
            case ("POST", nil): return try await insert(call, name, title: table)
            case ("POST", let id?): return try await undelete(call, name, id)
            case ("PATCH", let id?) where kind != .datasync: return try await update(call, name, id)
            case ("PUT", let id?) where kind == .datasync: return try await update(call, name, id)
            case ("DELETE", let id?): return try await delete(call, name, id)
            default:
                let change = kind == .datasync ? "PUT" : "PATCH"
                throw .notAllowed(
                    "\(call.method.prefix(20)) is not answered here.",
                    id == nil ? "GET, HEAD, POST" : "GET, HEAD, POST, \(change), DELETE")
            }
        }

        // MARK: Failures

        func failure(_ error: ServerError) -> ServerResponse {
            let (status, message) =
                switch error.cause {
                case .nobodyMay: (403, error.message)
                case .noObject: (404, "The item does not exist")
                case .credentials, .session: (401, error.message)
                default: (error.status, error.message)
                }
            var headers = error.headers
            if let body = error.body {
                if let version = body[AzureColumn.version.name(in: kind)]?.string {
                    headers.append(("ETag", "\"\(version)\""))
                }
                return ServerResponse(status: status, json: body, headers: headers)
            }
            let body: JSONValue =
                switch kind {
                case .azureServices: ["code": .integer(Int64(status)), "error": .string("Error: \(message)")]
                case .datasync:
                    ["title": .string(message), "status": .integer(Int64(status)), "error": .string(message)]
                default: ["error": .string(message)]
                }
            return ServerResponse(status: status, json: body, headers: headers)
        }
    }

    /// A request in one of these dialects.
    struct AzureCall: Sendable {
        var request: ServerRequest
        /// The parts of the path after the mount.
        var segments: [String]
        var parameters: [(name: String, value: String)]
        var caller: Caller

        var method: String { request.method }

        /// A parameter by its name in small letters.
        subscript(name: String) -> String? { parameters.first { $0.name.lowercased() == name }?.value }

        /// The body as a JSON object.
        func members(_ options: ServerOptions) throws(ServerError) -> JSONObject {
            let depth = min(options.limits.requests.jsonDepth, ServerLimits.largestJSONDepth)
            let json: JSONValue
            do {
                json = try JSONValue(parsing: request.body, maximumDepth: depth)
            } catch {
                throw ServerError(400, .malformed, "The body is \(error).")
            }
            guard let members = json.members else { throw ServerError(400, .malformed, "The body is not an object.") }
            return members
        }
    }
#endif
