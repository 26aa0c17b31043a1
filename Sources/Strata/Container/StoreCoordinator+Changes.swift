import Foundation
import StrataSQLite
import StrataStore

extension StoreCoordinator {
    /// Writes changes, and blocks until the store is done.
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult { try store.commit(changes) }

    /// Writes changes on another thread, or sends them, where their store is elsewhere.
    func commitLater(
        _ changes: ChangeSet, _ options: (any StoreRequestOptions)?
    ) async throws(StoreError) -> CommitResult {
        guard hasNetwork, let entityIndex = changes.someEntityIndex, let network = network(of: entityIndex) else {
            return try await commits.commit(changes)
        }
        guard let set else { return try await network.commit(changes, options: options) }
        // The objects of other stores that are only checked come first.
        let (own, others) = try set.single(changes)
        if !others.isEmpty {
            let conflicts = try await commits.run { () throws(StoreError) in try set.failures(of: others) }
            if !conflicts.isEmpty { return .conflicts(conflicts) }
        }
        return try await network.commit(own, options: options)
    }

    /// Applies what the store has from elsewhere: contexts hear about it as of another context's save.
    func take(_ change: StoreChange) {
        announce(
            CommitNotification(
                contextNumber: nil, changes: change.changes, effects: change.effects,
                previousRows: change.previousRows, deletedRows: change.deletedRows))
    }

    /// Forgets the rows that a commit made old, and tells every other context.
    func announce(_ notification: CommitNotification) {
        keys.storeWasWritten()
        for (rootIndex, keys) in notification.staleKeys(model) { rowCache.invalidate(keys, rootIndex: rootIndex) }
        // All of it had been deleted before, and those deletes were announced.
        if notification.changes.isEmpty, !notification.effects.alreadyDeleted.isEmpty { return }
        forgetRows(referringTo: notification.changes.deletes)
        broadcast(notification)
    }

    /// Reads on a thread that may block, until it is done or the task is cancelled.
    /// - Parameter reader: The store, or a version of it; an error if the version could not be held.
    func read<R: Sendable>(
        from reader: Result<any StoreReader, StoreError>,
        _ body: @escaping @Sendable (any StoreReader, ReadCancellation) throws(StoreError) -> R
    ) async throws(PersistenceError) -> R {
        let cancellation = ReadCancellation()
        let result: Result<R, StoreError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    do throws(StoreError) {
                        continuation.resume(returning: .success(try body(try reader.get(), cancellation)))
                    } catch {
                        continuation.resume(returning: .failure(error))
                    }
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        do { return try result.get() } catch { throw PersistenceError(error) }
    }
}
