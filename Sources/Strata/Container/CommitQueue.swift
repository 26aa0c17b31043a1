import Foundation
import StrataStore

/// Writes the change sets of asynchronous saves, one after the other, on a thread of its own: a save that waits blocks
/// nobody's thread, and thousands of saves at once need one thread only.
final class CommitQueue: Sendable {
    private let store: any PersistentStore
    private let queue = DispatchQueue(label: "strata.commits")

    init(store: any PersistentStore) { self.store = store }

    /// Writes changes when those before them have been written.
    func commit(_ changes: ChangeSet) async throws(StoreError) -> CommitResult {
        let store = store
        return try await run { () throws(StoreError) in try store.commit(changes) }
    }

    /// Does what blocks when the commits before it have been done.
    func run<R: Sendable>(_ body: @escaping @Sendable () throws(StoreError) -> R) async throws(StoreError) -> R {
        let result: Result<R, StoreError> = await withCheckedContinuation { continuation in
            queue.async {
                do throws(StoreError) {
                    continuation.resume(returning: .success(try body()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }
}
