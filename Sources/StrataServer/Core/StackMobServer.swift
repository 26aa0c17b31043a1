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
    /// All that it keeps is in one folder: `strata.sqlite` with objects, accounts and sessions, `files` with the content
    /// of binary fields, `mail` with outgoing messages, `signatures` with those of the last minutes.
    ///
    /// Its stored properties are the parts that requests share; each part guards its own state.
    public final class StackMobServer: Sendable {
        /// How the server behaves.
        public let options: ServerOptions
        /// The folder of the data.
        public let folder: URL

        let database: Database
        let sessions: Sessions
        let hasher: PasswordHasher
        let files: FileVault
        let mail: MailFolder
        let verifier: (any SocialVerifier)?
        let methods: [String: CustomMethod]
        let clock: ServerClock
        let logger: Logger
        private let rates: RateLimiter
        private let replays: ReplayGuard
        private let lock: FolderLock

        /// Opens the data in a folder, or makes it.
        /// - Parameters:
        ///   - folder: The folder; it is made if it is missing, readable only by its owner.
        ///   - model: The model whose entities are schemas; nil if there are only inferred ones.
        ///   - options: How the server behaves.
        ///   - methods: Custom code, by the name of the method.
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
            self.methods = methods
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
            var declared = SchemaCatalogue()
            var hints: [String: Entity] = [:]
            if let model {
                let schemas = try ModelSchemas(model, options: options)
                declared = schemas.catalogue
                hints = schemas.hints
            }
            if declared[options.userSchema] == nil {
                declared.schemas.append(
                    ServerSchema(name: options.userSchema, keyField: options.userKeyField, isUser: true))
            }
            var storage = SQLiteStore.Options()
            storage.synchronous = options.survivesPowerFailure ? .full : .normal
            files = FileVault(folder: self.folder.appendingPathComponent("files", isDirectory: true))
            database = try Database(
                path: self.folder.appendingPathComponent("strata.sqlite").path, declared: declared, hints: hints,
                files: files, options: storage, clock: clock)
            replays = try ReplayGuard(
                path: self.folder.appendingPathComponent("signatures").path,
                capacity: options.limits.rememberedSignatures, now: clock.milliseconds / 1000)
            sessions = Sessions(options: options, replays: replays)
            hasher = PasswordHasher(cost: options.passwordCost)
            mail = MailFolder(folder: self.folder.appendingPathComponent("mail", isDirectory: true))
            rates = RateLimiter(perSecond: options.limits.requestsPerSecond, burst: options.limits.requestBurst)
        }

        /// Closes the file once all writes that wait are done. Requests that come later are answered with 500.
        public func close() {
            database.close()
            replays.close()
            lock.release()
        }

        // MARK: Answering

        /// Answers a request. Never throws: what is wrong is in the answer.
        public func respond(to request: ServerRequest) async -> ServerResponse {
            let start = ContinuousClock.now
            var response: ServerResponse
            do throws(ServerError) {
                try rates.admit(request.client, milliseconds: clock.milliseconds)
                response = try await answer(request)
            } catch {
                response = error.response
            }
            response.headers.append(("X-StackMob-Time-MS", String(clock.milliseconds)))
            if request.method == "HEAD" || request.header("X-HTTP-Method-Override")?.uppercased() == "HEAD" {
                response.body = Data()
            }
            log(request, response, since: start)
            return response
        }

        private func log(_ request: ServerRequest, _ response: ServerResponse, since start: ContinuousClock.Instant) {
            let time = start.duration(to: .now)
            let milliseconds =
                Double(time.components.seconds) * 1000 + Double(time.components.attoseconds) / 1e15
            // The query may hold names and positions, and a body passwords; neither is logged.
            logger.log(
                level: response.status >= 500 ? .error : .info, "request",
                metadata: [
                    "method": "\(request.method)", "path": "\(request.path.prefix(200))",
                    "status": "\(response.status)", "client": "\(request.client)",
                    "milliseconds": "\((milliseconds * 1000).rounded() / 1000)", "bytes": "\(response.body.count)",
                ])
        }

        private func answer(_ original: ServerRequest) async throws(ServerError) -> ServerResponse {
            guard original.body.count <= options.limits.bodySize else {
                throw ServerError(413, "The body is larger than \(options.limits.bodySize) bytes.")
            }
            // The signature covers the method as sent.
            var request = original
            if let method = request.header("X-HTTP-Method-Override")?.uppercased() {
                let isKnown =
                    (request.method == "GET" && ["DELETE", "HEAD"].contains(method))
                    || (request.method == "POST" && method == "PUT") || method == request.method
                guard isKnown else {
                    throw .badRequest("X-HTTP-Method-Override: \(request.method) cannot be \(method).")
                }
                request.method = method
            }
            guard ["GET", "HEAD", "POST", "PUT", "DELETE"].contains(request.method) else {
                throw .notAllowed(
                    "The method \(request.method.prefix(20)) is not answered.", "GET, HEAD, POST, PUT, DELETE")
            }
            let segments = try ServerRequest.segments(request.path)
            switch segments.first {
            case nil: return ServerResponse(json: ["status": "OK"])
            case "health" where segments.count == 1: return try await health()
            case FileVault.pathSegment:
                let (vault, path) = (files, segments)
                guard request.method == "GET" || request.method == "HEAD" else {
                    throw .notAllowed("Files are only read.", "GET, HEAD")
                }
                return try await database.read { (scope) throws(ServerError) in
                    try vault.download(path, scope: scope)
                }
            default: break
            }
            if isPush(request, segments) {
                try OAuthSignature.check(original, options: options, clock: clock, replays: replays)
                return try await push(request, segments)
            }
            if let key = options.publicKey, request.header("X-StackMob-API-Key") != key {
                throw .unauthorized("X-StackMob-API-Key is not the key of this application.")
            }
            var principal = Principal.nobody
            if original.header("Authorization") != nil {
                let sessions = sessions
                principal = try await database.read { (scope) throws(ServerError) in
                    try sessions.principal(of: original, scope: scope)
                }
            }
            return try await answer(
                Call(request: request, segments: segments, principal: principal, version: try Self.version(request)))
        }

        /// Answers a request whose sender is known.
        func answer(_ call: Call) async throws(ServerError) -> ServerResponse {
            let name = call.segments.first ?? ""
            if name == "_batch", call.segments.count == 1 { return try await batch(call) }
            if name == "_changes", call.segments.count == 2 { return try await changes(call) }
            if call.segments.count == 1, let method = methods[name] { return try await run(method, call) }
            let schema = name.lowercased()
            if schema == options.userSchema, call.segments.count == 2,
                let endpoint = AccountEndpoint(rawValue: call.segments[1])
            {
                return try await answer(endpoint, call)
            }
            if let fault = ServerSchema.fault(ofName: schema) {
                throw .notFound("There is no /\(name.prefix(80)): \(fault).")
            }
            return try await objects(call, schema: schema)
        }

        /// The API version of a request: 0 for development. Requests without one are of version 0.
        private static func version(_ request: ServerRequest) throws(ServerError) -> Int {
            guard let accept = request.header("Accept"), accept.contains("vnd.stackmob+json") else { return 0 }
            for part in accept.split(separator: ";").dropFirst() {
                let halves = part.split(separator: "=").map { $0.trimmingCharacters(in: .whitespaces) }
                guard halves.first == "version" else { continue }
                guard halves.count == 2, let version = Int(halves[1].prefix { $0.isNumber }), version >= 0 else {
                    throw .badRequest("Accept names no version: \(accept.prefix(100)).")
                }
                return version
            }
            return 0
        }

        private func health() async throws(ServerError) -> ServerResponse {
            let schemas = try await database.read { (scope) throws(ServerError) in
                _ = try scope.count(FetchRequest(entity: "ServerSession"))
                return scope.catalogue.schemas.count
            }
            return ServerResponse(json: ["status": "ok", "schemas": .integer(Int64(schemas))])
        }
    }

    /// A request together with who sent it.
    struct Call: Sendable {
        var request: ServerRequest
        /// The parts of the path without escapes.
        var segments: [String]
        var principal: Principal
        /// The API version.
        var version: Int
        /// Whether it came within a batch.
        var isNested = false

        /// The body as JSON.
        func json(_ options: ServerOptions) throws(ServerError) -> JSONValue {
            do {
                return try JSONValue(
                    parsing: request.body,
                    maximumDepth: min(options.limits.jsonDepth, ServerLimits.largestJSONDepth))
            } catch {
                throw .badRequest("The body is \(error).")
            }
        }
    }
#endif
