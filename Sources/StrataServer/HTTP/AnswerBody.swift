#if Server
    import Foundation
    import HummingbirdCore
    import NIOCore
    import StrataStore

    /// The body of an answer on its way to a client that may read slowly, or not at all.
    ///
    /// It goes out in parts, each of which waits until the connection takes it, so that what has gone is known. When one
    /// part is not taken in time, the connection ends, and with it the answer's claim on memory.
    struct AnswerBody: Sendable {
        private static let partSize = 64 * 1024

        let data: Data
        let lease: MemoryBudget.Lease
        let channel: any Channel
        /// How long a part may wait.
        let patience: Duration

        /// The body for the responder.
        var body: ResponseBody {
            // A small one fits what the connection takes at once; the idle time-out is enough for it.
            guard data.count > Self.partSize else { return ResponseBody(byteBuffer: ByteBuffer(bytes: data)) }
            return ResponseBody(contentLength: data.count) { writer in
                let watch = Watch(channel, patience: patience)
                defer { watch.end() }
                var rest = data[...]
                while !rest.isEmpty {
                    try await writer.write(ByteBuffer(bytes: rest.prefix(Self.partSize)))
                    // The writer takes parts until the event loop says that the connection takes none. A loop that is
                    // busy says so late: without waiting for it, all of the answer would be the connection's, unseen.
                    try await channel.eventLoop.submit {}.get()
                    watch.rest()
                    rest = rest.dropFirst(Self.partSize)
                }
                try await writer.finish(nil)
                withExtendedLifetime(lease) {}
            }
        }

        /// Closes a connection that takes nothing for too long.
        private final class Watch: Sendable {
            private let last = Guarded(ContinuousClock.now)
            private let timer = Guarded<Task<Void, any Error>?>(nil)

            init(_ channel: any Channel, patience: Duration) {
                let task = Task { [self] in
                    while true {
                        let deadline = last.withLock { $0 } + patience
                        guard deadline > .now else { return channel.close(promise: nil) }
                        try await Task.sleep(until: deadline, clock: .continuous)
                    }
                }
                timer.withLock { $0 = task }
            }

            func rest() { last.withLock { $0 = .now } }
            func end() { timer.withLock { $0?.cancel() } }
        }
    }
#endif
