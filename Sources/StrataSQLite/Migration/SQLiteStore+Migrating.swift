import Foundation
import StrataSQL
import StrataStore

extension SQLiteStore {
    /// What would have to be done so that the store of a file fits a model, with counts of the rows that the steps touch.
    /// Nothing is written. What a version of `options.migration.versions` loses in between comes last, without counts.
    ///
    ///     let plan = try SQLiteStore.migrationPlan(for: "cities.sqlite", to: model)
    ///     print(plan)
    /// - Throws: ``StoreError`` if the file cannot be read; ``StoreError/cancelled`` if `options.migration.cancellation` is
    ///   cancelled.
    public static func migrationPlan(
        for path: String, to model: ManagedObjectModel, options: Options = Options()
    ) throws(StoreError) -> MigrationPlan {
        let migrator = try migrator(model, .file(path: path), options)
        let connection = try migrator.open(true)
        defer { connection.close() }
        guard let stored = try StoredModel.read(on: connection, hint: model) else {
            throw .notAStore(path: path, reason: "the file is empty")
        }
        var plan = MigrationPlan(from: stored.model, to: model)
        MigrationFunctions.register(on: connection, files: BlobFolder(storePath: migrator.place.path))
        let counter = MigrationCounter(
            migrator.context(stored, try migrator.schema(of: model, after: stored, plan), plan, on: connection))
        let steps = try counter.counted(plan.steps, all: true, cancellation: options.migration.cancellation)
        plan.steps = try steps + migrator.legs(from: stored).furtherSteps(from: stored.model, plan)
        return plan
    }

    /// The steps of a plan that keep it from being carried out, because they have no answer that allows them.
    public static func blockedSteps(of plan: MigrationPlan, answers: [String: MigrationAnswer]) -> [MigrationStep] {
        plan.steps.filter { $0.isBlocked(by: answers[$0.id]) }
    }

    /// Migrates the store of a file to a model, with the answers and stages of `options.migration`.
    ///
    /// Opening a store does the same. Call this to do it beforehand, with progress, or to know how long it took.
    /// - Returns: What was done; a report without plans if the file fits already.
    /// - Throws: ``StoreError/migrationNeedsAnswers(path:steps:)`` before anything is changed if a step loses data, or data do
    ///   not fit, without an answer; ``StoreError/cancelled``, ``StoreError/diskFull(path:)`` and others with the file as it
    ///   was.
    @discardableResult
    public static func migrate(
        _ path: String, to model: ManagedObjectModel, options: Options = Options()
    ) throws(StoreError) -> MigrationReport {
        var options = options
        options.createIfMissing = false
        options.migration.policy = .automatic
        let migrator = try migrator(model, .file(path: path), options)
        let connection = try migrator.open(false)
        defer { connection.close() }
        // The database of another application must stay in its journal mode.
        guard try StoreMetadata.find(on: connection) != nil else {
            throw .notAStore(path: path, reason: "the file is empty")
        }
        try useWAL(connection, timeout: options.busyTimeout)
        guard let stored = try StoredModel.read(on: connection, hint: model) else {
            throw .notAStore(path: path, reason: "the file is empty")
        }
        let start = ContinuousClock.now
        let plans =
            stored.entries[StoredModel.fingerprintKey] == model.fingerprint
            ? [] : try migrator.run(from: stored, on: connection)
        let original = Migrator.originalPath(migrator.place.path, stored)
        let isKept = options.migration.keepsOriginal && FileManager.default.fileExists(atPath: original)
        return MigrationReport(
            plans: plans, seconds: (ContinuousClock.now - start).inSeconds, original: isKept ? original : nil,
            deferredSteps: try DeferredSteps.read(in: FileNotes(connection: connection)))
    }

    /// Migrates a copy of the store of a file, which goes away afterwards, to know whether it works and how long it takes.
    /// Needs as much room on the disk of the file as the file and its migration.
    /// - Throws: As ``migrate(_:to:options:)``; the file itself is not changed.
    public static func dryRun(
        _ path: String, to model: ManagedObjectModel, options: Options = Options()
    ) throws(StoreError) -> MigrationReport {
        let migrator = try migrator(model, .file(path: path), options)
        let source = try migrator.open(true)
        defer { source.close() }
        guard try StoreMetadata.read(from: source) != nil else {
            throw .notAStore(path: path, reason: "the file is empty")
        }
        let copy = "\(migrator.place.path).dry-run-\(UUID().uuidString.prefix(8))"
        defer { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(copy + suffix) } }
        // Values in files of their own are only read.
        let blobs = BlobFolder(storePath: migrator.place.path).path
        symlink(blobs, BlobFolder(storePath: copy).path)
        defer { unlink(BlobFolder(storePath: copy).path) }
        try source.execute("VACUUM INTO \(Identifiers.literal(copy))")
        var options = options
        options.migration.keepsOriginal = false
        return try migrate(copy, to: model, options: options)
    }

    static func migrator(
        _ model: ManagedObjectModel, _ location: Location, _ options: Options
    ) throws(StoreError) -> Migrator {
        try SQLiteVersion.check()
        try options.check()
        var existing = options
        existing.createIfMissing = false
        let place = try ResolvedLocation(location, options: existing)
        return Migrator(model: model, place: place, options: options) { (readOnly) throws(StoreError) in
            try Connection(
                filename: place.filename, path: place.path, readOnly: readOnly || options.isReadOnly, create: false,
                options: options)
        }
    }

    // MARK: Stores of a stage

    /// A store that reads a file as it was before the open transaction of a migration.
    static func snapshot(
        of place: ResolvedLocation, schema: Schema, _ metadata: StoreMetadata,
        open: @escaping @Sendable (Bool) throws(StoreError) -> Connection
    ) throws(StoreError) -> SQLiteStore {
        let reader = try open(true)
        var options = Options()
        options.isReadOnly = true
        return try SQLiteStore.of(
            ConnectionPool(path: place.path, writer: reader, readerCount: 0, open: open), place: place, schema: schema,
            metadata, options: options)
    }

    /// A store that works in the open transaction of a connection. Its commits are savepoints.
    static func within(
        _ connection: Connection, place: ResolvedLocation, schema: Schema, _ metadata: StoreMetadata, options: Options
    ) throws(StoreError) -> SQLiteStore {
        // The connection knows fetches by their shape; those of another version read other columns.
        connection.fetches = PreparedFetches()
        let pool = ConnectionPool(path: place.path, writer: connection, readerCount: 0, ownsWriter: false) {
            (_) throws(StoreError) in throw .closed(path: place.path)
        }
        return try SQLiteStore.of(pool, place: place, schema: schema, metadata, options: options)
    }

    private static func of(
        _ pool: ConnectionPool, place: ResolvedLocation, schema: Schema, _ metadata: StoreMetadata, options: Options
    ) throws(StoreError) -> SQLiteStore {
        var plans: [RowPlan] = []
        for entity in schema.layout.model.entities {
            plans.append(try RowPlan(layout: schema.layout, entityIndex: entity.index))
        }
        return SQLiteStore(
            identifier: metadata.identifier, location: .file(path: place.path), path: place.path, options: options,
            schema: schema, rowPlans: plans, pool: pool, files: place.isFile ? BlobFolder(storePath: place.path) : nil,
            sharesFiles: false)
    }
}
