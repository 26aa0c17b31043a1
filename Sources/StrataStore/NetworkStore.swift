/// A store of which a part is elsewhere: the rows that it can answer with immediately are a mirror of that.
///
///     let fetch = try await remote.prepare(plan, reading: [], options: nil)
///     let rows = try remote.fetch(fetch)
///
/// `RemoteStore` of `StrataRemote` implements it for any service; write a `RemoteDialect` or `RemoteBackend` for that.
/// Implement the protocol yourself only for a mirror that is not a SQLite file.
///
/// The methods of ``PersistentStore`` read the mirror and never wait for a network. Rows of objects of which it knows only the
/// key are headers; see ``RowPointer/isHeaderOnly``. No fetch finds them, ``StoreReader/rows(entityIndex:keys:)`` gives them.
/// The methods here bring what is missing; a context calls them before it reads.
public protocol NetworkStore: PersistentStore {
    /// Brings what a plan asks for, as far as the options say so.
    /// - Parameters:
    ///   - plan: What is asked for.
    ///   - paths: Key paths from the objects of the plan whose values are read as well, such as those of columns. The objects on
    ///     their way are brought, too.
    ///   - options: The options of the request.
    /// - Returns: The plan that finds in the mirror what the fetch should give: the plan itself where that is what the
    ///   mirror has, otherwise one that names the objects.
    /// - Throws: ``StoreError/remote(_:)``, ``StoreError/unsupported(store:feature:)`` naming the part of the plan,
    ///   ``StoreError/cancelled``.
    func prepare(
        _ plan: FetchPlan, reading paths: [[String]], options: (any StoreRequestOptions)?
    ) async throws(StoreError) -> FetchPlan
    /// As ``prepare(_:reading:options:)`` for callers that cannot suspend: blocks, or refuses.
    /// - Throws: ``StoreError/needsNetwork(store:what:)`` if the store was not told to wait.
    func prepareNow(
        _ plan: FetchPlan, reading paths: [[String]], options: (any StoreRequestOptions)?
    ) throws(StoreError) -> FetchPlan

    /// How many objects a plan asks for, if the mirror cannot tell.
    /// - Returns: nil if the mirror is to be asked.
    /// - Throws: As ``prepare(_:reading:options:)``.
    func count(_ plan: FetchPlan, options: (any StoreRequestOptions)?) async throws(StoreError) -> Int?
    /// As ``count(_:options:)`` for callers that cannot suspend.
    /// - Throws: As ``prepareNow(_:reading:options:)``.
    func countNow(_ plan: FetchPlan, options: (any StoreRequestOptions)?) throws(StoreError) -> Int?

    /// Brings the rows of some keys of which the mirror has no more than the key. What the server does not have is gone
    /// from the mirror afterwards.
    /// - Throws: As ``prepare(_:reading:options:)``.
    func prepareRows(
        entityIndex: Int, keys: [Int64], options: (any StoreRequestOptions)?
    ) async throws(StoreError)
    /// As ``prepareRows(entityIndex:keys:options:)`` for callers that cannot suspend.
    /// - Throws: As ``prepareNow(_:reading:options:)``.
    func prepareRowsNow(entityIndex: Int, keys: [Int64]) throws(StoreError)

    /// Brings the members of a to-many relationship of some objects, and which objects they are. A server that keeps the
    /// relationship at its other end does not list them with the objects themselves.
    /// - Parameters:
    ///   - entityIndex: The entity of the owners.
    ///   - relationshipIndex: The relationship among those of that entity.
    ///   - owners: The keys of the owners.
    ///   - options: The options of the request.
    /// - Returns: Whether the server was asked, so that an object may have other members than before.
    /// - Throws: As ``prepare(_:reading:options:)``.
    func prepareMembers(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], options: (any StoreRequestOptions)?
    ) async throws(StoreError) -> Bool

    /// As ``PersistentStore/commit(_:)``, without blocking, to where the options say.
    /// - Throws: ``StoreError/remote(_:)`` if nothing was written.
    func commit(_ changes: ChangeSet, options: (any StoreRequestOptions)?) async throws(StoreError) -> CommitResult

    /// Asks whether ``PersistentStore/commit(_:)`` may write now, or would have to wait for a network although the store was
    /// not told to. A save over several stores asks before it writes to any of them.
    /// - Throws: ``StoreError/needsNetwork(store:what:)``.
    func checkCommitNow() throws(StoreError)

    /// The keys of objects that took the place of others. An object may be here twice for a while, because a server reports it
    /// under another name; then one of the two rows is removed, and references from elsewhere may still have its key.
    /// - Returns: By key, the keys of those that have another one now; the others are left out.
    /// - Throws: ``StoreError`` if the store cannot be read.
    func successors(of keys: [Int64], entityIndex: Int) throws(StoreError) -> [Int64: Int64]

    /// The options of each of the results that a fetch should give one after the other.
    func stages(_ options: (any StoreRequestOptions)?) -> [(any StoreRequestOptions)?]
}

extension NetworkStore {
    /// Owners list their members.
    public func prepareMembers(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], options: (any StoreRequestOptions)?
    ) async throws(StoreError) -> Bool { false }

    /// The store never has to wait.
    public func checkCommitNow() throws(StoreError) {}

    /// Objects keep their keys.
    public func successors(of keys: [Int64], entityIndex: Int) throws(StoreError) -> [Int64: Int64] { [:] }
}
