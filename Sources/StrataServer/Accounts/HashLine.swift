#if Server
    import Foundation
    import StrataStore

    /// The line before the work that takes tens of megabytes and milliseconds: a few at a time, one address after the
    /// other, so that a flood from one address delays only that address. Work whose caller has gone is not begun.
    final class HashLine: Sendable {
        private struct Job {
            var run: @Sendable () -> Void
            var giveUp: @Sendable (ServerError) -> Void
        }

        private struct State {
            /// By client, with the number of each job.
            var jobs: [String: [(id: Int, job: Job)]] = [:]
            /// The clients with jobs, in the order of their turns.
            var turns: [String] = []
            var count = 0
            var running = 0
            var nextID = 0

            mutating func next() -> Job? {
                guard !turns.isEmpty else { return nil }
                let client = turns.removeFirst()
                guard var line = jobs[client], !line.isEmpty else { return nil }
                let job = line.removeFirst().job
                count -= 1
                jobs[client] = line.isEmpty ? nil : line
                if !line.isEmpty { turns.append(client) }
                return job
            }

            mutating func remove(_ id: Int, of client: String) -> Job? {
                guard var line = jobs[client], let place = line.firstIndex(where: { $0.id == id }) else { return nil }
                let job = line.remove(at: place).job
                count -= 1
                jobs[client] = line.isEmpty ? nil : line
                if line.isEmpty { turns.removeAll { $0 == client } }
                return job
            }
        }

        /// Half of the processors: the other half answers those who are logged in.
        private static let width = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
        private static let givenUp = ServerError(503, "The request was given up.", retryAfter: 1)
        static let maximumLength = 256
        static let maximumPerClient = 8

        private let queue = DispatchQueue(label: "strata.server.passwords", qos: .utility, attributes: .concurrent)
        private let state = Guarded(State())

        /// Runs work when it is the client's turn.
        /// - Throws: What the work throws; ``ServerError`` 503 if too much waits, or if the task is cancelled before the
        ///   work begins.
        func run<T: Sendable>(
            for client: String, _ body: @escaping @Sendable () throws(ServerError) -> T
        ) async throws(ServerError) -> T {
            if Task.isCancelled { throw Self.givenUp }
            let client = ClientNetwork.name(of: client)
            let id = state.withLock { state in
                state.nextID += 1
                return state.nextID
            }
            let result: Result<T, ServerError> = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let job = Job(
                        run: { continuation.resume(returning: Result { () throws(ServerError) in try body() }) },
                        giveUp: { continuation.resume(returning: .failure($0)) })
                    enter(job, id, client)
                    // The task may have been cancelled before the job was queued.
                    if Task.isCancelled { cancel(id, client) }
                }
            } onCancel: {
                cancel(id, client)
            }
            return try result.get()
        }

        private func cancel(_ id: Int, _ client: String) {
            let job = state.withLock { $0.remove(id, of: client) }
            job?.giveUp(Self.givenUp)
        }

        private func enter(_ job: Job, _ id: Int, _ client: String) {
            let (isIn, starts) = state.withLock { state -> (Bool, Bool) in
                let length = state.jobs[client]?.count ?? 0
                guard state.count < Self.maximumLength, length < Self.maximumPerClient else { return (false, false) }
                if length == 0 { state.turns.append(client) }
                state.jobs[client, default: []].append((id, job))
                state.count += 1
                guard state.running < Self.width else { return (true, false) }
                state.running += 1
                return (true, true)
            }
            guard isIn else { return job.giveUp(ServerError(503, "Too many are logging in.", retryAfter: 2)) }
            if starts { queue.async { self.drain() } }
        }

        private func drain() {
            while true {
                let job = state.withLock { state in
                    let job = state.next()
                    if job == nil { state.running -= 1 }
                    return job
                }
                guard let job else { return }
                job.run()
            }
        }
    }
#endif
