import Foundation
import StrataSQL
import StrataStore

/// Notices commits that others make to a database: other processes, and other stores of this one.
///
/// The system says that somebody writes to the files; `PRAGMA data_version` of the connection that writes says whether
/// another connection has committed. A commit can be seen a moment after its bytes are written, so the look is taken again
/// a few times.
final class ForeignCommits: Sendable {
    private struct State: Sendable {
        var version: Int64?
        /// The number of the looks that are being taken, and which of them comes next; nil for none.
        var round = 0
        var next: Int?
    }

    /// When to look after an event, in milliseconds from one look to the next.
    private static let delays = [0, 1, 1, 3, 5, 15, 25, 50]
    /// The first of them that is too far away for an event that comes before it: the looks start over then.
    private static let firstLate = 4

    private let read: @Sendable () -> Int64?
    private let onCommit: @Sendable () -> Void
    private let queue = DispatchQueue(label: "strata.foreign-commits")
    private let state: Guarded<State>
    private let watcher = Guarded<FileWatcher?>(nil)

    /// - Parameter read: The data version; nil once the store is closed.
    /// - Returns: nil if the system gives no watch.
    init?(
        path: String, read: @escaping @Sendable () -> Int64?, onCommit: @escaping @Sendable () -> Void
    ) {
        self.read = read
        self.onCommit = onCommit
        state = Guarded(State(version: read()))
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
            let version = read()
            let isNew = state.withLock { state in
                guard let version, version != state.version else { return false }
                state.version = version
                return true
            }
            if isNew { onCommit() }
            let next = version != nil && index + 1 < Self.delays.count ? index + 1 : nil
            state.withLock { $0.next = next }
            if let next { look(next, round) }
        }
    }
}

/// What the connection that writes has seen of other connections' commits.
struct ForeignCommitLook: Sendable {
    /// `PRAGMA data_version`, when somebody last looked.
    var version: Int64?
    /// How often it had changed by then.
    var count = 0
}

extension SQLiteStore {
    /// The answer is unknown while something is written.
    public func foreignCommitCount() -> ForeignCommitCount {
        guard case .file = location, !options.isMirror else { return .none }
        let count = try? pool.writeUnlessBusy { (connection) throws(StoreError) in
            let version = try connection.dataVersion()
            return foreignCommits.withLock { look in
                if let known = look.version, known != version { look.count += 1 }
                look.version = version
                return look.count
            }
        }
        return count.map { .known($0) } ?? .unknown
    }

    public func observeForeignCommits(_ handler: @escaping @Sendable () -> Void) -> StoreObservation? {
        guard case .file = location else { return nil }
        let pool = pool
        let commits = ForeignCommits(path: path) {
            try? pool.write { (connection) throws(StoreError) in try connection.dataVersion() }
        } onCommit: {
            handler()
        }
        return commits.map { commits in StoreObservation { withExtendedLifetime(commits) {} } }
    }
}
