#if Server
    import Foundation
    import Strata

    extension StackMobServer {
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
            var answers = Answers(limit: options.limits.answers.size)
            // Writes that follow each other share a transaction; a read sees what was written before it.
            var writes: [ObjectWrite] = []
            for (index, request) in requests.enumerated() {
                // Nobody waits for what comes next.
                guard !Task.isCancelled else { throw ServerError(503, "The request was given up.", retryAfter: 1) }
                var response: ServerResponse?
                do throws(ServerError) {
                    if answers.isFull { throw Answers.refusal }
                    // The first was counted with the batch.
                    if index > 0 { try gate.admit(call.request, clock) }
                    let inner = try nested(request, index, in: call)
                    if let write = try await objectWrite(inner) {
                        writes.append(write)
                        if writes.count < Self.writesPerTransaction { continue }
                        await run(writes, in: call, into: &answers)
                        writes = []
                        continue
                    }
                    await run(writes, in: call, into: &answers)
                    writes = []
                    response = try await answer(inner)
                } catch {
                    await run(writes, in: call, into: &answers)
                    writes = []
                    response = error.response
                }
                if let response { answers.append(response) }
            }
            await run(writes, in: call, into: &answers)
            return ServerResponse(
                json: .array(
                    answers.all.map { ["status": .integer(Int64($0.status)), "body": $0.json ?? .null] }))
        }

        /// The answers of a batch. When they are as large as an answer may be, what follows is refused undone.
        struct Answers {
            private(set) var all: [ServerResponse] = []
            private var size = 0
            private let limit: Int

            static let refusal = ServerError(
                503, "The answers of the batch are large enough; send the rest as another.", retryAfter: 1)

            init(limit: Int) { self.limit = limit }

            var isFull: Bool { size > limit }

            mutating func append(_ answer: ServerResponse) {
                all.append(answer)
                size += answer.body.count
            }
        }

        /// Others wait while these are written.
        private static let writesPerTransaction = 500

        /// What a request of a batch writes; nil for all that is answered in its own way.
        private func objectWrite(_ call: Call) async throws(ServerError) -> ObjectWrite? {
            let name = call.segments.first ?? ""
            let isSpecial =
                (call.segments.count == 1 && methods[name] != nil)
                || (call.segments.count == 2 && AccountEndpoint(rawValue: call.segments[1]) != nil
                    && options.accounts(name.lowercased()) != nil)
            guard !isSpecial, ServerSchema.fault(ofName: name.lowercased()) == nil else { return nil }
            return try await write(call, schema: name.lowercased())
        }

        /// Runs writes in one transaction, each for itself.
        private func run(_ writes: [ObjectWrite], in call: Call, into answers: inout Answers) async {
            guard !writes.isEmpty else { return }
            let before = answers
            do throws(ServerError) {
                answers = try await call.database.write { (scope) throws(ServerError) in
                    var answers = before
                    for write in writes {
                        do throws(ServerError) {
                            if answers.isFull { throw Answers.refusal }
                            answers.append(try scope.attempt(write))
                        } catch {
                            if scope.neededCatalogue != nil { throw error }
                            answers.append(error.response)
                        }
                    }
                    return answers
                }
            } catch {
                // A commit that fails for one write fails for all of them; one by one, the others go through.
                guard writes.count > 1 else { return answers.append(error.response) }
                for write in writes { await run([write], in: call, into: &answers) }
            }
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
                request: request, segments: try ServerRequest.segments(request.path), principal: call.principal,
                version: call.version, environment: call.environment, isNested: true)
        }
    }
#endif
