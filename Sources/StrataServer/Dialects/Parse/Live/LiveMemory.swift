#if Server
    import StrataStore

    /// What a subscription remembers of objects, within the memory of its client: which of them match, digests of watched fields,
    /// and what it has told in the last two rounds.
    ///
    /// It is an object of its own, so that a look at one change copies no set. Only one read at a time has it.
    final class LiveMemory: Sendable {
        /// What a client takes an object for.
        enum Standing: Sendable {
            case there
            case gone
            /// It may not have been told.
            case perhaps
        }

        private struct State {
            var matching: Set<String>?
            var digests: [String: Int] = [:]
            /// The objects that were told as new or as deleted, in this round and in the one before.
            var (told, earlier) = ([String: Standing](), [String: Standing]())
            /// For how many rounds some of them are not remembered.
            var forgetful = 0
            /// How much is remembered, and how much of it has its memory.
            var (count, paid) = (0, 0)
        }

        /// A key of an object and its place in a set, in bytes, roughly.
        private static let size = 96
        private static let step = 100
        /// With more of them, some objects are told as deleted before they are told as new.
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

        /// An object was told as new, or as deleted.
        func tell(_ key: String, isThere: Bool) {
            state.withLock { state in
                if state.told.count >= Self.maximumTold { (state.told, state.forgetful) = ([:], 2) }
                state.told[key] = isThere ? .there : .gone
            }
        }

        /// What a client takes an object for that was told in the last two rounds; nil if it was not.
        func standing(of key: String) -> Standing? { state.withLock { $0.told[key] ?? $0.earlier[key] } }

        /// Whether some of what was told in the last two rounds is not remembered.
        var isForgetful: Bool { state.withLock { $0.forgetful > 0 } }

        /// A round is over.
        func finish() {
            state.withLock { state in
                state.forgetful = max(0, state.forgetful - 1)
                (state.told, state.earlier) = ([:], state.told)
            }
        }
    }
#endif
