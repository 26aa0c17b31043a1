#if Server
    import Foundation
    import Strata

    extension DataServer {
        /// Answers a request. Never throws: errors are in the answer.
        public func respond(to request: ServerRequest) async -> ServerResponse {
            let start = ContinuousClock.now
            let place = place(of: request)
            let mount = place?.mount
            let type = mount.map { DialectRegistry.type($0.kind) }
            let origins = options.network.origins
            var response: ServerResponse
            if let preflight = CrossOrigin.preflight(request, origins, methods: type?.methods ?? ["GET", "HEAD"]) {
                response = preflight
            } else {
                response = await traced(request, place)
            }
            if let mount, let type { type.init(self, mount).finish(&response, to: request) }
            CrossOrigin.allow(request, origins, exposing: type?.exposedHeaders ?? [], on: &response)
            if request.method == "HEAD" { response.body = Data() }
            observe(request, response, since: start)
            return response
        }

        /// The dialect that a request is in, and how many parts of the path lead to it; nil if none is at its path and host.
        private func place(of request: ServerRequest) -> (mount: DialectMount, depth: Int)? {
            guard let segments = try? ServerRequest.segments(request.path) else {
                return options.dialects.mount(for: request, [])
            }
            return options.dialects.mount(for: request, segments)
        }

        /// The answer to a request that failed, in the words of its dialect.
        func failure(_ error: ServerError, to request: ServerRequest) -> ServerResponse {
            guard let mount = place(of: request)?.mount else { return error.response }
            return DialectRegistry.type(mount.kind).init(self, mount).failure(error)
        }

        func answered(_ request: ServerRequest, _ place: (mount: DialectMount, depth: Int)?) async -> ServerResponse {
            let dialect = place.map { DialectRegistry.type($0.mount.kind).init(self, $0.mount) }
            do throws(ServerError) {
                try gate.admit(request, clock)
                guard request.body.count <= options.limits.requests.bodySize else {
                    throw ServerError(413, "The body is larger than \(options.limits.requests.bodySize) bytes.")
                }
                let segments = try ServerRequest.segments(request.path)
                if SocketHandshake.isAsked(for: request) {
                    return try socket(request, Array(segments.dropFirst(place?.depth ?? 0)), dialect)
                }
                if let answer = try await answerWithoutKey(request, segments) { return answer }
                guard let place, let dialect else {
                    throw .notFound("No dialect is spoken at \(request.path.prefix(200)).")
                }
                return try await dialect.answer(request, Array(segments.dropFirst(place.depth)))
            } catch {
                return dialect?.failure(error) ?? error.response
            }
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
