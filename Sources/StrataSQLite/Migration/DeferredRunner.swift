import StrataSQL
import StrataStore

/// Does a deferred step, batch by batch, each in a transaction that also notes how far the step is.
///
/// The transaction begins before the objects are read. Several processes can therefore work at the same step: each takes the
/// batch that the others left.
struct DeferredRunner {
    let connection: Connection
    let place: ResolvedLocation
    let schema: Schema
    let metadata: StoreMetadata
    let options: SQLiteStore.Options

    private var migration: MigrationOptions { options.migration }

    /// Does what is left of a step.
    /// - Parameter onBatch: Called after each batch with the keys that it changed, by position of their topmost entities.
    /// - Returns: How many objects were visited.
    /// - Throws: What the code of the step throws, as ``StoreError/migrationFailed(path:step:reason:)``; the batch has no effect
    ///   then, and those before it stay.
    @discardableResult
    func run(
        _ name: String, _ stage: MigrationStage, onBatch: ([Int: Set<Int64>]) -> Void
    ) throws(StoreError) -> Int {
        // Where a migration has just dropped the triggers, nothing is recorded until the store is open.
        let recorded = connection.version.recordsHistory
        defer { connection.version.recordsHistory = recorded }
        let retention = try HistoryTables.retention(on: connection)
        let triggers = try HistoryTriggers.present(on: connection)
        connection.version.recordsHistory = retention != nil && !triggers.isEmpty
        let store = try SQLiteStore.within(
            connection, place: place, schema: schema, metadata, options: options)
        var visited = 0
        while let batch = try runBatch(name, stage, in: store) {
            visited += batch.count
            if !batch.changed.isEmpty { onBatch(batch.changed) }
        }
        return visited
    }

    /// - Returns: How many objects were visited, and which ones were changed; nil if the step is done.
    private func runBatch(
        _ name: String, _ stage: MigrationStage, in store: SQLiteStore
    ) throws(StoreError) -> (count: Int, changed: [Int: Set<Int64>])? {
        if migration.cancellation?.isCancelled == true { throw .cancelled }
        try connection.begin()
        defer {
            connection.nesting.usesSavepoints = false
            connection.rollback()
        }
        guard let work = stage.deferred, var step = try DeferredSteps.read(name, on: connection) else { return nil }
        guard try StoreMetadata.get("version_hash", on: connection) == schema.layout.model.versionHash else {
            throw .migratedElsewhere(path: place.path)
        }
        guard let entity = schema.layout.model.entity(named: step.entity) else {
            throw .deferredStepPending(
                path: place.path, step: name, reason: "the model has no entity \(step.entity) any more")
        }
        let keys = try keys(of: entity, step, limit: work.batchSize)
        let changed = keys.isEmpty ? [:] : try visit(keys, work, in: store)
        step.completed += keys.count
        step.position = keys.last ?? step.last
        if keys.count < work.batchSize {
            try DeferredSteps.remove(step, on: connection)
        } else {
            try DeferredSteps.write(step, on: connection)
        }
        try connection.commit()
        migration.onProgress?(
            MigrationProgress(text: name, completed: min(step.completed, step.total), total: step.total))
        return (keys.count, changed)
    }

    private func keys(
        of entity: EntityDescription, _ step: DeferredMigrationStep, limit: Int
    ) throws(StoreError) -> [Int64] {
        let rows = schema.layout.rows(of: entity)
        let statement = try connection.statement(
            "SELECT _id FROM \(rows) AND _id > ? AND _id <= ? ORDER BY _id LIMIT ?")
        statement.bind(step.position, at: 1)
        statement.bind(step.last, at: 2)
        statement.bind(Int64(limit), at: 3)
        var keys: [Int64] = []
        while try statement.step() { keys.append(statement.integer(0)) }
        return keys
    }

    private func visit(
        _ keys: [Int64], _ work: DeferredWork, in store: SQLiteStore
    ) throws(StoreError) -> [Int: Set<Int64>] {
        connection.nesting.usesSavepoints = true
        defer { connection.nesting.usesSavepoints = false }
        let cancellation = migration.cancellation
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

extension SQLiteStore {
    /// The steps of migrations that are still to be done, in their order.
    public func deferredMigrationSteps() throws(StoreError) -> [DeferredMigrationStep] {
        try pool.read { (connection) throws(StoreError) in try DeferredSteps.read(on: connection) }
    }

    /// Does the deferred steps of migrations, with the code of the stages in ``Options/migration``.
    /// - Parameters:
    ///   - cancellation: Stops the work between two objects. What earlier batches did stays.
    ///   - onProgress: Called after each batch.
    ///   - onBatch: Called after each batch with the keys that it changed, by position of their topmost entities.
    /// - Returns: How many objects were visited.
    package func runDeferredSteps(
        cancellation: ReadCancellation, onProgress: @escaping @Sendable (MigrationProgress) -> Void,
        onBatch: ([Int: Set<Int64>]) -> Void
    ) throws(StoreError) -> Int {
        let steps = try deferredMigrationSteps()
        guard !steps.isEmpty else { return 0 }
        guard !self.options.isReadOnly else { throw .readOnly(path: path) }
        var options = self.options
        options.createIfMissing = false
        options.migration.cancellation = cancellation
        options.migration.onProgress = onProgress
        let place = try ResolvedLocation(location, options: options)
        // A connection of its own: others of this store can write between two batches, and the code of a step that saves by
        // another way gets an error instead of a deadlock.
        let connection = try Connection(
            filename: place.filename, path: place.path, readOnly: false, create: false, options: options)
        defer { connection.close() }
        let metadata = StoreMetadata(identifier: identifier, layout: layout)
        let runner = DeferredRunner(
            connection: connection, place: place, schema: schema, metadata: metadata, options: options)
        var visited = 0
        for step in steps {
            let stage = try DeferredSteps.stage(
                for: step, in: options.migration, path: path, why: "it cannot be done")
            visited += try runner.run(step.name, stage, onBatch: onBatch)
        }
        return visited
    }
}
