import Foundation
import StrataSQL
import StrataStore

/// A version of a store that is held by an open read transaction, on a connection of its own.
///
/// While it is held, a checkpoint keeps what was written after it in the write-ahead log. So the time is bounded: the
/// transaction ends when it is over, even if nothing is read.
final class HeldVersion: ForwardingReader {
    private enum State: Sendable {
        case held
        case released
        case storeClosed
        /// SQLite has ended the transaction after a failure.
        case failed(StoreError)
    }

    private let store: SQLiteStore
    /// Reads with the one connection.
    private let reader: SQLiteStore
    private let seconds: Double
    private let end: ContinuousClock.Instant
    private let state = Guarded(State.held)

    /// A thread of its own: those that all share may be busy for long.
    private static let clock = DispatchQueue(label: "strata.held-versions")

    /// The longest time that a version is held.
    static let longest = Duration.seconds(3600)

    init(of store: SQLiteStore, for duration: Duration) throws(StoreError) {
        self.store = store
        seconds = duration.inSeconds
        let connection = try store.pool.openReader()
        do throws(StoreError) {
            guard try connection.texts("PRAGMA journal_mode").first == "wal" else {
                throw .unsupported(
                    store: store.name,
                    feature: "contexts that are pinned to one version: the file is not in WAL mode; "
                        + "open it for writing once")
            }
            try connection.execute("BEGIN")
            // A transaction begins to see one version with its first read.
            _ = try connection.integer("SELECT count(*) FROM sqlite_schema")
        } catch {
            connection.close()
            throw error
        }
        end = .now + duration
        let path = store.path
        reader = SQLiteStore(
            store,
            readingThrough: ConnectionPool(path: path, writer: connection, readerCount: 0) { (_) throws(StoreError) in
                throw .closed(path: path)
            })
    }

    /// Releases the version when its time is over.
    func startClock() {
        Self.clock.asyncAfter(deadline: .now() + seconds) { [weak self] in self?.release() }
    }

    /// Ends the transaction because the time is over. Waits for a read that is under way.
    private func release() { end(.released) }

    /// Ends the transaction because the store is being closed.
    func storeWillClose() { end(.storeClosed) }

    private func end(_ new: State) {
        state.withLock { state in
            if case .held = state { state = new }
        }
        reader.pool.close()
    }

    /// Why there is nothing to read any more.
    private var failure: StoreError? {
        switch state.withLock(\.self) {
        case .held: nil
        case .released: .versionReleased(path: store.path, seconds: seconds)
        case .storeClosed: .closed(path: store.path)
        case .failed(let error): error
        }
    }

    /// Reads the version, unless it is held no more.
    func read<T>(_ body: (SQLiteStore) throws(StoreError) -> T) throws(StoreError) -> T {
        // The clock of the queue may be late.
        if ContinuousClock.now >= end { release() }
        if let failure { throw failure }
        do throws(StoreError) {
            return try body(reader)
        } catch {
            if let failure { throw failure }
            // Without its transaction, the connection would read what is committed now.
            let isHeld = try? reader.pool.read { (connection) throws(StoreError) in connection.isInTransaction }
            if isHeld != true { end(.failed(error)) }
            throw error
        }
    }
}

struct WeakHeldVersion: Sendable {
    weak var version: HeldVersion?
}

extension SQLiteStore {
    /// Holds the last commit for reading, on a connection of its own. The write-ahead log grows while it is held.
    /// - Parameter duration: How long at most: more than 0, and no more than an hour.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` for a store in memory, or a file that is not in WAL mode;
    ///   ``StoreError/invalidOption(name:value:reason:)`` for another duration.
    public func holdVersion(for duration: Duration) throws(StoreError) -> any StoreReader {
        guard duration > .zero, duration <= HeldVersion.longest else {
            throw .invalidOption(
                name: "duration", value: "\(duration)", reason: "a version is held for more than 0 s and up to an hour")
        }
        guard !pool.hasClosed else { throw .closed(path: path) }
        guard pool.hasReaders else {
            throw .unsupported(
                store: name,
                feature: "contexts that are pinned to one version: it has one connection; use a store in a file")
        }
        let version = try HeldVersion(of: self, for: duration)
        heldVersions.withLock { list in
            list.removeAll { $0.version == nil }
            list.append(WeakHeldVersion(version: version))
        }
        // It may have been closed before the version was on the list.
        if pool.hasClosed { version.storeWillClose() } else { version.startClock() }
        return version
    }

    func releaseHeldVersions() {
        for held in heldVersions.withLock(\.self) { held.version?.storeWillClose() }
    }
}
