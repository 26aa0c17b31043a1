#if Server
    import Foundation
    import StrataStore

    /// Runs reads on threads of their own, a few at a time: each holds what it reads in memory, so that their number
    /// bounds it. Others wait in line, and leave it when their callers have gone.
    final class ReaderLine: Sendable {
        private struct State {
            var running = 0
            var line: [@Sendable () -> Void] = []
            var first = 0

            mutating func next() -> (@Sendable () -> Void)? {
                guard first < line.count else {
                    line.removeAll()
                    first = 0
                    return nil
                }
                defer { first += 1 }
                return line[first]
            }
        }

        /// As many as keep the processors busy while some wait for the disk.
        static let usualWidth = max(4, ProcessInfo.processInfo.activeProcessorCount * 2)
        private static let longestLine = 10_000

        private let width: Int
        private let queue: DispatchQueue
        private let state = Guarded(State())

        /// - Parameter width: How many reads run at a time.
        init(_ service: DispatchQoS, width: Int = ReaderLine.usualWidth) {
            self.width = width
            queue = DispatchQueue(label: "strata.server.readers", qos: service, attributes: .concurrent)
        }

        /// Runs a read when it is its turn.
        /// - Throws: What the read throws; ``ServerError`` 503 if too many wait, or if the task is cancelled before it
        ///   begins.
        func run<T: Sendable>(
            _ body: @escaping @Sendable (ReadCancellation) throws(ServerError) -> T
        ) async throws(ServerError) -> T {
            let cancellation = ReadCancellation()
            let result: Result<T, ServerError> = await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isIn = enter {
                        continuation.resume(
                            returning: Result { () throws(ServerError) in
                                try Self.check(cancellation)
                                return try body(cancellation)
                            })
                    }
                    if !isIn {
                        continuation.resume(
                            returning: .failure(ServerError(503, "Too many are reading.", retryAfter: 1)))
                    }
                }
            } onCancel: {
                cancellation.cancel()
            }
            return try result.get()
        }

        /// Stops a read whose caller has gone.
        static func check(_ cancellation: ReadCancellation) throws(ServerError) {
            if cancellation.isCancelled { throw ServerError(503, "The request was given up.", retryAfter: 1) }
        }

        /// - Returns: Whether there was room.
        private func enter(_ work: @escaping @Sendable () -> Void) -> Bool {
            let (isIn, starts) = state.withLock { state in
                guard state.running >= width else {
                    state.running += 1
                    return (true, true)
                }
                guard state.line.count - state.first < Self.longestLine else { return (false, false) }
                state.line.append(work)
                return (true, false)
            }
            if starts { start(work) }
            return isIn
        }

        private func start(_ work: @escaping @Sendable () -> Void) {
            queue.async {
                work()
                let next = self.state.withLock { state in
                    let next = state.next()
                    if next == nil { state.running -= 1 }
                    return next
                }
                if let next { self.start(next) }
            }
        }
    }
#endif
