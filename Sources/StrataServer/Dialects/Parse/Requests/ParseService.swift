#if Server
    import Foundation
    import Strata

    /// The dialect of Parse and of services with its requests.
    struct ParseService: BatchDialect {
        let server: DataServer
        let mount: DialectMount
        /// The service that the clients know.
        let variant: any ParseVariant

        init(_ server: DataServer, _ mount: DialectMount) {
            self.server = server
            self.mount = mount
            variant = DialectRegistry.parseVariant(mount.kind)
        }

        var options: ServerOptions { server.options }
        var depth: Int { min(options.limits.requests.jsonDepth, ServerLimits.largestJSONDepth) }

        static let methods = ["GET", "POST", "PUT", "DELETE", "HEAD"]
        static let exposedHeaders = ["Location", "Retry-After", "X-Parse-Job-Status-Id", "X-Parse-Push-Status-Id"]
        private static let words: Set<String> = [
            "classes", "users", "login", "logout", "me", "batch", "files", "functions", "jobs", "installations",
            "requestPasswordReset", "updatePassword", "query", "events", "schemas",
        ]
        static func isWord(_ part: String) -> Bool { words.contains(part) }

        // MARK: Answering

        func answer(_ request: ServerRequest, _ segments: [String]) async throws(ServerError) -> ServerResponse {
            let isUpload = segments.first == "files" && segments.count == 2
            let envelope = try ParseEnvelope(
                request, variant.headerFamilies, isFile: isUpload, depth: depth)
            let environment = server.environment(of: mount)
            let principal = try await principal(envelope.keys, environment)
            let call = ParseCall(
                request: request, method: envelope.method, segments: segments, parameters: envelope.parameters,
                body: envelope.body,
                caller: Caller(request, principal: principal, environment: environment, options),
                session: envelope.keys.session)
            return try await answer(call)
        }

        /// Who a request speaks for, by what it says of its sender.
        func principal(_ keys: ParseKeys, _ environment: Environment) async throws(ServerError) -> Principal {
            try check(keys)
            if keys.master != nil { return Principal(account: nil, hasPrivateKey: true) }
            guard let token = keys.session, !token.isEmpty else { return .nobody }
            let sessions = server.sessions
            return try await environment.database.read(.one) { (scope) throws(ServerError) in
                try sessions.principal(bearer: token, scope: scope)
            }
        }

        /// Refuses another application, and keys that are not those of the mount.
        func check(_ keys: ParseKeys) throws(ServerError) {
            if let application = mount.applicationID, keys.applicationID != application {
                throw ParseCode.operationForbidden.error("unauthorized: the application is another one", status: 403)
            }
            if let given = keys.master {
                guard let key = mount.masterKey, ConstantTime.areEqual(key.utf8, given.utf8) else {
                    throw ParseCode.operationForbidden.error("unauthorized: the master key is wrong", status: 403)
                }
                return
            }
            if let key = mount.clientKey, keys.key != key, keys.key != nil || keys.session == nil {
                throw ParseCode.operationForbidden.error("unauthorized: the key is another application's", status: 403)
            }
        }

        /// Answers a request whose sender is known.
        func answer(_ call: ParseCall) async throws(ServerError) -> ServerResponse {
            if let write = try await objectWrite(call) { return try await call.caller.database.write(write) }
            if let answer = try await variant.answer(call, self) { return answer }
            let segments = call.segments
            switch (call.method, segments.first ?? "", segments.count) {
            case ("GET", "", 0): return ServerResponse(json: ["status": "OK"])
            case ("POST", "batch", 1): return try await batch(call)
            case ("GET", "login", 1), ("POST", "login", 1): return try await logIn(call)
            case ("GET", "logout", 1), ("POST", "logout", 1): return try await logOut(call)
            case ("POST", "users", 1): return try await signUp(call)
            case ("GET", "users", 2) where segments[1] == "me": return try await currentUser(call)
            case ("POST", "requestPasswordReset", 1): return try requestPasswordReset(call)
            case ("POST", "files", 2), ("PUT", "files", 2): return try await upload(call, segments[1])
            case ("DELETE", "files", 1...2): return try await deleteFile(call)
            case (_, "functions", 2), (_, "jobs", 2): return try await runFunction(call, segments[1])
            // Clients count their launches so. Nothing is kept of it.
            case ("POST", "events", 2): return ServerResponse(json: [:])
            case ("POST", "classes", 3) where segments[2] == "query":
                var query = call
                query.parameters.merge(call.body)
                return try await find(query, segments[1])
            case ("POST", "classes", 2) where segments[1] == "_User": return try await signUp(call)
            default: break
            }
            guard let (name, id) = Self.place(segments) else { throw notAnswered(call) }
            switch (call.method, id) {
            case ("GET", nil), ("HEAD", nil): return try await find(call, name)
            case ("GET", let id?), ("HEAD", let id?): return try await read(call, name, id)
            default: throw notAnswered(call)
            }
        }

        /// What a request writes of objects; nil for all that is answered in its own way.
        func objectWrite(_ call: ParseCall) async throws(ServerError) -> ObjectWrite? {
            guard let (name, id) = Self.place(call.segments) else { return nil }
            let write: ObjectWrite
            switch (call.method, id) {
            case ("POST", nil) where name != "_User": write = try create(call, name)
            case ("PUT", let id?): write = try await update(call, name, id)
            case ("DELETE", let id?): write = try delete(call, name, id)
            default: return nil
            }
            return try repeatable(call)?.once(write) ?? write
        }

        /// What tells a write from others, by itself or in a batch; nil if its request may not come again.
        func repeatable(_ call: ParseCall) throws(ServerError) -> RepeatableWrite? {
            try RepeatableWrite(
                call.request, method: call.method, target: "\(call.segments)?\(call.request.query)",
                body: .object(call.body), caller: call.caller, options)
        }

        /// The class and the object of a path.
        private static func place(_ segments: [String]) -> (name: String, id: String?)? {
            switch (segments.first ?? "", segments.count) {
            case ("classes", 2): (segments[1], nil)
            case ("classes", 3) where segments[2] != "query": (segments[1], segments[2])
            case ("users", 1): ("_User", nil)
            case ("users", 2): ("_User", segments[1])
            case ("installations", 1): ("_Installation", nil)
            case ("installations", 2): ("_Installation", segments[1])
            default: nil
            }
        }

        func notAnswered(_ call: ParseCall) -> ServerError {
            ParseCode.commandUnavailable.error(
                "\(call.method.prefix(20)) is not answered at \(call.request.path.prefix(200)).", status: 404)
        }
    }
#endif
