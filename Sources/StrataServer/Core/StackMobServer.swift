#if Server
    import Foundation
    import Logging
    import Strata
    import StrataModelFiles

    /// A server that speaks the StackMob dialect, without the network: it takes requests and gives answers. A
    /// ``HTTPService`` puts it on a socket; tests and embedders may call ``respond(to:)`` themselves.
    ///
    ///     let server = try StackMobServer(folder: "data")
    ///     let answer = await server.respond(to: ServerRequest("GET", "/todo"))
    ///
    /// All that it keeps is in one folder: `production` and `development`, each with `strata.sqlite` for objects, accounts and
    /// sessions, and `files` for the content of binary fields; `mail` with outgoing messages, `signatures` with those of
    /// the last minutes.
    public final class StackMobServer: Sendable {
        /// How the server behaves.
        public let options: ServerOptions
        /// The folder of the data.
        public let folder: URL

        let databases: Databases
        let gate: Gate
        let hasher: PasswordHasher
        let mail: MailFolder
        let background = BackgroundWork()
        let verifier: (any SocialVerifier)?
        let methods: [String: CustomMethod]
        let clock: ServerClock
        let logger: Logger
        private let lock: FolderLock

        var guesses: LoginGuard { gate.guesses }
        var sessions: Sessions { gate.sessions }

        /// Opens the data in a folder, or makes it.
        /// - Parameters:
        ///   - folder: The folder; it is made if it is missing. What the server writes is readable only by the account
        ///     that runs it.
        ///   - model: The model whose entities are schemas; nil if there are only inferred ones.
        ///   - options: How the server behaves.
        ///   - methods: Custom code, by the name of the method. It goes before hooks of the same names.
        ///   - verifier: Who asks other services about accounts.
        ///   - clock: What tells the time.
        ///   - logger: Where requests and failures are logged.
        /// - Throws: ``ServerSetupError``, or the error of the store with what to do.
        public init(
            folder: String, model: ManagedObjectModel? = nil, options: ServerOptions = ServerOptions(),
            methods: [String: CustomMethod] = [:], verifier: (any SocialVerifier)? = nil, clock: ServerClock = .system,
            logger: Logger = Logger(label: "strata-server")
        ) throws {
            self.options = options
            self.folder = URL(fileURLWithPath: folder, isDirectory: true)
            self.methods = try Self.hookMethods(options.hooks).merging(methods) { $1 }
            self.verifier = verifier
            self.clock = clock
            self.logger = logger
            do {
                try FileManager.default.createDirectory(
                    at: self.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            } catch {
                throw ServerSetupError("The folder \(folder) cannot be made: \(error.localizedDescription)")
            }
            lock = try FolderLock(self.folder)
            databases = try Databases(folder: self.folder, model: model, options: options, clock: clock)
            gate = try Gate(folder: self.folder, options: options, clock: clock)
            hasher = PasswordHasher(options.passwords)
            mail = MailFolder(folder: self.folder.appendingPathComponent("mail", isDirectory: true))
        }

        /// Closes the file once all writes that wait are done. Requests that come later are answered with 500.
        public func close() {
            databases.close()
            gate.close()
            lock.release()
        }

        /// Takes the schemas of development, without objects, over into production.
        /// - Throws: ``ServerError`` 404 if there is no development; what the store says.
        public func deploySchemas() async throws(ServerError) {
            guard let development = databases.development else {
                throw .notFound("The server has no development database whose schemas could be deployed.")
            }
            try await databases.production.database.adopt(development.database.catalogue)
        }

        /// Waits for work that goes on after its request was answered, such as mail.
        package func finishBackgroundWork() async { await background.finish() }

        // MARK: Answering

        /// Answers a request. Never throws: what is wrong is in the answer.
        public func respond(to request: ServerRequest) async -> ServerResponse {
            let start = ContinuousClock.now
            var response: ServerResponse
            if let preflight = CrossOrigin.preflight(request, options.network.origins) {
                response = preflight
            } else {
                response = await traced(request)
            }
            response.headers.append(("X-StackMob-Time-MS", String(clock.milliseconds)))
            CrossOrigin.allow(request, options.network.origins, on: &response)
            if request.method == "HEAD" || request.header("X-HTTP-Method-Override")?.uppercased() == "HEAD" {
                response.body = Data()
            }
            observe(request, response, since: start)
            return response
        }

        func answered(_ request: ServerRequest) async -> ServerResponse {
            do throws(ServerError) {
                try gate.admit(request, clock)
                return try await answer(request)
            } catch {
                return error.response
            }
        }

        private func answer(_ original: ServerRequest) async throws(ServerError) -> ServerResponse {
            guard original.body.count <= options.limits.requests.bodySize else {
                throw ServerError(413, "The body is larger than \(options.limits.requests.bodySize) bytes.")
            }
            // The signature covers the method and the path as sent.
            let request = try MethodOverride.apply(to: original)
            var segments = try ServerRequest.segments(request.path)
            if let answer = try await answerWithoutKey(request, segments) { return answer }
            let path = try OlderPath(&segments)
            let named = try request.version
            let version = path.version ?? named
            let environment = databases.environment(version: version)
            let isOAuth = gate.isOAuth(request)
            let isPush = path.isPush || Self.isPush(request.method, segments, hasPrivateKey: isOAuth)
            let principal: Principal
            if isOAuth || isPush {
                try gate.checkOAuth(original, clock)
                principal = Principal(account: nil, hasPrivateKey: true)
            } else {
                if let key = options.publicKey, request.header("X-StackMob-API-Key") != key {
                    throw .unauthorized("X-StackMob-API-Key is not the key of this application.")
                }
                principal = try await self.principal(of: original, environment)
            }
            let call = Call(
                request: request, segments: segments, principal: principal, version: version ?? 0,
                environment: environment)
            return isPush ? try await push(call) : try await answer(call)
        }

        /// What is answered without a key of the application, and over plain HTTP even where TLS is required: whether
        /// the server is well.
        private func answerWithoutKey(
            _ request: ServerRequest, _ segments: [String]
        ) async throws(ServerError) -> ServerResponse? {
            if segments == ["health"] { return try await health() }
            if segments == [Self.metricsPath] { return try metrics(request) }
            guard request.isSecure || !options.network.requiresTLS else {
                throw .forbidden("Requests are only answered over TLS.")
            }
            guard let first = segments.first else { return ServerResponse(json: ["status": "OK"]) }
            guard let environment = databases.all.first(where: { $0.files.segment == first }) else { return nil }
            guard request.method == "GET" || request.method == "HEAD" else {
                throw .notAllowed("Files are only read.", "GET, HEAD")
            }
            return try await environment.database.read { (scope) throws(ServerError) in
                try environment.files.download(segments, scope: scope)
            }
        }

        private func principal(
            of request: ServerRequest, _ environment: Environment
        ) async throws(ServerError) -> Principal {
            guard request.header("Authorization") != nil else { return .nobody }
            let sessions = sessions
            return try await environment.database.read { (scope) throws(ServerError) in
                try sessions.principal(of: request, scope: scope)
            }
        }

        /// Answers a request whose sender is known.
        func answer(_ call: Call) async throws(ServerError) -> ServerResponse {
            let name = call.segments.first ?? ""
            if name == "_batch", call.segments.count == 1 { return try await batch(call) }
            if name == "_changes", call.segments.count == 2 { return try await changes(call) }
            if call.segments.count == 1 {
                if let method = methods[name] { return try await run(method, call) }
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

        private func health() async throws(ServerError) -> ServerResponse {
            var schemas = 0
            for environment in databases.all {
                schemas = try await environment.database.read { (scope) throws(ServerError) in
                    _ = try scope.count(FetchRequest(entity: "ServerSession", limit: 1))
                    return scope.catalogue.schemas.count
                }
            }
            return ServerResponse(json: ["status": "ok", "schemas": .integer(Int64(schemas))])
        }
    }
#endif
