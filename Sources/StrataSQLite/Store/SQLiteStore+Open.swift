import Foundation
import StrataCSQLite
import StrataStore

extension SQLiteStore {
    /// Opens a store, or makes it where there is none.
    /// - Parameters:
    ///   - model: The model. A store that was made with another one is refused.
    ///   - location: Where the store is.
    ///   - options: How it is opened.
    /// - Throws: ``StoreError``; among others ``StoreError/incompatibleModel(path:differences:)``,
    ///   ``StoreError/notAStore(path:reason:)`` and ``StoreError/unsupported(store:feature:)`` for what the model asks
    ///   for and the system's SQLite lacks.
    public static func open(
        model: ManagedObjectModel, location: Location, options: Options = Options()
    ) throws(StoreError) -> SQLiteStore {
        try SQLiteVersion.check()
        try options.check()
        let place = try ResolvedLocation(location, options: options)
        // What the model asks for is refused before there is a file.
        try checkFeatures(Schema(layout: try StoreLayout(model: model, store: "SQLite")))
        let open: @Sendable (Bool) throws(StoreError) -> Connection = { (readOnly) throws(StoreError) in
            try Connection(
                filename: place.filename, path: place.path, readOnly: readOnly || options.isReadOnly,
                create: options.createIfMissing, options: options)
        }
        let writer = try open(false)
        let prepared: (metadata: StoreMetadata, schema: Schema)
        var rowPlans: [RowPlan] = []
        do throws(StoreError) {
            prepared = try prepare(writer, model: model, place: place, options: options)
            for entity in model.entities {
                rowPlans.append(try RowPlan(layout: prepared.schema.layout, entityIndex: entity.index))
            }
        } catch {
            writer.close()
            throw error
        }
        // A database in memory has one connection: it knows no WAL, so readers would only wait for the writer.
        let pool = ConnectionPool(
            path: place.path, writer: writer, readerCount: place.isFile ? options.readerCount : 0, open: open)
        let files = place.isFile ? BlobFolder(storePath: place.path) : nil
        let store = SQLiteStore(
            identifier: prepared.metadata.identifier, location: location, path: place.path, options: options,
            schema: prepared.schema, rowPlans: rowPlans, pool: pool, files: files)
        try store.sweepAtOpening()
        return store
    }

    /// What a store says about itself, without its model.
    /// - Parameter path: The path of the file.
    public static func metadata(at path: String) throws(StoreError) -> StoreMetadata {
        try inspect(path) { (connection, path) throws(StoreError) in
            guard let metadata = try StoreMetadata.read(from: connection) else {
                throw .notAStore(path: path, reason: "the file is empty")
            }
            return metadata
        }
    }

    /// Refuses what the system's SQLite cannot do.
    private static func checkFeatures(_ schema: Schema) throws(StoreError) {
        if !schema.fullTextIndexes.isEmpty, sqlite3_compileoption_used("ENABLE_FTS5") == 0 {
            throw .unsupported(
                store: "SQLite", feature: "full-text indexes, because the system's library is built without FTS5")
        }
        if !schema.spatialIndexes.isEmpty, sqlite3_compileoption_used("ENABLE_RTREE") == 0 {
            throw .unsupported(
                store: "SQLite", feature: "spatial indexes, because the system's library is built without R*Tree")
        }
    }

    /// Creates a store in an empty file, or checks that of another one.
    /// - Returns: What the store says about itself, and its tables and indexes as the file has them.
    private static func prepare(
        _ writer: Connection, model: ManagedObjectModel, place: ResolvedLocation, options: Options
    ) throws(StoreError) -> (StoreMetadata, Schema) {
        func schema(of found: StoreMetadata?) throws(StoreError) -> Schema {
            let recorded = found.map(RecordedNames.init) ?? RecordedNames()
            return Schema(
                layout: try StoreLayout(model: model, store: "SQLite", recorded: recorded), isMirror: options.isMirror)
        }
        var found = try StoreMetadata.read(from: writer)
        if found == nil {
            guard !options.isReadOnly else { throw .notAStore(path: place.path, reason: "the file is empty") }
            if place.isFile { try useWAL(writer, timeout: options.busyTimeout) }
            try writer.begin()
            defer { writer.rollback() }
            // Another process may have been faster.
            found = try StoreMetadata.read(from: writer)
            if found == nil {
                let schema = try schema(of: nil)
                let metadata = StoreMetadata(identifier: UUID(), layout: schema.layout)
                try create(metadata, schema: schema, on: writer)
                try writer.commit()
                return (metadata, schema)
            }
        }
        var schema = try schema(of: found)
        guard let found else { return (StoreMetadata(identifier: UUID(), layout: schema.layout), schema) }
        let differences = found.differences(
            from: StoreMetadata(identifier: found.identifier, layout: schema.layout))
        guard differences.isEmpty else { throw .incompatibleModel(path: place.path, differences: differences) }
        if options.isReadOnly {
            schema.keepIndexes(among: try IndexReconciler.names(on: writer))
        } else {
            if place.isFile { try useWAL(writer, timeout: options.busyTimeout) }
            // Files from before this list existed get it here.
            if schema.layout.hasExternalColumns { try writer.execute(DroppedFiles.creation) }
            try IndexReconciler.update(schema, on: writer)
        }
        return (found, schema)
    }

    /// Puts a file into WAL mode.
    static func useWAL(_ connection: Connection, timeout: Double) throws(StoreError) {
        // The change of the mode does not wait for others by itself.
        let deadline = ContinuousClock.now + .milliseconds(Int(Options.milliseconds(timeout)))
        while true {
            do throws(StoreError) {
                let mode = try connection.texts("PRAGMA journal_mode = WAL").first
                guard mode == "wal" else {
                    throw .unsupported(
                        store: "SQLite",
                        feature: "\(connection.path), because its file system has no shared memory between processes, "
                            + "which a write-ahead log needs; keep the store on a local disk")
                }
                return
            } catch {
                guard case .locked = error, ContinuousClock.now < deadline else { throw error }
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
    }

    private static func create(_ metadata: StoreMetadata, schema: Schema, on connection: Connection) throws(StoreError)
    {
        try connection.execute("PRAGMA application_id = \(StoreMetadata.applicationID)")
        try connection.execute("PRAGMA user_version = \(StoreMetadata.currentFormatVersion)")
        try connection.execute(
            "CREATE TABLE _metadata (\n    key TEXT PRIMARY KEY,\n    value TEXT NOT NULL\n) WITHOUT ROWID")
        try connection.execute(
            "CREATE TABLE _keys (\n    entity TEXT PRIMARY KEY,\n    next INTEGER NOT NULL\n) WITHOUT ROWID")
        if schema.layout.hasExternalColumns { try connection.execute(DroppedFiles.creation) }
        for statement in schema.tableStatements { try connection.execute(statement) }
        try metadata.write(to: connection, objects: schema.objects)
        try IndexReconciler.make(schema, on: connection)
    }
}
