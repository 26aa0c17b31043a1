#if Server
    import Foundation
    import Strata

    extension DataServer {
        /// Answers a request. Never throws: errors are in the answer.
        public func respond(to request: ServerRequest) async -> ServerResponse {
            let start = ContinuousClock.now
            let route = RequestRoute(of: request, in: self)
            let kind = route.dialect.map { type(of: $0) }
            let origins = options.network.origins
            var response: ServerResponse
            if let preflight = CrossOrigin.preflight(request, origins, methods: kind?.methods ?? ["GET", "HEAD"]) {
                response = preflight
            } else {
                response = await traced(request, route)
            }
            route.dialect?.finish(&response, to: request)
            CrossOrigin.allow(request, origins, exposing: kind?.exposedHeaders ?? [], on: &response)
            if request.method == "HEAD" { response.body = Data() }
            observe(request, response, since: start)
            return response
        }

        /// The answer to a request that failed, in the words of its dialect.
        func failure(_ error: ServerError, to request: ServerRequest) -> ServerResponse {
            RequestRoute(of: request, in: self).dialect?.failure(error) ?? error.response
        }

        func answered(_ request: ServerRequest, _ route: RequestRoute) async -> ServerResponse {
            do throws(ServerError) {
                try gate.admit(request, clock)
                guard request.body.count <= options.limits.requests.bodySize else {
                    throw ServerError(413, "The body is larger than \(options.limits.requests.bodySize) bytes.")
                }
                let segments = try route.segments.get()
                let parts = Array(segments.dropFirst(route.depth))
                if SocketHandshake.isAsked(for: request) { return try socket(request, parts, route.dialect) }
                if let answer = try await answerWithoutKey(request, segments) { return answer }
                guard let dialect = route.dialect else {
                    throw .notFound("No dialect is spoken at \(request.path.prefix(200)).")
                }
                return try await dialect.answer(request, parts)
            } catch {
                return route.dialect?.failure(error) ?? error.response
            }
        }

        /// What is answered without a key of the application, and over plain HTTP even where TLS is required: whether
        /// the server is well.
        private func answerWithoutKey(
            _ request: ServerRequest, _ segments: [String]
        ) async throws(ServerError) -> ServerResponse? {
            if segments == ["health"] { return try await health() }
            if segments == [Self.metricsPath] { return try metricsText(request) }
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
