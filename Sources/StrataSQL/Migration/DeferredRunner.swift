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
    /// Whether the connection is lost, so that a commit that has failed may be permanent nevertheless.
    var isLost: Bool { get }
}

/// Counts the objects that a step has visited.
private struct DeferredTally {
    private(set) var visited = 0
    /// The number of objects of a batch that may have been committed, and its last key.
    private var lost: (count: Int, position: Int64)?

    mutating func add(_ count: Int) { visited += count }

    /// Notes that the connection was lost while a batch was being committed.
    mutating func lose(_ count: Int, upTo position: Int64) { lost = (count, position) }

    /// Counts the lost batch if it was committed.
    /// - Parameter step: How far the step is now; nil if it is done.
    mutating func settle(_ step: DeferredMigrationStep?) {
        guard let lost else { return }
        self.lost = nil
        if step.map({ $0.position >= lost.position }) ?? true { visited += lost.count }
    }
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
        var tally = DeferredTally()
        var attempt = 0
        while true {
            do throws(StoreError) {
                guard try runBatch(name, stage, &tally, onBatch) else { return tally.visited }
                attempt = 0
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

    /// - Returns: false if the step is done.
    private func runBatch(
        _ name: String, _ stage: MigrationStage, _ tally: inout DeferredTally, _ onBatch: ([Int: Set<Int64>]) -> Void
    ) throws(StoreError) -> Bool {
        if migration.cancellation?.isCancelled == true { throw .cancelled }
        try place.begin()
        defer { place.rollback() }
        let found = try DeferredSteps.read(name, in: place)
        tally.settle(found)
        guard let work = stage.deferred, var step = found else { return false }
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
        do throws(StoreError) {
            try place.commit()
        } catch {
            place.rollback()
            if place.isLost {
                tally.lose(keys.count, upTo: step.position)
                // The changes may be there.
                if !changed.isEmpty { onBatch(changed) }
            }
            throw error
        }
        tally.add(keys.count)
        if !changed.isEmpty { onBatch(changed) }
        migration.onProgress?(
            MigrationProgress(text: name, completed: min(step.completed, step.total), total: step.total))
        return true
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
