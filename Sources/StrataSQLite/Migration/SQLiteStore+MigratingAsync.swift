import Foundation
import StrataSQL
import StrataStore

extension SQLiteStore {
    /// Migrates the store of a file on a thread of its own. Cancelling the task stops the migration and leaves the file as it
    /// was.
    ///
    ///     try await SQLiteStore.migrate("cities.sqlite", to: model, options: options) { progress in
    ///         print(progress.fraction)
    ///     }
    /// - Parameter onProgress: Called as the migration goes on, on its thread.
    /// - Throws: ``StoreError``, as the synchronous form; ``StoreError/cancelled`` if the task was cancelled.
    @discardableResult
    public static func migrate(
        _ path: String, to model: ManagedObjectModel, options: Options = Options(),
        onProgress: @escaping @Sendable (MigrationProgress) -> Void
    ) async throws(StoreError) -> MigrationReport {
        var options = options
        let cancellation = options.migration.cancellation ?? ReadCancellation()
        options.migration.cancellation = cancellation
        options.migration.onProgress = onProgress
        let settings = options
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(
                        returning: Result { () throws(StoreError) in try migrate(path, to: model, options: settings) })
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }
}
