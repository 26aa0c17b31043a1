import StrataSQL
import StrataStore

/// A file in which deferred steps are done.
///
/// The transaction of a batch begins by taking the file's lock, so that several processes can work at the same step.
struct FilePlace: DeferredPlace {
    let path: String
    let layout: StoreLayout
    private let connection: Connection
    private let store: SQLiteStore

    private var entries: FileNotes { FileNotes(connection: connection) }

    /// Runs a closure with a place.
    static func with<T>(
        _ connection: Connection, _ place: ResolvedLocation, _ schema: Schema, _ metadata: StoreMetadata,
        _ options: SQLiteStore.Options, _ body: (FilePlace) throws(StoreError) -> T
    ) throws(StoreError) -> T {
        // Where a migration has just dropped the triggers, nothing is recorded until the store is open.
        let recorded = connection.version.recordsHistory
        defer { connection.version.recordsHistory = recorded }
        let retention = try HistoryTables.retention(on: connection)
        let triggers = try HistoryTriggers.present(on: connection)
        connection.version.recordsHistory = retention != nil && !triggers.isEmpty
        let store = try SQLiteStore.within(connection, place: place, schema: schema, metadata, options: options)
        return try body(
            FilePlace(path: place.path, layout: schema.layout, connection: connection, store: store))
    }

    func begin() throws(StoreError) { try connection.begin() }
    func commit() throws(StoreError) { try connection.commit() }
    func rollback() { connection.rollback() }

    func versionHash() throws(StoreError) -> String? { try StoreMetadata.get("version_hash", on: connection) }

    func keys(_ rows: String, after: Int64, upTo: Int64, limit: Int) throws(StoreError) -> [Int64] {
        let statement = try connection.statement(
            "SELECT _id FROM \(rows) AND _id > ? AND _id <= ? ORDER BY _id LIMIT ?")
        statement.bind(after, at: 1)
        statement.bind(upTo, at: 2)
        statement.bind(Int64(limit), at: 3)
        var keys: [Int64] = []
        while try statement.step() { keys.append(statement.integer(0)) }
        return keys
    }

    func visiting<T>(_ body: (any PersistentStore) throws(StoreError) -> T) throws(StoreError) -> T {
        connection.nesting.usesSavepoints = true
        defer { connection.nesting.usesSavepoints = false }
        return try body(store)
    }

    /// The transaction has waited for the file's lock already.
    func repeats(_ error: StoreError, attempt: Int) -> Bool { false }
    var isLost: Bool { false }

    func notes(from prefix: String) throws(StoreError) -> [String] { try entries.notes(from: prefix) }
    func note(_ key: String) throws(StoreError) -> String? { try entries.note(key) }
    func setNote(_ key: String, _ value: String?) throws(StoreError) { try entries.setNote(key, value) }
}

extension SQLiteStore: DeferredMigrationStore {
    /// The steps of migrations that are still to be done, in their order.
    /// - Throws: ``StoreError`` if the store cannot be read.
    public func deferredMigrationSteps() throws(StoreError) -> [DeferredMigrationStep] {
        try pool.read { (connection) throws(StoreError) in
            try DeferredSteps.read(in: FileNotes(connection: connection))
        }
    }

    /// Does the deferred steps of migrations, with the code of the stages in ``Options/migration``.
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
        return try FilePlace.with(connection, place, schema, metadata, options) { (place) throws(StoreError) in
            try DeferredRunner(place, options.migration).run(steps, why: "it cannot be done", onBatch: onBatch)
        }
    }
}
