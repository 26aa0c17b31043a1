#if Server
    import StrataStore

    /// What a subscription remembers of objects, within the memory of its client: which of them match, digests of watched fields,
    /// and what it has told since it last had told everything.
    ///
    /// It is an object of its own, so that a look at one change copies no set. Only one read at a time has it.
    final class LiveMemory: Sendable {
        private struct State {
            var matching: Set<String>?
            var digests: [String: Int] = [:]
            var told: Set<String> = []
            /// How much is remembered, and how much of it has its memory.
            var (count, paid) = (0, 0)
        }

        /// A key of an object and its place in a set, in bytes, roughly.
        private static let size = 96
        private static let step = 100
        /// With more of them, some objects that are new come as if they were changed.
        private static let maximumTold = 10_000

        private let state = Guarded(State())
        private let share: any MemoryShare
        private let limit: Int

        init(_ share: any MemoryShare, limit: Int) {
            self.share = share
            self.limit = limit
        }

        /// From now on it is known which objects match.
        func remembersMatches() { state.withLock { $0.matching = [] } }

        /// Whether an object matched; nil if that is not remembered, because an object that matches always does.
        func contains(_ key: String) -> Bool? { state.withLock { $0.matching?.contains(key) } }

        /// An object begins to match, if that is remembered.
        func add(_ key: String) throws(ServerError) {
            let isNew = state.withLock { $0.matching?.insert(key).inserted == true }
            if isNew { try grow() }
        }

        /// An object no longer matches.
        func remove(_ key: String) {
            state.withLock { state in
                if state.matching?.remove(key) != nil { state.count -= 1 }
                if state.digests.removeValue(forKey: key) != nil { state.count -= 1 }
            }
        }

        /// Whether the watched fields of an object are others than the last time.
        func notices(_ digest: Int, of key: String) throws(ServerError) -> Bool {
            let previous = state.withLock { $0.digests.updateValue(digest, forKey: key) }
            if previous == nil { try grow() }
            return previous != digest
        }

        private func grow() throws(ServerError) {
            let (count, pays) = state.withLock { state in
                state.count += 1
                defer { if state.count > state.paid { state.paid += Self.step } }
                return (state.count, state.count > state.paid)
            }
            guard count <= limit else {
                throw ParseCode.tooMany.error("The query matches more than \(limit) objects; narrow it.")
            }
            if pays { try share.take(Self.step * Self.size) }
        }

        // MARK: What was told

        /// An object that is new was told.
        func tell(_ key: String) {
            state.withLock { state in
                if state.told.count >= Self.maximumTold { state.told = [] }
                state.told.insert(key)
            }
        }

        /// Whether an object was told as new.
        func wasTold(_ key: String) -> Bool { state.withLock { $0.told.contains(key) } }

        /// An object that may have been told as new is gone.
        /// - Returns: Whether it was told.
        func untell(_ key: String) -> Bool { state.withLock { $0.told.remove(key) != nil } }

        /// All has been told.
        func finish() { state.withLock { $0.told = [] } }
    }
#endif
