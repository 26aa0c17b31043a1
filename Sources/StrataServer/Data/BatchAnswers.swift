#if Server
    /// The answers of a batch. When they are as large as an answer may be, what follows is refused undone.
    struct BatchAnswers: Sendable {
        private(set) var all: [ServerResponse] = []
        private var size = 0
        private let limit: Int
        private let failure: @Sendable (ServerError) -> ServerResponse

        /// Others wait while these are written.
        static let writesPerTransaction = 500

        static let refusal = ServerError(
            503, "The answers of the batch are large enough; send the rest as another.", retryAfter: 1)

        /// - Parameter failure: The answer to what fails.
        init(limit: Int, failure: @escaping @Sendable (ServerError) -> ServerResponse) {
            self.limit = limit
            self.failure = failure
        }

        var isFull: Bool { size > limit }

        mutating func append(_ answer: ServerResponse) {
            all.append(answer)
            size += answer.body.count
        }

        mutating func append(_ error: ServerError) { append(failure(error)) }
    }

    extension Database {
        /// Runs writes in one transaction, each independently.
        func run(_ writes: [ObjectWrite], into answers: inout BatchAnswers) async {
            guard !writes.isEmpty else { return }
            let before = answers
            do throws(ServerError) {
                answers = try await write { (scope) throws(ServerError) in
                    var answers = before
                    for write in writes {
                        do throws(ServerError) {
                            if answers.isFull { throw BatchAnswers.refusal }
                            answers.append(try scope.attempt(write))
                        } catch {
                            if scope.neededCatalogue != nil { throw error }
                            answers.append(error)
                        }
                    }
                    return answers
                }
            } catch {
                // A commit that fails for one write fails for all of them; one by one, the others go through.
                guard writes.count > 1 else { return answers.append(error) }
                for write in writes { await run([write], into: &answers) }
            }
        }
    }
#endif
