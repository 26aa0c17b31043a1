#if Server
    import Foundation

    extension ParseService {
        /// `POST batch`: several independent requests in order, with the answers in the same order.
        func batch(_ call: ParseCall) async throws(ServerError) -> ServerResponse {
            guard let requests = call.body["requests"]?.elements else {
                throw ParseCode.invalidJSON.error("A batch takes {\"requests\":[{\"method\",\"path\",\"body\"}]}.")
            }
            guard requests.count <= options.limits.requests.objects else {
                throw ParseCode.tooMany.error(
                    "A batch may hold \(options.limits.requests.objects) requests; send several.")
            }
            return ServerResponse(json: .array(try await answers(to: requests, in: call).map(member)))
        }

        /// A member of the answer.
        private func member(_ answer: ServerResponse) -> JSONValue {
            let json = answer.json ?? .object([:])
            if answer.status >= 400 { return ["error": json] }
            return variant.wrapped(json, as: "success")
        }

        func nested(_ value: JSONValue, _ index: Int, in call: ParseCall) throws(ServerError) -> ParseCall {
            guard let method = value["method"]?.string?.uppercased(), let path = value["path"]?.string else {
                throw ParseCode.invalidJSON.error("Request \(index) of the batch lacks method or path.")
            }
            guard ["GET", "POST", "PUT", "DELETE"].contains(method) else {
                throw ParseCode.commandUnavailable.error("\(method.prefix(20)) is not answered.")
            }
            let target = path.hasPrefix("/") ? path : "/" + path
            // Who sends a batch sends all of it; but each write has a name of its own.
            var headers = call.request.headers.filter { !HeaderName.areEqual($0.name, IdempotencyKey.header) }
            for (name, value) in value["headers"]?.members ?? [:]
            where HeaderName.areEqual(name, IdempotencyKey.header) {
                headers.append((name, value.string ?? ""))
            }
            let request = ServerRequest(
                method, target, headers: headers, client: call.request.client,
                isSecure: call.request.isSecure)
            var segments = try ServerRequest.segments(request.path)
            // Clients write the path with that of the server in front, or with the version of the service that it was.
            let words: Set<String> = ["classes", "users", "installations", "functions", "jobs", "files", "batch"]
            guard let start = segments.prefix(8).firstIndex(where: words.contains) else {
                throw ParseCode.commandUnavailable.error("\(path.prefix(200)) is not answered.", status: 404)
            }
            segments.removeFirst(start)
            guard segments.first != "batch", segments.first != "files" else {
                throw ParseCode.commandUnavailable.error("A batch holds requests for objects.")
            }
            var parameters: JSONObject = [:]
            for (name, value) in request.parameters ?? [] { parameters[name] = .string(value) }
            let body = value["body"]?.members ?? [:]
            if method == "GET" { parameters.merge(body) }
            return ParseCall(
                request: request, method: method, segments: segments, parameters: parameters, body: body,
                caller: call.caller)
        }
    }
#endif
