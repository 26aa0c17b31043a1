import StrataStore

/// The version of the store that a context reads in place of the last commit, and the rows that were read from it.
final class VersionPin {
    /// The version, or why it could not be held.
    private(set) var version: Result<any StoreReader, StoreError>
    /// How long each version is held at most; nil for a version that somebody else moves.
    let duration: Duration?
    /// Rows of this version. They are not in the cache of the container, which has rows of the last commit.
    let rowCache = RowCache()
    /// Whether the context merges commits once it is no longer pinned.
    var mergesAfterwards: Bool
    /// Whether a save is looking for what its changes are in conflict with, which only the last commit tells.
    fileprivate(set) var isSuspended = false
    /// Whether objects may have rows of the last commit.
    fileprivate(set) var hasReadPresent = false

    init(_ version: Result<any StoreReader, StoreError>, for duration: Duration?, mergesAfterwards: Bool) {
        self.version = version
        self.duration = duration
        self.mergesAfterwards = mergesAfterwards
    }

    /// Goes forward to the last commit. If that cannot be held, reads throw the error until the context is pinned again.
    fileprivate func move(in store: any PersistentStore) {
        guard let duration else { return }
        do throws(StoreError) {
            version = .success(try store.holdVersion(for: duration))
        } catch {
            version = .failure(error)
        }
        rowCache.forgetAll()
        hasReadPresent = false
    }
}

extension ContextCore {
    /// What this context, or the outermost parent, is pinned to.
    var pin: VersionPin? { parent?.core.pin ?? settings.pin }

    /// What rows are read from: the store, or the version that the context is pinned to.
    var reader: Result<any StoreReader, StoreError> {
        if let replica, pin == nil { return .success(replica.reader) }
        guard let pin, !pin.isSuspended else { return .success(coordinator.store) }
        return pin.version
    }

    /// The cache of rows of what is read.
    var rowCache: RowCache {
        if let replica, pin == nil { return replica.rowCache(besides: coordinator.rowCache) }
        guard let pin, !pin.isSuspended else { return coordinator.rowCache }
        return pin.rowCache
    }

    /// Reads from a version from now on.
    func pin(to version: any StoreReader, for duration: Duration) {
        let mergesAfterwards = settings.pin?.mergesAfterwards ?? inbox.isOpen
        inbox.isOpen = false
        settings.pin = VersionPin(.success(version), for: duration, mergesAfterwards: mergesAfterwards)
        refreshAll()
    }

    /// Reads from the store from now on.
    func unpin() {
        guard let pin = settings.pin else { return }
        settings.pin = nil
        inbox.isOpen = pin.mergesAfterwards
        refreshAll()
    }

    /// After a save: goes forward to the last commit, which has the changes that were saved.
    func movePin() {
        guard let pin = settings.pin else { return }
        pin.move(in: coordinator.store)
        refreshAll()
    }

    /// Runs a closure that looks at the last commit, whatever the context is pinned to.
    func readingPresent<R>(_ body: () throws(PersistenceError) -> R) throws(PersistenceError) -> R {
        guard let pin = settings.pin else {
            settings.replica?.reader.beginReadingPrimary()
            defer { settings.replica?.reader.endReadingPrimary() }
            return try body()
        }
        guard !pin.isSuspended else { return try body() }
        pin.isSuspended = true
        pin.hasReadPresent = true
        defer { pin.isSuspended = false }
        return try body()
    }

    /// After a save that failed: no object keeps what ``readingPresent(_:)`` has read.
    func forgetPresent() {
        guard let pin = settings.pin, pin.hasReadPresent else { return }
        pin.hasReadPresent = false
        refreshAll()
    }

    /// Unchanged objects become faults, and changed ones keep their changes on top of the rows that the context reads now.
    private func refreshAll() {
        inbox.putBack(.everything)
        processPendingChanges()
    }
}
