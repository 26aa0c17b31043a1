import StrataStore

extension StoreSet: DeferredMigrationStore {
    /// The steps of all stores, one store after the other.
    func deferredMigrationSteps() throws(StoreError) -> [DeferredMigrationStep] {
        var steps: [DeferredMigrationStep] = []
        for part in parts {
            guard let store = part.store as? any DeferredMigrationStore else { continue }
            steps += try store.deferredMigrationSteps()
        }
        return steps
    }

    func runDeferredSteps(
        cancellation: ReadCancellation, onProgress: @escaping @Sendable (MigrationProgress) -> Void,
        onBatch: ([Int: Set<Int64>]) -> Void
    ) throws(StoreError) -> Int {
        var visited = 0
        for part in parts {
            guard let store = part.store as? any DeferredMigrationStore else { continue }
            visited += try store.runDeferredSteps(cancellation: cancellation, onProgress: onProgress) { keys in
                onBatch(part.translation.outer(keys.mapValues(Array.init)).mapValues(Set.init))
            }
        }
        return visited
    }
}
