#if Server
    import Foundation
    import Strata

    extension StackMobService {
        /// `POST /_batch`: several requests in order, each for itself, with the answers in the same order. The
        /// signature of the batch counts for all of them.
        func batch(_ call: Call) async throws(ServerError) -> ServerResponse {
            guard call.request.method == "POST" else { throw .notAllowed("A batch is posted.", "POST") }
            guard !call.isNested else { throw .badRequest("A batch cannot hold a batch.") }
            let body = try call.json(options)
            guard let requests = body["requests"]?.elements else {
                throw .badRequest("A batch takes {\"requests\":[{\"method\",\"path\",\"headers\",\"body\"}]}.")
            }
            guard requests.count <= options.limits.requests.objects else {
                throw .badRequest("A batch may hold \(options.limits.requests.objects) requests; send several.")
            }
            var answers = BatchAnswers(limit: options.limits.answers.size) { failure($0) }
            // Writes that follow each other share a transaction; a read sees what was written before it.
            var writes: [ObjectWrite] = []
            for (index, request) in requests.enumerated() {
                // Nobody waits for what comes next.
                guard !Task.isCancelled else { throw ServerError(503, "The request was given up.", retryAfter: 1) }
                var response: ServerResponse?
                do throws(ServerError) {
                    if answers.isFull { throw BatchAnswers.refusal }
                    // The first was counted with the batch.
                    if index > 0 { try server.gate.admit(call.request, server.clock) }
                    let inner = try nested(request, index, in: call)
                    if let write = try await objectWrite(inner) {
                        writes.append(write)
                        if writes.count < BatchAnswers.writesPerTransaction { continue }
                        await call.database.run(writes, into: &answers)
                        writes = []
                        continue
                    }
                    await call.database.run(writes, into: &answers)
                    writes = []
                    response = try await answer(inner)
                } catch {
                    await call.database.run(writes, into: &answers)
                    writes = []
                    response = failure(error)
                }
                if let response { answers.append(response) }
            }
            await call.database.run(writes, into: &answers)
            return ServerResponse(
                json: .array(
                    answers.all.map { ["status": .integer(Int64($0.status)), "body": $0.json ?? .null] }))
        }

        /// What a request of a batch writes; nil for all that is answered in its own way.
        private func objectWrite(_ call: Call) async throws(ServerError) -> ObjectWrite? {
            let name = call.segments.first ?? ""
            let isSpecial =
                (call.segments.count == 1 && server.methods[name] != nil)
                || (call.segments.count == 2 && AccountEndpoint(rawValue: call.segments[1]) != nil
                    && options.accounts(name.lowercased()) != nil)
            guard !isSpecial, ServerSchema.fault(ofName: name.lowercased()) == nil else { return nil }
            return try await write(call, schema: name.lowercased())
        }

        private func nested(_ value: JSONValue, _ index: Int, in call: Call) throws(ServerError) -> Call {
            guard let method = value["method"]?.string, let path = value["path"]?.string else {
                throw .badRequest("Request \(index) of the batch lacks method or path.")
            }
            var headers = call.request.headers.filter { ["accept", "host"].contains($0.name.lowercased()) }
            for (name, header) in value["headers"]?.members ?? [:] {
                guard let text = header.string else {
                    throw .badRequest("Header \(name) of request \(index) is not text.")
                }
                headers.insert((name, text), at: 0)
            }
            let text: String? = if let body = value["body"], !body.isNull { try body.stored() } else { nil }
            let body = Data((text ?? "").utf8)
            let request = ServerRequest(
                method, path, headers: headers, body: body, client: call.request.client,
                isSecure: call.request.isSecure)
            guard ["GET", "POST", "PUT", "DELETE"].contains(request.method) else {
                throw .notAllowed("The method \(method.prefix(20)) is not answered.", "GET, POST, PUT, DELETE")
            }
            return Call(
                request: request, segments: try ServerRequest.segments(request.path), caller: call.caller,
                version: call.version, isNested: true)
        }
    }
#endif
