public import Foundation
public import StrataCoreDataModel
public import StrataSQLite
import StrataStore

/// A store that Apple's Core Data or SwiftData wrote, read in place.
///
///     let store = try CoreDataStore.open(path: "Notes.sqlite")
///     let container = try PersistentContainer(store: store)
///     let notes = try container.newContext().fetch(FetchRequest<ManagedObject>(entity: "Note"))
///
/// Fetches, conditions, relationships and faults work as with every store; SQLite evaluates conditions and uses the indexes of
/// the file. Unless you open it for writing, a save fails with ``StoreError/readOnly(path:)``. Keys of objects are Core Data's own, and
/// versions of objects, too. While an app writes to the file, reads see its last commit.
///
/// Values that Core Data keeps in files of their own are read from the folder `.NAME_SUPPORT` next to the store, so copy it,
/// and the file whose name ends in `-wal`, together with the store. A value that cannot be read, because its file is missing
/// or its archive has an object of an unknown class, is reported as ``DamagedValue`` or as an error for this value only.
public final class CoreDataStore: PersistentStore {
    public let name: String
    public let model: ManagedObjectModel
    /// What the store says about itself.
    public let metadata: CoreDataMetadata
    /// The Core Data model that the store is read with.
    public let coreDataModel: CoreDataStoreModel
    /// What names of entities and properties of the Core Data model have become.
    public let mapping: CoreDataMapping
    /// What is odd about the store, and what of its model has no counterpart.
    public let warnings: [String]

    let store: SQLiteStore
    /// How objects are written; nil if the store is only read.
    private let plan: WritingPlan?
    private let folder: SupportFolder
    private let path: String

    public var identifier: UUID { metadata.identifier }
    public var isReadOnly: Bool { plan == nil }

    /// What such stores can do. Whether they can be written is one of the ``Options``.
    public var capabilities: StoreCapabilities {
        [.persistent, .multiProcess, .orderedRelationships, .derivedAttributes, .externalStorage, .uniqueConstraints]
    }

    init(file: CoreDataFile, model: ManagedObjectModel, views: StoreViews, store: SQLiteStore, plan: WritingPlan?) {
        self.model = model
        self.store = store
        self.plan = plan
        metadata = file.metadata
        coreDataModel = file.source
        mapping = file.conversion.mapping
        path = file.path
        name = "Core Data \(file.path)"
        folder = file.folder
        warnings =
            file.warnings + views.properties.warnings + views.warnings + file.conversion.warnings.map(\.message)
    }

    public func close() { store.close() }

    // MARK: Reading

    public func fetch(
        _ plan: FetchPlan, known: KnownRows?, cancellation: ReadCancellation?
    ) throws(StoreError) -> RowBatch {
        try store.fetch(plan, known: known, cancellation: cancellation)
    }

    public func fetchIdentities(
        _ plan: FetchPlan, cancellation: ReadCancellation?
    ) throws(StoreError) -> [RowIdentity] {
        try store.fetchIdentities(plan, cancellation: cancellation)
    }

    public func count(_ plan: FetchPlan, cancellation: ReadCancellation?) throws(StoreError) -> Int {
        try store.count(plan, cancellation: cancellation)
    }

    public func values(_ plan: ValuePlan, cancellation: ReadCancellation?) throws(StoreError) -> [[Value]] {
        try store.values(plan, cancellation: cancellation)
    }

    public func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch {
        try store.rows(entityIndex: entityIndex, keys: keys)
    }

    public func memberRows(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], areAll: Bool
    ) throws(StoreError) -> RowBatch {
        try store.memberRows(
            entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners, areAll: areAll)
    }

    public func memberKeys(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64]
    ) throws(StoreError) -> [(owner: Int64, member: Int64)] {
        try store.memberKeys(entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners)
    }

    /// The bytes of a value that Core Data keeps in a file of its own.
    /// - Throws: ``StoreError/io(path:code:reason:)`` if the file is missing.
    public func externalData(named name: String) throws(StoreError) -> Data {
        // A closed store says so.
        try store.reading { (_) throws(StoreError) in }
        return try folder.read(name)
    }

    /// Says how a fetch finds its objects, without running it: the SQL, and which indexes of the file SQLite takes.
    /// - Parameters:
    ///   - plan: The fetch.
    ///   - counting: Whether the objects are only counted.
    /// - Throws: ``StoreError`` if the file cannot be read, or the fetch has no SQL.
    public func explain(_ plan: FetchPlan, counting: Bool = false) throws(StoreError) -> FetchExplanation {
        try store.explain(plan, counting: counting)
    }

    /// Calls a closure soon after another process has committed to the file.
    public func observeForeignCommits(_ handler: @escaping @Sendable () -> Void) -> StoreObservation? {
        store.observeForeignCommits(handler)
    }

    /// Checks whether another process has committed to the file.
    public func foreignCommitCount() -> ForeignCommitCount { store.foreignCommitCount() }

    /// Calls a closure after each statement that the store runs.
    public func observeStatements(_ handler: @escaping @Sendable (StatementTrace) -> Void) -> StoreObservation? {
        store.observeStatements(handler)
    }

    // MARK: Writing

    /// Reserves keys by raising the highest key that Core Data has given out.
    /// - Throws: ``StoreError/readOnly(path:)``; ``StoreError/unsupported(store:feature:)`` if the file has no table for the entity.
    public func allocateKeys(_ count: Int, rootIndex: Int) throws(StoreError) -> Range<Int64> {
        guard let plan else { throw .readOnly(path: path) }
        guard let entity = plan.entities[rootIndex] else {
            throw .unsupported(
                store: "Core Data",
                feature: "objects of \(model.entities[rootIndex].name), which the file has no table for")
        }
        return try store.maintaining { (connection) throws(StoreError) in
            try CoreDataWriter.allocate(count, entity, plan, on: connection)
        }
    }

    /// Writes changes by the rules of Core Data's format, if the store was opened for writing.
    /// - Throws: ``StoreError/readOnly(path:)`` if it was not; ``StoreError`` if the file cannot be written.
    public func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
        guard let plan else { throw .readOnly(path: path) }
        if changes.isEmpty { return .committed(CommitEffects()) }
        return try store.maintaining { (connection) throws(StoreError) in
            try CoreDataWriter(plan: plan, connection: connection, changes: changes, store: store).run()
        }
    }

    /// Fails: there are no bulk operations.
    /// - Throws: ``StoreError/unsupported(store:feature:)``, or ``StoreError/readOnly(path:)``.
    public func perform(_ operation: BulkOperation, by origin: ChangeOrigin) throws(StoreError) -> BulkResult {
        guard plan != nil else { throw .readOnly(path: path) }
        throw .unsupported(store: name, feature: "bulk operations; fetch the objects, change them and save")
    }
}
