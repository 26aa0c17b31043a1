import Foundation

/// Says whether a reader has a row already, at the version that the store has: by the position of the row's entity in the
/// model, the key and the version. Asked once for each row while the store reads.
public typealias KnownRows = (_ entityIndex: Int, _ key: Int64, _ version: Int64) -> Bool

/// Where objects are kept. A store speaks of rows, keys and change sets; it never sees a managed object.
///
/// All methods may be called from any thread, and concurrently. They block until they are done.
public protocol PersistentStore: AnyObject, Sendable {
    /// The identity of the store; the same each time it is opened.
    var identifier: UUID { get }
    /// The kind and place of the store, for messages.
    var name: String { get }
    /// The model that the store was opened with.
    var model: ManagedObjectModel { get }
    /// What the store can do.
    var capabilities: StoreCapabilities { get }

    /// Reserves keys that no other object of the hierarchy has or will have, in this process or another.
    /// - Parameters:
    ///   - count: How many keys, at least 1.
    ///   - rootIndex: The position of the topmost entity of the hierarchy.
    func allocateKeys(_ count: Int, rootIndex: Int) throws(StoreError) -> Range<Int64>

    /// The rows that a plan asks for, in its order.
    /// - Parameter known: Which rows the caller has. A store may leave out all but the header of those; see
    ///   ``RowPointer/isHeaderOnly``. With nil all rows are whole.
    /// - Throws: ``StoreError/cancelled`` soon after the read has been cancelled; the store is as good as before.
    func fetch(_ plan: FetchPlan, known: KnownRows?, cancellation: ReadCancellation?) throws(StoreError) -> RowBatch
    /// The entities and keys of the rows that a plan asks for, in its order. Reads only what the condition and the
    /// order need.
    /// - Throws: As ``fetch(_:known:cancellation:)``.
    func fetchIdentities(_ plan: FetchPlan, cancellation: ReadCancellation?) throws(StoreError) -> [RowIdentity]
    /// How many rows a plan asks for.
    /// - Throws: As ``fetch(_:known:cancellation:)``.
    func count(_ plan: FetchPlan, cancellation: ReadCancellation?) throws(StoreError) -> Int

    /// The values that a plan asks for: for each row one for each column, in the plan's order. References to objects
    /// are given by key.
    /// - Throws: As ``fetch(_:known:cancellation:)``.
    func values(_ plan: ValuePlan, cancellation: ReadCancellation?) throws(StoreError) -> [[Value]]

    /// The rows of some keys of an entity or of those that inherit from it, in any order. Keys without a row are left
    /// out.
    func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch

    /// The rows at the other end of a to-many relationship with a to-one inverse, for all of some owners. Of an ordered
    /// relationship they come grouped by owner, each group in its order; of another one, in any order.
    /// - Parameters:
    ///   - entityIndex: The position of an entity that has the relationship.
    ///   - relationshipIndex: The position of the relationship in that entity.
    ///   - owners: The keys of the owners.
    ///   - areAll: Whether these are all owners that there are, as far as the caller knows: then a pass over everything
    ///     is cheaper than a lookup for each. No more than a hint.
    func memberRows(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], areAll: Bool
    ) throws(StoreError) -> RowBatch

    /// The pairs of a to-many relationship for all of some owners: owner, member; grouped by owner, each group in the
    /// order of the relationship, or by key if it has none. Works for every to-many relationship, from either side,
    /// and reads no rows of members where an index can tell.
    func memberKeys(entityIndex: Int, relationshipIndex: Int, owners: [Int64]) throws(StoreError) -> [(
        owner: Int64, member: Int64
    )]

    /// Makes changes permanent: all of them or none.
    ///
    /// Values of derived attributes that the store computes are not in the rows of the change set.
    func commit(_ changes: ChangeSet) throws(StoreError) -> CommitResult

    /// The bytes of a value that is in a file of its own.
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

    /// Calls a closure after each statement that the store runs, for as long as the result is kept: on the thread that ran it,
    /// while that thread holds the connection, so it must not use the store. nil if the store runs no statements.
    func observeStatements(_ handler: @escaping @Sendable (StatementTrace) -> Void) -> StoreObservation?

    /// Closes the store. Every later call throws ``StoreError/closed(path:)``.
    func close()
}

extension PersistentStore {
    /// Nothing changes but by commits.
    public var changes: StoreChangeFeed? { nil }

    /// There are no such operations.
    public func perform(_ operation: BulkOperation, by origin: ChangeOrigin) throws(StoreError) -> BulkResult {
        throw .unsupported(store: name, feature: "bulk operations; fetch the objects, change them and save")
    }

    /// There is none.
    public var history: (any StoreHistory)? { nil }

    /// Nothing reports others.
    public func observeForeignCommits(_ handler: @escaping @Sendable () -> Void) -> StoreObservation? { nil }

    /// There are no statements.
    public func observeStatements(_ handler: @escaping @Sendable (StatementTrace) -> Void) -> StoreObservation? { nil }

    /// The rows that a plan asks for, in its order; all of them whole, unless the caller says what it has.
    public func fetch(_ plan: FetchPlan, known: KnownRows? = nil) throws(StoreError) -> RowBatch {
        try fetch(plan, known: known, cancellation: nil)
    }

    /// The keys of the rows that a plan asks for, in its order.
    public func fetchKeys(_ plan: FetchPlan) throws(StoreError) -> [Int64] {
        try fetchIdentities(plan, cancellation: nil).map(\.key)
    }

    /// The values that a plan asks for.
    public func values(_ plan: ValuePlan) throws(StoreError) -> [[Value]] { try values(plan, cancellation: nil) }

    /// How many rows a plan asks for.
    public func count(_ plan: FetchPlan) throws(StoreError) -> Int { try count(plan, cancellation: nil) }

    /// The rows at the other end of a to-many relationship with a to-one inverse, for some owners of many.
    public func memberRows(entityIndex: Int, relationshipIndex: Int, owners: [Int64]) throws(StoreError) -> RowBatch {
        try memberRows(entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners, areAll: false)
    }
}

/// What a store can do. A store refuses at opening what its model asks for and it cannot do.
public struct StoreCapabilities: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: UInt32
    /// Makes capabilities of bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// Objects outlive the process.
    public static let persistent = StoreCapabilities(rawValue: 1)
    /// Several processes may use it at once.
    public static let multiProcess = StoreCapabilities(rawValue: 2)
    /// Unique constraints.
    public static let uniqueConstraints = StoreCapabilities(rawValue: 4)
    /// Ordered relationships.
    public static let orderedRelationships = StoreCapabilities(rawValue: 8)
    /// Derived attributes.
    public static let derivedAttributes = StoreCapabilities(rawValue: 16)
    /// Spatial indexes.
    public static let spatialIndexes = StoreCapabilities(rawValue: 32)
    /// Full-text indexes.
    public static let fullTextIndexes = StoreCapabilities(rawValue: 64)
    /// Binary values in files of their own.
    public static let externalStorage = StoreCapabilities(rawValue: 128)
}
