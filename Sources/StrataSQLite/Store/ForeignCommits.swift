import Foundation
import StrataSQL
import StrataStore

/// Notices commits that others make to a database: other processes, and other stores of this one.
///
/// The system says that somebody writes to the files; ``ForeignCommitCounter`` says whether another connection has
/// committed. A commit can be seen a moment after its bytes are written, so the look is taken again
/// a few times.
final class ForeignCommits: Sendable {
    private struct State: Sendable {
        var count: Int?
        /// The number of the looks that are being taken, and which of them comes next; nil for none.
        var round = 0
        var next: Int?
    }

    /// When to look after an event, in milliseconds from one look to the next.
    private static let delays = [0, 1, 1, 3, 5, 15, 25, 50]
    /// The first of them that is too far away for an event that comes before it: the looks start over then.
    private static let firstLate = 4

    private let read: @Sendable () -> Int?
    private let onCommit: @Sendable () -> Void
    private let queue = DispatchQueue(label: "strata.foreign-commits")
    private let state: Guarded<State>
    private let watcher = Guarded<FileWatcher?>(nil)

    /// - Parameter read: The number of commits; nil once the store is closed.
    /// - Returns: nil if the system gives no watch.
    init?(
        path: String, read: @escaping @Sendable () -> Int?, onCommit: @escaping @Sendable () -> Void
    ) {
        self.read = read
        self.onCommit = onCommit
        state = Guarded(State(count: read()))
        let url = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let name = url.lastPathComponent
        let made = FileWatcher(
            folder: url.deletingLastPathComponent().path, names: [name, "\(name)-wal", "\(name)-journal"], queue: queue
        ) { [weak self] in self?.eventCame() }
        guard let made else { return nil }
        watcher.withLock { $0 = made }
    }

    private func eventCame() {
        let round: Int? = state.withLock { state in
            if let next = state.next, next < Self.firstLate { return nil }
            state.round += 1
            state.next = 0
            return state.round
        }
        if let round { look(0, round) }
    }

    private func look(_ index: Int, _ round: Int) {
        queue.asyncAfter(deadline: .now() + .milliseconds(Self.delays[index])) { [weak self] in
            guard let self, state.withLock({ $0.round == round }) else { return }
            let count = read()
            let isNew = state.withLock { state in
                guard let count, count != state.count else { return false }
                state.count = count
                return true
            }
            if isNew { onCommit() }
            let next = count != nil && index + 1 < Self.delays.count ? index + 1 : nil
            state.withLock { $0.next = next }
            if let next { look(next, round) }
        }
    }
}

/// Counts how often the connection that writes has found commits of other connections.
final class ForeignCommitCounter: Sendable {
    /// SQLite's number at the last look, and how often it had changed by then.
    private let state = Guarded<(version: Int64?, count: Int)>((nil, 0))

    func count(on writer: Connection) throws(StoreError) -> Int {
        let version = try writer.dataVersion()
        return state.withLock { state in
            if let known = state.version, known != version { state.count += 1 }
            state.version = version
            return state.count
        }
    }
}

extension SQLiteStore {
    /// The answer is unknown while something is written.
    public func foreignCommitCount() -> ForeignCommitCount {
        guard case .file = location, !options.isMirror else { return .none }
        let count = try? pool.writeUnlessBusy { (connection) throws(StoreError) in
            try foreignCommits.count(on: connection)
        }
        return count.map { .known($0) } ?? .unknown
    }

    public func observeForeignCommits(_ handler: @escaping @Sendable () -> Void) -> StoreObservation? {
        guard case .file = location else { return nil }
        let (pool, counter) = (pool, foreignCommits)
        let commits = ForeignCommits(path: path) {
            try? pool.write { (connection) throws(StoreError) in try counter.count(on: connection) }
        } onCommit: {
            handler()
        }
        return commits.map { commits in StoreObservation { withExtendedLifetime(commits) {} } }
    }
}
