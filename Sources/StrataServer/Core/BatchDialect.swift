#if Server
    import Foundation

    /// A request together with who sent it, in the form in which a dialect hands it on.
    protocol DialectCall: Sendable {
        var request: ServerRequest { get }
        var caller: Caller { get }
    }

    /// A dialect that answers several requests of one body, a batch.
    protocol BatchDialect: ServerDialect {
        associatedtype NestedCall: DialectCall

        var server: DataServer { get }

        /// Reads a request of a batch.
        /// - Parameter index: Its position, for errors.
        func nested(_ value: JSONValue, _ index: Int, in call: NestedCall) throws(ServerError) -> NestedCall
        /// The write that a request asks for; nil for all that is answered in its own way.
        func objectWrite(_ call: NestedCall) async throws(ServerError) -> ObjectWrite?
        /// Answers a request that is not a write.
        func answer(_ call: NestedCall) async throws(ServerError) -> ServerResponse
    }

    extension BatchDialect {
        /// Answers the requests of a batch in order, independently of each other.
        /// - Throws: ``ServerError`` 503 when the sender gave up.
        func answers(
            to requests: [JSONValue], in call: NestedCall
        ) async throws(ServerError) -> [ServerResponse] {
            let database = call.caller.database
            var answers = BatchAnswers(limit: server.options.limits.answers.size) { failure($0) }
            // Writes that follow each other share a transaction; a read sees what was written before it.
            var writes: [ObjectWrite] = []
            for (index, request) in requests.enumerated() {
                // No request waits for the rest.
                guard !Task.isCancelled else { throw ServerError(503, "The request was given up.", retryAfter: 1) }
                let answer: ServerResponse
                do throws(ServerError) {
                    if answers.isFull { throw BatchAnswers.refusal }
                    // The first was counted with the batch.
                    if index > 0 { try server.gate.admit(call.request, server.clock) }
                    let inner = try nested(request, index, in: call)
                    if let write = try await objectWrite(inner) {
                        writes.append(write)
                        if writes.count == BatchAnswers.writesPerTransaction {
                            await database.run(writes, into: &answers)
                            writes = []
                        }
                        continue
                    }
                    await database.run(writes, into: &answers)
                    writes = []
                    answer = try await self.answer(inner)
                } catch {
                    await database.run(writes, into: &answers)
                    writes = []
                    answer = failure(error)
                }
                answers.append(answer)
            }
            await database.run(writes, into: &answers)
            return answers.all
        }
    }
#endif
