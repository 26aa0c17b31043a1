#if Postgres
    import StrataStore

    /// What is known of the primary's log: where it ended at some moments.
    ///
    /// A replica that has replayed the log up to where it ended at a moment shows everything that was committed before that
    /// moment. Neither clocks of servers nor the connection between them matter for that: a replica that has lost its primary
    /// stops, an idle primary adds nothing, and a moment is one of this process.
    struct LogTimeline: Sendable {
        typealias Instant = ContinuousClock.Instant

        /// Where the log ended.
        struct Sample: Sendable, Hashable {
            let position: Int64
            /// A moment before the server was asked.
            let moment: Instant
        }

        /// More samples than that tell nothing more.
        private static let limit = 64

        /// Which log it is. Positions in different ones cannot be compared.
        private(set) var identity: LogIdentity?
        /// The first is the oldest.
        private var samples: [Sample] = []
        /// Up to where a read must see the log, because this process has committed up to there.
        private var floor: Int64 = 0
        /// A read must see what was committed before this moment, because this process may know of it.
        private var news: Instant?

        /// The last one.
        var latest: Sample? { samples.last }

        /// Notes where the log ended.
        /// - Parameter span: For how long that matters.
        /// - Returns: Whether the log is another one than before: after a failover.
        mutating func add(_ sample: Sample, of identity: LogIdentity, span: Duration) -> Bool {
            let isOther = self.identity.map { $0 != identity } ?? false
            if isOther { samples = [] }
            self.identity = identity
            samples.removeAll { $0.moment + span < sample.moment }
            // Two threads may have asked at the same time.
            if let last = samples.last, last.moment >= sample.moment || last.position > sample.position {
                return isOther
            }
            if samples.count >= Self.limit {
                samples = samples.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
            }
            samples.append(sample)
            return isOther
        }

        /// Notes that this process has committed.
        /// - Parameter position: Where the log ended afterwards; nil if that is not known.
        mutating func noteCommit(at position: Int64?, now: Instant) {
            if let position { floor = max(floor, position) } else { news = now }
        }

        /// Up to where a replica must have replayed the log to show what was committed before a moment, and what this process
        /// knows of; nil if that is not known yet.
        func position(showing moment: Instant) -> Int64? {
            let moment = news.map { max($0, moment) } ?? moment
            return samples.first { $0.moment >= moment }.map { max($0.position, floor) }
        }
    }

    /// Which log a server writes or replays.
    struct LogIdentity: Sendable, Hashable {
        /// The number that the cluster got when it was made, and all copies of it have.
        let system: Int64
        /// Grows with each promotion.
        let timeline: Int64
    }
#endif
