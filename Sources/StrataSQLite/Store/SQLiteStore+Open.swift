import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore

extension SQLiteStore {
    /// Opens a store, or makes it where there is none.
    /// - Parameters:
    ///   - model: The model. A store that was made with another version of it is migrated if nothing is lost by that, or
    ///     ``Options/migration`` allows it, otherwise it is refused.
    ///   - location: Where the store is.
    ///   - options: How it is opened.
    /// - Throws: ``StoreError``; among others ``StoreError/migrationNeedsAnswers(path:steps:)``,
    ///   ``StoreError/incompatibleModel(path:differences:)``,
    ///   ``StoreError/notAStore(path:reason:)`` and ``StoreError/unsupported(store:feature:)`` for what the model asks
    ///   for and the system's SQLite lacks.
    public static func open(
        model: ManagedObjectModel, location: Location, options: Options = Options()
    ) throws(StoreError) -> SQLiteStore {
        do throws(StoreError) {
            return try openAsItIs(model: model, location: location, options: options)
        } catch {
            guard options.migration.erasesOnMismatch, error.isMismatch, !options.isReadOnly,
                case .file(let path) = location
            else { throw error }
            try moveAside(path)
            return try openAsItIs(model: model, location: location, options: options)
        }
    }

    private static func openAsItIs(
        model: ManagedObjectModel, location: Location, options: Options
    ) throws(StoreError) -> SQLiteStore {
        try SQLiteVersion.check()
        try options.check()
        let options = options.withObservers()
        let place = try ResolvedLocation(location, options: options)
        // What the model asks for is refused before there is a file.
        try checkFeatures(Schema(layout: try StoreLayout(model: model, dialect: SQLiteDialect())))
        let open: @Sendable (Bool) throws(StoreError) -> Connection = { (readOnly) throws(StoreError) in
            try Connection(
                filename: place.filename, path: place.path, readOnly: readOnly || options.isReadOnly,
                create: options.createIfMissing, options: options)
        }
        let writer = try open(false)
        let prepared: (metadata: StoreMetadata, schema: Schema)
        var rowPlans: [RowPlan] = []
        do throws(StoreError) {
            prepared = try prepare(writer, model: model, place: place, options: options, open: open)
            for entity in model.entities {
                rowPlans.append(try RowPlan(layout: prepared.schema.layout, entityIndex: entity.index))
            }
            var retention = try noteVersion(of: writer, model)
            if !options.isReadOnly, retention != nil || options.history != .asInFile {
                try HistorySetup(schema: prepared.schema, recording: options.history).run(retention, on: writer)
                retention = try noteVersion(of: writer, model)
                // Where somebody works with the store for long, a later commit purges.
                if retention != nil { _ = try? HistoryPurge(connection: writer).run() }
            }
        } catch {
            writer.close()
            throw error
        }
        // A database in memory has one connection: it knows no WAL, so readers would only wait for the writer.
        let fingerprint = writer.version.fingerprint
        let openReader: @Sendable (Bool) throws(StoreError) -> Connection = { (readOnly) throws(StoreError) in
            let connection = try open(readOnly)
            connection.version.fingerprint = fingerprint
            return connection
        }
        let pool = ConnectionPool(
            path: place.path, writer: writer, readerCount: place.isFile ? options.readerCount : 0, open: openReader)
        let files = place.isFile ? BlobFolder(storePath: place.path) : nil
        let store = SQLiteStore(
            identifier: prepared.metadata.identifier, location: location, path: place.path, options: options,
            schema: prepared.schema, rowPlans: rowPlans, pool: pool, files: files)
        try store.sweepAtOpening()
        return store
    }

    /// Notes which version of the model the file has, so that the first write need not look.
    /// - Returns: How much history the file keeps; nil if it records none.
    private static func noteVersion(
        of connection: Connection, _ model: ManagedObjectModel
    ) throws(StoreError) -> HistoryRetention? {
        // The number comes first: who migrates the file in between changes it, and the first write looks after all.
        let number = try connection.schemaNumber()
        let entries = try StoreMetadata.entries(
            [StoredModel.fingerprintKey, "version_hash", HistoryTables.metadataKey], on: connection)
        connection.version.recordsHistory = entries[HistoryTables.metadataKey] != nil
        connection.version.fingerprint = entries[StoredModel.fingerprintKey]
        if entries["version_hash"] == model.versionHash { connection.version.schema = number }
        return try entries[HistoryTables.metadataKey].map { (text) throws(StoreError) in
            try HistoryTables.retention(text, connection)
        }
    }

    /// What a store says about itself, without its model.
    /// - Parameter path: The path of the file.
    /// - Throws: ``StoreError/notFound(path:)`` if there is no file; ``StoreError/notAStore(path:reason:)`` if it is empty or
    ///   another program's.
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
        _ writer: Connection, model: ManagedObjectModel, place: ResolvedLocation, options: Options,
        open: @escaping @Sendable (Bool) throws(StoreError) -> Connection
    ) throws(StoreError) -> (StoreMetadata, Schema) {
        func schema(of found: StoreMetadata?) throws(StoreError) -> Schema {
            let recorded = found.map(RecordedNames.init) ?? RecordedNames()
            return Schema(
                layout: try StoreLayout(model: model, dialect: SQLiteDialect(), recorded: recorded),
                isMirror: options.isMirror)
        }
        var known = try StoreMetadata.find(on: writer)
        if known == nil {
            guard !options.isReadOnly else { throw .notAStore(path: place.path, reason: "the file is empty") }
            if place.isFile { try useWAL(writer, timeout: options.busyTimeout) }
            try writer.begin()
            defer { writer.rollback() }
            // Another process may have been faster.
            known = try StoreMetadata.find(on: writer)
            if known == nil {
                let schema = try schema(of: nil)
                let metadata = StoreMetadata(identifier: UUID(), layout: schema.layout)
                try create(metadata, schema: schema, on: writer)
                try writer.commit()
                return (metadata, schema)
            }
        }
        var found: StoreMetadata?
        if let known {
            try StoreKind.check(writer, path: place.path, options: options)
            found = try adopt(known, by: writer, model: model, place: place, options: options, open: open)
        }
        var schema = try schema(of: found)
        guard let found else { return (StoreMetadata(identifier: UUID(), layout: schema.layout), schema) }
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

    /// Checks that a file fits a model, and migrates it if it does not.
    /// - Returns: What the file says about itself afterwards.
    private static func adopt(
        _ known: FoundMetadata, by writer: Connection, model: ManagedObjectModel, place: ResolvedLocation,
        options: Options, open: @escaping @Sendable (Bool) throws(StoreError) -> Connection
    ) throws(StoreError) -> StoreMetadata {
        let found = known.metadata
        let fingerprint = known.entries[StoredModel.fingerprintKey]
        if fingerprint == model.fingerprint { return found }
        let layout = try StoreLayout(model: model, dialect: SQLiteDialect(), recorded: RecordedNames(found))
        let differences = found.differences(from: StoreMetadata(identifier: found.identifier, layout: layout))
        if differences.isEmpty, options.isReadOnly { return found }
        if differences.isEmpty, fingerprint == nil || options.migration.policy == .never {
            // A file of the first format gets what that did not have.
            if fingerprint != nil { try StoredModel.checkKnown(on: writer) }
            try upgrade(writer, to: model)
            return found
        }
        guard options.migration.policy == .automatic, !options.isReadOnly else {
            throw .incompatibleModel(path: place.path, differences: differences)
        }
        if place.isFile { try useWAL(writer, timeout: options.busyTimeout) }
        // Who has waited for another process finds what that has made.
        if let now = try StoredModel.read(on: writer, hint: model) {
            _ = try Migrator(model: model, place: place, options: options, open: open).run(from: now, on: writer)
        }
        guard let migrated = try StoreMetadata.read(from: writer) else {
            throw .notAStore(path: place.path, reason: "the file is empty")
        }
        return migrated
    }

    private static func upgrade(_ connection: Connection, to model: ManagedObjectModel) throws(StoreError) {
        try connection.begin()
        defer { connection.rollback() }
        try StoredModel.write(model, on: connection)
        try connection.commit()
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
        try StoredModel.write(schema.layout.model, on: connection)
        try IndexReconciler.make(schema, on: connection)
    }
}
