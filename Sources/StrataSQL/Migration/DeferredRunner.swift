import StrataStore

/// Where the batches of deferred steps are done: each in a transaction that also notes how far the step is.
package protocol DeferredPlace: DeferredNotes {
    /// The layout of the store, with the model that the code of the step works with.
    var layout: StoreLayout { get }

    /// Begins the transaction of a batch. Others that do the same step wait, or find out at the latest when they note how far
    /// it is.
    func begin() throws(StoreError)
    /// Makes the batch permanent.
    func commit() throws(StoreError)
    /// Takes the batch back. Does nothing after a commit.
    func rollback()
    /// The version hash of the model that the store has now.
    func versionHash() throws(StoreError) -> String?
    /// Keys of the rows of a table with a condition, in their order.
    func keys(_ rows: String, after: Int64, upTo: Int64, limit: Int) throws(StoreError) -> [Int64]
    /// Runs a closure with a store whose commits are parts of the transaction.
    func visiting<T>(_ body: (any PersistentStore) throws(StoreError) -> T) throws(StoreError) -> T
    /// Whether a batch that has failed may succeed if it is done again.
    func repeats(_ error: StoreError, attempt: Int) -> Bool
}

/// Does a deferred step, batch by batch.
///
/// The transaction begins before the objects are read. Several processes can therefore work at the same step: each takes the
/// batch that the others left.
package struct DeferredRunner<Place: DeferredPlace> {
    private let place: Place
    private let migration: MigrationOptions

    package init(_ place: Place, _ migration: MigrationOptions) {
        self.place = place
        self.migration = migration
    }

    /// Does what is left of a step.
    /// - Parameter onBatch: Called after each batch with the keys that it changed, by position of their topmost entities.
    /// - Returns: How many objects were visited.
    /// - Throws: What the code of the step throws, as ``StoreError/migrationFailed(path:step:reason:)``; the batch has no effect
    ///   then, and those before it stay.
    @discardableResult
    package func run(
        _ name: String, _ stage: MigrationStage, onBatch: ([Int: Set<Int64>]) -> Void
    ) throws(StoreError) -> Int {
        var visited = 0
        var attempt = 0
        while true {
            do throws(StoreError) {
                guard let batch = try runBatch(name, stage) else { return visited }
                attempt = 0
                visited += batch.count
                if !batch.changed.isEmpty { onBatch(batch.changed) }
            } catch {
                attempt += 1
                guard place.repeats(error, attempt: attempt) else { throw error }
            }
        }
    }

    /// Does steps one after the other.
    /// - Parameter why: Why that must be now, for an error.
    /// - Returns: How many objects were visited.
    @discardableResult
    package func run(
        _ steps: [DeferredMigrationStep], why: String, onBatch: ([Int: Set<Int64>]) -> Void
    ) throws(StoreError) -> Int {
        var visited = 0
        for step in steps {
            let stage = try DeferredSteps.stage(for: step, in: migration, path: place.path, why: why)
            visited += try run(step.name, stage, onBatch: onBatch)
        }
        return visited
    }

    /// - Returns: How many objects were visited, and which ones were changed; nil if the step is done.
    private func runBatch(
        _ name: String, _ stage: MigrationStage
    ) throws(StoreError) -> (count: Int, changed: [Int: Set<Int64>])? {
        if migration.cancellation?.isCancelled == true { throw .cancelled }
        try place.begin()
        defer { place.rollback() }
        guard let work = stage.deferred, var step = try DeferredSteps.read(name, in: place) else { return nil }
        let model = place.layout.model
        guard try place.versionHash() == model.versionHash else { throw .migratedElsewhere(path: place.path) }
        guard let entity = model.entity(named: step.entity) else {
            throw .deferredStepPending(
                path: place.path, step: name, reason: "the model has no entity \(step.entity) any more")
        }
        let keys = try place.keys(
            place.layout.rows(of: entity), after: step.position, upTo: step.last, limit: work.batchSize)
        let changed = keys.isEmpty ? [:] : try visit(keys, work)
        step.completed += keys.count
        step.position = keys.last ?? step.last
        if keys.count < work.batchSize {
            try DeferredSteps.remove(step, in: place)
        } else {
            try DeferredSteps.write(step, in: place)
        }
        try place.commit()
        migration.onProgress?(
            MigrationProgress(text: name, completed: min(step.completed, step.total), total: step.total))
        return (keys.count, changed)
    }

    private func visit(_ keys: [Int64], _ work: DeferredWork) throws(StoreError) -> [Int: Set<Int64>] {
        let cancellation = migration.cancellation
        return try place.visiting { (store) throws(StoreError) in
            do {
                return try work.body(
                    DeferredBatch(store: store, keys: keys, isCancelled: { cancellation?.isCancelled == true }))
            } catch let error as StoreError {
                throw error
            } catch {
                throw .migrationFailed(path: place.path, step: "deferred step \(work.name)", reason: "\(error)")
            }
        }
    }
}
