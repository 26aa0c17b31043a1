#if Server
    import StrataStore

    /// The answers to refresh tokens of the last minute: clients whose requests end at the same moment each send theirs,
    /// and one whose answer was lost sends it again.
    final class RefreshMemory: Sendable {
        private struct Entry {
            var answer: JSONValue
            var until: Int64
        }

        private static let capacity = 10_000
        private let entries = Guarded<[String: Entry]>([:])

        /// The answer that a token had; nil if it was never used, or too long ago.
        func answer(to digest: String, milliseconds now: Int64) -> JSONValue? {
            entries.withLock { entries in
                guard let entry = entries[digest], entry.until >= now else { return nil }
                return entry.answer
            }
        }

        /// Remembers an answer. Without room for it, the token has no second answer.
        func keep(_ answer: JSONValue, to digest: String, until: Int64, milliseconds now: Int64) {
            entries.withLock { entries in
                if entries.count >= Self.capacity { entries = entries.filter { $0.value.until >= now } }
                if entries.count < Self.capacity { entries[digest] = Entry(answer: answer, until: until) }
            }
        }
    }
#endif
