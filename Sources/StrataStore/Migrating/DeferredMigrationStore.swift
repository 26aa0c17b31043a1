/// A store whose migrations may leave steps to be done after the opening.
package protocol DeferredMigrationStore: PersistentStore {
    /// The steps that are still to be done, in their order.
    func deferredMigrationSteps() throws(StoreError) -> [DeferredMigrationStep]
    /// Does them, with the code of the stages that the store was opened with.
    /// - Parameters:
    ///   - cancellation: Stops the work between two objects. What earlier batches did stays.
    ///   - onProgress: Called after each batch.
    ///   - onBatch: Called after each batch with the keys that it changed, by position of their topmost entities.
    /// - Returns: How many objects were visited.
    func runDeferredSteps(
        cancellation: ReadCancellation, onProgress: @escaping @Sendable (MigrationProgress) -> Void,
        onBatch: ([Int: Set<Int64>]) -> Void
    ) throws(StoreError) -> Int
}
