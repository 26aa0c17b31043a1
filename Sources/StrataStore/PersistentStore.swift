import Foundation

/// A store that keeps objects: it exchanges rows, keys and change sets with contexts, and never sees a managed object.
///
///     let store = try SQLiteStore.open(model: model, location: .memory(name: nil))
///     let container = try PersistentContainer(store: store, classes: GazetteerModel.classes)
///
/// Apps open a store and pass it to a container. Implement the protocol only to keep objects in another database than SQLite or
/// PostgreSQL. For a service in the network, a `RemoteDialect` or `RemoteBackend` of `StrataRemote` is much less work.
///
/// ``commit(_:)`` must be atomic and compare versions, ``allocateKeys(_:rootIndex:)`` must never give a key twice, and all
/// methods may be called from any thread, and concurrently. They block until they have finished. Everything else has a default:
/// without ``perform(_:by:)`` the store has no bulk operations, without ``history`` no history. The conformance suite of
/// `StrataTesting` checks an implementation.
public protocol PersistentStore: StoreReader {
    /// The identity of the store; the same each time it is opened.
    var identifier: UUID { get }
    /// The kind and place of the store, for messages.
    var name: String { get }
    /// The model that the store was opened with.
    var model: ManagedObjectModel { get }
    /// What the store can do.
    var capabilities: StoreCapabilities { get }

    /// Whether commits are refused: the store was opened for reading only.
    var isReadOnly: Bool { get }

    /// Reserves keys that no other object of the hierarchy has or will have, in this process or another.
    /// - Parameters:
    ///   - count: How many keys, at least 1.
    ///   - rootIndex: The position of the topmost entity of the hierarchy.
    /// - Throws: ``StoreError/readOnly(path:)`` if the store was opened only for reading;
    ///   ``StoreError/constraint(entity:reason:)`` if there are no keys left; other errors if the store cannot be written.
    func allocateKeys(_ count: Int, rootIndex: Int) throws(StoreError) -> Range<Int64>

    /// Makes changes permanent: all of them or none.
    ///
    /// Values of derived attributes that the store computes are not in the rows of the change set.
    /// - Throws: ``StoreError`` if nothing was written for another reason than a conflict: ``StoreError/readOnly(path:)``,
    ///   ``StoreError/locked(path:)``, ``StoreError/diskFull(path:)`` and others.
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult

    /// The bytes of a value that is in a file of its own.
    /// - Throws: ``StoreError/io(path:code:reason:)`` if the file cannot be read.
    func externalData(named name: String) throws(StoreError) -> Data

    /// Where the store reports changes that come from elsewhere: a server. nil if there are none but commits.
    var changes: StoreChangeFeed? { get }

    /// Changes many objects by itself, in one transaction: all of it becomes permanent, or nothing.
    /// - Parameter origin: Who asks for it, for history.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` if the store has no such operations;
    ///   ``StoreError/constraint(entity:reason:)`` if something would be left that the model forbids.
    func perform(_ operation: BulkOperation, by origin: ChangeOrigin) throws(StoreError) -> BulkResult

    /// Which transaction changed what; nil if the kind of store has no history.
    var history: (any StoreHistory)? { get }

    /// Calls a closure, on any thread, soon after somebody else has committed to the same data, another process for instance,
    /// for as long as the result is kept. nil if there are no others, or nothing reports them.
    func observeForeignCommits(_ handler: @escaping @Sendable () -> Void) -> StoreObservation?

    /// Checks whether others have committed to the same data, without waiting. Contexts ask before one uses rows that another has
    /// read: after a commit by others, and as long as the answer is unknown, they read rows of their own.
    func foreignCommitCount() -> ForeignCommitCount

    /// Calls a closure after each statement that the store runs, for as long as the result is kept: on the thread that ran it,
    /// while that thread holds the connection, so it must not use the store. nil if the store runs no statements.
    func observeStatements(_ handler: @escaping @Sendable (StatementTrace) -> Void) -> StoreObservation?

    /// Holds the present version of the store: what the last commit left. The result reads that version, whatever is committed
    /// meanwhile, until it is released or the time is over. It throws ``StoreError/versionReleased(path:seconds:)`` from then
    /// on, and ``StoreError/closed(path:)`` once the store has been closed.
    /// - Parameter duration: How long the version is held at most.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` if the store cannot hold a version;
    ///   ``StoreError/invalidOption(name:value:reason:)`` for a duration that it does not allow.
    func holdVersion(for duration: Duration) throws(StoreError) -> any StoreReader

    /// A reader for one context that may read copies of the store; nil if there are none.
    /// - Parameter isFresh: Whether the context has read nothing yet. Otherwise the reader never shows less than the store does
    ///   now.
    func replicaReader(isFresh: Bool) -> (any ReplicaReader)?

    /// Closes the store. Every later call throws ``StoreError/closed(path:)``.
    func close()
}

extension PersistentStore {
    /// By default, a store can be written.
    public var isReadOnly: Bool { false }

    /// Nothing changes but by commits.
    public var changes: StoreChangeFeed? { nil }

    /// By default, a store has no bulk operations.
    /// - Throws: ``StoreError/unsupported(store:feature:)``, always.
    public func perform(_ operation: BulkOperation, by origin: ChangeOrigin) throws(StoreError) -> BulkResult {
        throw .unsupported(store: name, feature: "bulk operations; fetch the objects, change them and save")
    }

    /// There is none.
    public var history: (any StoreHistory)? { nil }

    /// Nothing reports others.
    public func observeForeignCommits(_ handler: @escaping @Sendable () -> Void) -> StoreObservation? { nil }

    /// By default, nobody else can commit.
    public func foreignCommitCount() -> ForeignCommitCount { .none }

    /// There are no statements.
    public func observeStatements(_ handler: @escaping @Sendable (StatementTrace) -> Void) -> StoreObservation? { nil }

    /// By default, a store cannot hold a version.
    /// - Throws: ``StoreError/unsupported(store:feature:)``, always.
    public func holdVersion(for duration: Duration) throws(StoreError) -> any StoreReader {
        throw .unsupported(
            store: name, feature: "contexts that are pinned to one version; read what belongs together in one fetch")
    }

    /// By default, there are no copies.
    public func replicaReader(isFresh: Bool) -> (any ReplicaReader)? { nil }
}

/// What a store can do, as a set of options.
///
///     if container.store.capabilities.contains(.heldVersions) {
///         try context.pin(for: .seconds(30))
///     }
///
/// Test it before you use a feature that not every store has, such as pinned contexts. A store refuses to open a model that it
/// cannot keep, with ``StoreError/unsupported(store:feature:)``, so declarations of the model need no test.
///
/// SQLite files have all capabilities. Stores in memory lack ``persistent``, ``multiProcess``, ``externalStorage`` and
/// ``heldVersions``. Mirrors of a back end lack ``multiProcess``, ``heldVersions`` and ``uniqueConstraints``: the server
/// enforces unique values.
public struct StoreCapabilities: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt32
    /// Makes capabilities of bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// Objects outlive the process.
    public static let persistent = StoreCapabilities(rawValue: 1)
    /// Several processes may use the store at the same time.
    public static let multiProcess = StoreCapabilities(rawValue: 2)
    /// The store enforces the unique constraints of the model.
    public static let uniqueConstraints = StoreCapabilities(rawValue: 4)
    /// The store keeps the order of ordered to-many relationships.
    public static let orderedRelationships = StoreCapabilities(rawValue: 8)
    /// The store computes derived attributes when it writes a row.
    public static let derivedAttributes = StoreCapabilities(rawValue: 16)
    /// The store has indexes of positions.
    public static let spatialIndexes = StoreCapabilities(rawValue: 32)
    /// The store has indexes of the words in texts.
    public static let fullTextIndexes = StoreCapabilities(rawValue: 64)
    /// The store keeps large binary values in files of their own.
    public static let externalStorage = StoreCapabilities(rawValue: 128)
    /// Versions that can be read while others write; see ``PersistentStore/holdVersion(for:)``.
    public static let heldVersions = StoreCapabilities(rawValue: 256)
}
