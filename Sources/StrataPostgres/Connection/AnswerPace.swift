#if Postgres
    /// How quickly the answers of a server come.
    ///
    /// A thread that sleeps until an answer comes is woken late: on a virtual machine, that can take as long as a small statement on a
    /// server nearby. So where answers come quickly, a connection looks for the next one a moment before its thread sleeps. If no
    /// answer comes in that time, the thread sleeps immediately for the next answers, so that little time is wasted.
    struct AnswerPace {
        /// How long a connection looks for an answer before it sleeps.
        static let patience = Duration.microseconds(100)
        /// The maximum time of a quick answer, with the time that it takes to wake a thread.
        private static let quick = Duration.microseconds(250)
        /// After how many quick answers the next one is expected to be quick, too.
        private static let enough = 4
        /// For how many more answers the thread sleeps after the connection has looked without success.
        private static let penalty = 64

        private var quickAnswers = 0

        /// Whether the next answer is likely to come within ``patience``.
        var isQuick: Bool { quickAnswers >= Self.enough }

        /// Notes how long the thread has waited for an answer.
        mutating func note(_ duration: Duration) {
            if duration < Self.quick {
                quickAnswers = min(quickAnswers + 1, Self.enough)
            } else {
                quickAnswers = min(quickAnswers, 0)
            }
        }

        /// Notes that no answer came within ``patience``.
        mutating func noteMiss() { quickAnswers = -Self.penalty }
    }
#endif
