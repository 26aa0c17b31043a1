/// Says whether a reader has a row already, at the version that the store has.
///
///     let rows = try store.fetch(plan, known: { _, key, version in versions[key] == version })
///
/// The arguments are the position of the row's entity in the model, the key and the version. A store calls it once for each row
/// while it reads, and may answer with a header instead of the row, which saves reading and copying the values. Contexts pass
/// one for the objects that they have loaded. It must be fast, and must not use the store.
public typealias KnownRows = (_ entityIndex: Int, _ key: Int64, _ version: Int64) -> Bool

/// Reads rows: a store reads its last commit, and a version of it that is held reads that version.
///
///     let version = try store.holdVersion(for: .seconds(30))
///     let count = try version.count(plan)
///     let rows = try version.fetch(plan)  // the same moment, whatever is committed meanwhile
///
/// Contexts read through it. ``PersistentStore`` adds writing, ``PersistentStore/holdVersion(for:)`` returns one that is fixed
/// to a commit, and ``ReplicaReader`` reads from copies of the store. An implementation gets plans, trees of conditions and
/// orders, and answers with rows, identities, numbers or values.
///
/// All methods may be called from any thread, and concurrently. They block until they have finished. A cancelled read throws
/// ``StoreError/cancelled``.
public protocol StoreReader: AnyObject, Sendable {
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
    /// - Throws: ``StoreError`` if the store cannot be read.
    func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch

    /// The rows at the other end of a to-many relationship with a to-one inverse, for all of some owners. Of an ordered
    /// relationship they come grouped by owner, each group in its order; of another one, in any order.
    /// - Parameters:
    ///   - entityIndex: The position of an entity that has the relationship.
    ///   - relationshipIndex: The position of the relationship in that entity.
    ///   - owners: The keys of the owners.
    ///   - areAll: Whether these are all owners that there are, as far as the caller knows: then a pass over everything
    ///     is cheaper than a lookup for each, and the answer may have members of other owners. Only a hint.
    /// - Throws: ``StoreError`` if the store cannot be read.
    func memberRows(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], areAll: Bool
    ) throws(StoreError) -> RowBatch

    /// The pairs of a to-many relationship for all of some owners: owner, member; grouped by owner, each group in the
    /// order of the relationship, or by key if it has none. Works for every to-many relationship, from either side,
    /// and reads no rows of members where an index can tell.
    /// - Throws: ``StoreError`` if the store cannot be read.
    func memberKeys(entityIndex: Int, relationshipIndex: Int, owners: [Int64]) throws(StoreError) -> [(
        owner: Int64, member: Int64
    )]
}

extension StoreReader {
    /// The rows that a plan asks for, in its order; all of them whole, unless the caller says what it has.
    /// - Throws: ``StoreError`` if the store cannot be read.
    public func fetch(_ plan: FetchPlan, known: KnownRows? = nil) throws(StoreError) -> RowBatch {
        try fetch(plan, known: known, cancellation: nil)
    }

    /// The keys of the rows that a plan asks for, in its order.
    /// - Throws: ``StoreError`` if the store cannot be read.
    public func fetchKeys(_ plan: FetchPlan) throws(StoreError) -> [Int64] {
        try fetchIdentities(plan, cancellation: nil).map(\.key)
    }

    /// The values that a plan asks for.
    /// - Throws: ``StoreError`` if the store cannot be read.
    public func values(_ plan: ValuePlan) throws(StoreError) -> [[Value]] { try values(plan, cancellation: nil) }

    /// How many rows a plan asks for.
    /// - Throws: ``StoreError`` if the store cannot be read.
    public func count(_ plan: FetchPlan) throws(StoreError) -> Int { try count(plan, cancellation: nil) }

    /// The rows at the other end of a to-many relationship with a to-one inverse, for some owners of many.
    /// - Throws: ``StoreError`` if the store cannot be read.
    public func memberRows(entityIndex: Int, relationshipIndex: Int, owners: [Int64]) throws(StoreError) -> RowBatch {
        try memberRows(entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners, areAll: false)
    }
}
