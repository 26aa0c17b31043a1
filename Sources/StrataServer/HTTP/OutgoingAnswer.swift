#if Server
    import Foundation
    import NIOCore

    /// The body of a large answer on its way to a client that may read slowly, or not at all.
    ///
    /// It goes out in parts, each of which waits until the connection has taken the one before, so that what has gone is known.
    /// When one part is not taken in time, or all of them too slowly, the connection ends, and with it the answer's claim on
    /// memory.
    struct OutgoingAnswer {
        /// The size of a part. A connection takes as much immediately, so that a smaller answer is written as a whole.
        static let partSize = 64 * 1024

        private var rest: Data.SubSequence
        private let lease: MemoryBudget.Lease
        private let limits: ServerLimits.Answers
        private let start = NIODeadline.now()
        private var count = 0

        init(_ data: Data, _ lease: MemoryBudget.Lease, _ limits: ServerLimits.Answers) {
            rest = data[...]
            self.lease = lease
            self.limits = limits
        }

        /// When the connection ends if the next part has not gone by then.
        var deadline: NIODeadline {
            let slowest = limits.timeout + Double(count) / Double(max(1, limits.rate))
            return min(.now() + TimeAmount(seconds: limits.timeout), start + TimeAmount(seconds: slowest))
        }

        /// The next part; nil if all have gone.
        mutating func next() -> ByteBuffer? {
            guard !rest.isEmpty else { return nil }
            let part = rest.prefix(Self.partSize)
            rest = rest.dropFirst(Self.partSize)
            count += part.count
            return ByteBuffer(bytes: part)
        }
    }
#endif
