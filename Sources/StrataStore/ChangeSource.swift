/// The context that changes come from. A store that remembers what it has done of them asks whether it is the same one, and whether
/// it still has its changes: contexts keep their source as long as they do.
package final class ChangeSource: Sendable {
    private let rounds = Guarded(0)

    package init() {}

    /// The context has dropped all of its changes: what it is asked to save from now on is something else.
    package func startAnew() { rounds.withLock { $0 += 1 } }

    /// What the context has now; see ``Draft/isDropped``.
    package var draft: Draft { Draft(self, round: rounds.withLock { $0 }) }

    /// The changes that a context had at some time.
    package struct Draft: Sendable {
        private weak var source: ChangeSource?
        private let round: Int

        fileprivate init(_ source: ChangeSource, round: Int) {
            self.source = source
            self.round = round
        }

        /// Whether these are changes of a context.
        package func isOf(_ source: ChangeSource?) -> Bool { source != nil && self.source === source }

        /// Whether the context has dropped all changes since then, or is gone. It can no longer save the new objects of that time.
        package var isDropped: Bool { source.map { source in source.rounds.withLock { $0 != round } } ?? true }
    }
}
