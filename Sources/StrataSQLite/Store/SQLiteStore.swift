import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore

/// A store in a SQLite database.
///
///     let store = try SQLiteStore.open(model: model, location: .file(path: "cities.sqlite"))
///
/// A file is in WAL mode: one connection writes while others read the last commit. Each hierarchy of entities has a
/// table, each attribute and to-one relationship a column, each many-to-many relationship a table of pairs; names
/// follow the model's naming convention. The file can be read with any SQLite tool. Zero has no sign in the file, and
/// `NaN` cannot be saved.
///
/// All stored properties but the time of the next sweep are constants, prepared when the store is opened so that threads share
/// them without locks; that is why there are more than a dozen.
public final class SQLiteStore: PersistentStore {
    public let identifier: UUID
    public let name: String
    public let model: ManagedObjectModel
    public let capabilities: StoreCapabilities
    /// Where the store is.
    public let location: Location
    public var isReadOnly: Bool { options.isReadOnly }

    let options: Options
    let path: String
    /// The fingerprint of the model, by which the store sees that somebody else has migrated the file.
    let fingerprint: String
    let layout: StoreLayout
    let schema: Schema
    let pool: ConnectionPool
    /// The files of external values; nil for a store in memory, which keeps all values in the database.
    let files: BlobFolder?
    let filesLock: BlobFolderLock?
    /// When files are swept next; see ``sweepAfterCommit(on:)``.
    let nextSweep = Guarded(ContinuousClock.now)
    let recorder = HistoryRecorder()
    /// Counts the commits of others.
    let foreignCommits = ForeignCommitCounter()
    /// For each entity how its rows are read.
    let rowPlans: [RowPlan]
    let keyQueries: [KeyQuery]
    /// The versions that are held, to be released when the store is closed.
    let heldVersions = Guarded<[WeakHeldVersion]>([])
    /// For each entity how its rows are written.
    let writePlans: [WritePlan]

    init(
        identifier: UUID, location: Location, path: String, options: Options, schema: Schema, rowPlans: [RowPlan],
        pool: ConnectionPool, files: BlobFolder?, sharesFiles: Bool = true
    ) {
        self.identifier = identifier
        self.location = location
        self.path = path
        self.name = "SQLite \(path)"
        self.options = options
        self.layout = schema.layout
        self.model = schema.layout.model
        fingerprint = schema.layout.model.fingerprint
        self.schema = schema
        self.pool = pool
        self.files = files
        filesLock =
            schema.layout.hasExternalColumns && sharesFiles
            ? files.flatMap { BlobFolderLock($0, creating: !options.isReadOnly) } : nil
        self.rowPlans = rowPlans
        self.writePlans = schema.layout.model.entities.map { WritePlan(schema: schema, entity: $0) }
        self.keyQueries = rowPlans.indices.map {
            KeyQuery(layout: schema.layout, rowPlan: rowPlans[$0], entityIndex: $0)
        }
        var capabilities: StoreCapabilities = [
            .uniqueConstraints, .orderedRelationships, .derivedAttributes, .spatialIndexes, .fullTextIndexes,
        ]
        if options.isMirror { capabilities.remove(.uniqueConstraints) }
        if case .file = location {
            capabilities.formUnion([.persistent, .multiProcess, .externalStorage])
            if pool.hasReaders { capabilities.insert(.heldVersions) }
        }
        self.capabilities = capabilities
    }

    /// A reader of another store's file, with connections of its own.
    init(_ store: SQLiteStore, readingThrough pool: ConnectionPool) {
        identifier = store.identifier
        name = store.name
        model = store.model
        capabilities = store.capabilities
        location = store.location
        options = store.options
        path = store.path
        fingerprint = store.fingerprint
        layout = store.layout
        schema = store.schema
        self.pool = pool
        files = store.files
        filesLock = nil
        rowPlans = store.rowPlans
        keyQueries = store.keyQueries
        writePlans = store.writePlans
    }

    deinit { pool.close() }

    public func close() {
        releaseHeldVersions()
        sweepAtClosing()
        pool.close()
        // Those that were made meanwhile.
        releaseHeldVersions()
    }

    public func allocateKeys(_ count: Int, rootIndex: Int) throws(StoreError) -> Range<Int64> {
        guard !options.isReadOnly else { throw .readOnly(path: path) }
        return try pool.write { (connection) throws(StoreError) in
            try begin(on: connection)
            defer { connection.rollback() }
            let keys = try allocateKeys(count, rootIndex: rootIndex, on: connection)
            try connection.commit()
            return keys
        }
    }

    /// Reserves keys as a part of the open transaction.
    func allocateKeys(_ count: Int, rootIndex: Int, on connection: Connection) throws(StoreError) -> Range<Int64> {
        guard count > 0 else { return 1..<1 }
        let table = layout.table(rootIndex)
        // Rows that came in by other ways, a shell for instance, keep their keys. Keys from `firstUnreserved` on do not count:
        // contexts took them without a reservation, at random places. What somebody else wrote as the next key counts only
        // if it is below, too.
        let limit = StoreKeys.firstUnreserved
        let present = "coalesce((SELECT max(_id) FROM \(table.quoted) WHERE _id < \(limit)), 0) + 1"
        let statement = try connection.statement(
            """
            INSERT INTO _keys(entity, next) VALUES(?1, max(1, \(present)) + ?2) ON CONFLICT(entity) DO UPDATE SET \
            next = max(1, \(present), CASE WHEN typeof(next) = 'integer' AND next <= \(limit) THEN next ELSE 1 END) + ?2 \
            RETURNING next
            """)
        statement.bind(model.entities[rootIndex].name, at: 1)
        statement.bind(Int64(count), at: 2)
        // A sum that does not fit in 64 bits is no longer an integer.
        let end = try statement.step() && statement.type(0) == SQLITE_INTEGER ? statement.integer(0) : .max
        statement.reset()
        guard end <= limit else {
            throw .constraint(
                entity: model.entities[rootIndex].name,
                reason:
                    "there are no keys left, because a row of \(table.name) or of _keys holds one close to the maximum")
        }
        return end - Int64(count)..<end
    }

    public func externalData(named name: String) throws(StoreError) -> Data {
        guard !pool.hasClosed else { throw .closed(path: path) }
        guard let files else { throw .notFound(path: "\(path)/\(name)") }
        return try files.read(name)
    }
}
