#if Server
    import Foundation
    import Strata

    // What the dialect lacks and clients that keep a copy need. Requests that do not use it see nothing of it.
    extension StackMobServer {
        /// `GET /_changes/<schema>?since=<cursor>&limit=<n>`: what was changed and deleted since a cursor, oldest first.
        ///
        /// A cursor is the number of a change. Numbers are given in the order of writing, and an answer stops at the
        /// last one that was on the disk when it began: what is written meanwhile has a greater number and comes next
        /// time.
        func changes(_ call: Call) async throws(ServerError) -> ServerResponse {
            guard call.request.method == "GET" else { throw .notAllowed("Changes are only read.", "GET") }
            let name = call.segments[1].lowercased()
            var (since, limit) = (Int64(0), 1_000)
            for (key, value) in QueryParameters.read(call.request.query) ?? [] {
                switch (key, Int64(value)) {
                case ("since", let number?) where number >= 0: since = number
                case ("limit", let number?) where number > 0: limit = Int(min(number, 10_000))
                case ("since", _) where value.isEmpty: since = 0
                default: throw .badRequest("Changes take since=<cursor> and limit=<number>.")
                }
            }
            let (options, start, count) = (options, since, limit)
            return try await database.read(isLong: true) { (scope) throws(ServerError) in
                let level = options.access.level(.read, schema: name, isUser: name == options.userSchema)
                let owner = try call.principal.check(level, "read \(name)")
                guard let schema = scope.catalogue[name] else {
                    guard options.isDevelopment, call.version == 0 else { throw Self.noSchema(name) }
                    return Self.answer([], [], next: start, more: false)
                }
                func after(_ name: String) -> FetchPredicate {
                    .comparison(.keyPath([name]), .greater, .constant(.integer(start)), [])
                        && .comparison(
                            .keyPath([name]), .lessOrEqual, .constant(.integer(scope.visibleSequence)), [])
                }
                var wanted = after("sm_sequence")
                var gone = after("sequence") && DataScope.equal("schema", .string(name))
                if let owner {
                    wanted = wanted && DataScope.equal("sm_owner", .string(owner))
                    gone = gone && DataScope.equal("owner", .string(owner))
                }
                let objects = try scope.fetch(
                    FetchRequest(
                        entity: schema.entityName, where: wanted, sortedBy: [FetchSort("sm_sequence")], limit: count + 1
                    ))
                let stones = try scope.fetch(
                    FetchRequest(
                        entity: "ServerTombstone", where: gone, sortedBy: [FetchSort("sequence")], limit: count + 1))
                var entries = objects.map { (sequence: $0.whole("sm_sequence") ?? 0, object: $0, isGone: false) }
                entries += stones.map { (sequence: $0.whole("sequence") ?? 0, object: $0, isGone: true) }
                entries.sort { $0.sequence < $1.sequence }
                let page = entries.prefix(count)
                let next = entries.count > count ? page.last?.sequence ?? start : max(start, scope.visibleSequence)
                return Self.answer(
                    page.filter { !$0.isGone }.map { .object(ObjectReader.members($0.object, schema)) },
                    page.filter(\.isGone).map { $0.object.text("identifier").map(JSONValue.string) ?? .null },
                    next: next, more: entries.count > count)
            }
        }

        private static func answer(
            _ objects: [JSONValue], _ deleted: [JSONValue], next: Int64, more: Bool
        ) -> ServerResponse {
            ServerResponse(json: [
                "objects": .array(objects), "deleted": .array(deleted), "next": .string(String(next)),
                "more": .boolean(more),
            ])
        }

        /// `POST /_batch`: several requests in order, each for itself, with the answers in the same order. The
        /// signature of the batch counts for all of them.
        func batch(_ call: Call) async throws(ServerError) -> ServerResponse {
            guard call.request.method == "POST" else { throw .notAllowed("A batch is posted.", "POST") }
            guard !call.isNested else { throw .badRequest("A batch cannot hold a batch.") }
            let body = try call.json(options)
            guard let requests = body["requests"]?.elements else {
                throw .badRequest("A batch takes {\"requests\":[{\"method\",\"path\",\"headers\",\"body\"}]}.")
            }
            guard requests.count <= options.limits.requestObjects else {
                throw .badRequest("A batch may hold \(options.limits.requestObjects) requests; send several.")
            }
            var answers = Answers(limit: options.limits.answerSize)
            // Writes that follow each other share a transaction; a read sees what was written before it.
            var writes: [ObjectWrite] = []
            for (index, request) in requests.enumerated() {
                // Nobody waits for what comes next.
                guard !Task.isCancelled else { throw ServerError(503, "The request was given up.", retryAfter: 1) }
                var response: ServerResponse?
                do throws(ServerError) {
                    if answers.isFull { throw Answers.refusal }
                    let inner = try nested(request, index, in: call)
                    if let write = try await objectWrite(inner) {
                        writes.append(write)
                        if writes.count < Self.writesPerTransaction { continue }
                        await run(writes, into: &answers)
                        writes = []
                        continue
                    }
                    await run(writes, into: &answers)
                    writes = []
                    response = try await answer(inner)
                } catch {
                    await run(writes, into: &answers)
                    writes = []
                    response = error.response
                }
                if let response { answers.append(response) }
            }
            await run(writes, into: &answers)
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
                || (call.segments.count == 2 && AccountEndpoint(rawValue: call.segments[1]) != nil)
            guard !isSpecial, ServerSchema.fault(ofName: name.lowercased()) == nil else { return nil }
            return try await write(call, schema: name.lowercased())
        }

        /// Runs writes in one transaction, each for itself.
        private func run(_ writes: [ObjectWrite], into answers: inout Answers) async {
            guard !writes.isEmpty else { return }
            let before = answers
            do throws(ServerError) {
                answers = try await database.write { (scope) throws(ServerError) in
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
                // What stands against one at the commit stands against all of them together; alone, the others go through.
                guard writes.count > 1 else { return answers.append(error.response) }
                for write in writes { await run([write], into: &answers) }
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
                version: call.version, isNested: true)
        }
    }
#endif
