#if Server
    import Foundation
    import HummingbirdCore
    import NIOCore
    import StrataStore

    /// The body of an answer on its way to a client that may read slowly, or not at all.
    ///
    /// It goes out in parts, each of which waits until the connection takes it, so that what has gone is known. When
    /// one part is not taken in time, or all of them too slowly, the connection ends, and with it the answer's claim on
    /// memory.
    struct AnswerBody: Sendable {
        private static let partSize = 64 * 1024

        let data: Data
        let lease: MemoryBudget.Lease
        let channel: any Channel
        /// How long a part may wait, in seconds.
        let patience: Double
        /// How many bytes a second must go on average, once the patience for the first part is over.
        let rate: Int

        /// The body for the responder.
        var body: ResponseBody {
            // A small one fits what the connection takes immediately; the idle timeout is enough for it.
            guard data.count > Self.partSize else { return ResponseBody(byteBuffer: ByteBuffer(bytes: data)) }
            return ResponseBody(contentLength: data.count) { writer in
                let watch = Watch(channel, patience: patience, rate: rate)
                defer { watch.end() }
                var rest = data[...]
                while !rest.isEmpty {
                    try await writer.write(ByteBuffer(bytes: rest.prefix(Self.partSize)))
                    // The writer takes parts until the event loop says that the connection takes none. A loop that is
                    // busy says so late: without waiting for it, all of the answer would be the connection's, unseen.
                    try await channel.eventLoop.submit {}.get()
                    rest = rest.dropFirst(Self.partSize)
                    watch.went(data.count - rest.count)
                }
                try await writer.finish(nil)
                withExtendedLifetime(lease) {}
            }
        }

        /// Closes a connection that takes nothing for too long, or too little.
        private final class Watch: Sendable {
            private struct State {
                var last = ContinuousClock.now
                var count = 0
            }

            private let state = Guarded(State())
            private let timer = Guarded<Task<Void, any Error>?>(nil)

            init(_ channel: any Channel, patience: Double, rate: Int) {
                let start = ContinuousClock.now
                let task = Task { [self] in
                    while true {
                        let (last, count) = state.withLock { ($0.last, $0.count) }
                        let slowest = start + .seconds(patience + Double(count) / Double(max(1, rate)))
                        let deadline = min(last + .seconds(patience), slowest)
                        guard deadline > .now else { return channel.close(promise: nil) }
                        try await Task.sleep(until: deadline, clock: .continuous)
                    }
                }
                timer.withLock { $0 = task }
            }

            func went(_ count: Int) {
                state.withLock { state in
                    state.last = .now
                    state.count = count
                }
            }

            func end() { timer.withLock { $0?.cancel() } }
        }
    }
#endif
