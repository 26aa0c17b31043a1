#if Server
    import StrataStore

    /// Work that goes on after its request was answered, so that the time of the answer tells nothing about it.
    final class BackgroundWork: Sendable {
        private static let maximumCount = 100
        private let tasks = Guarded<(next: Int, running: [Int: Task<Void, Never>])>((0, [:]))

        /// Begins some work.
        /// - Throws: ``ServerError`` 503 if there is too much of it already.
        func start(_ body: @escaping @Sendable () async -> Void) throws(ServerError) {
            let isIn = tasks.withLock { tasks in
                guard tasks.running.count < Self.maximumCount else { return false }
                tasks.next += 1
                let id = tasks.next
                tasks.running[id] = Task {
                    await body()
                    self.tasks.withLock { $0.running[id] = nil }
                }
                return true
            }
            if !isIn { throw ServerError(503, "The server is busy.", retryAfter: 1) }
        }

        /// Waits until all that has begun is done.
        func finish() async {
            for task in tasks.withLock({ Array($0.running.values) }) { await task.value }
        }
    }
#endif
