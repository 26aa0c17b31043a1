#if Server
    import StrataStore

    /// Numbers changes in the order in which they are written, and gives them times that never go back.
    final class SequenceCounter: Sendable {
        private let last: Guarded<(number: Int64, time: Int64)>

        init(_ number: Int64, time: Int64) { last = Guarded((number, time)) }

        func next() -> Int64 {
            last.withLock {
                $0.number += 1
                return $0.number
            }
        }

        /// Goes on from what another server has counted.
        func advance(to counter: SharedCounter) {
            last.withLock {
                $0.number = max($0.number, counter.sequence)
                $0.time = max($0.time, counter.time)
            }
        }

        /// The time of the last change.
        var time: Int64 { last.withLock(\.time) }

        /// The time of a change in milliseconds since 1970.
        func time(_ now: Int64, after previous: Int64) -> Int64 {
            last.withLock {
                $0.time = max(now, $0.time, previous < .max ? previous + 1 : previous)
                return $0.time
            }
        }
    }
#endif
