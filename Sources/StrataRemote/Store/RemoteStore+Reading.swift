import Foundation
import StrataSQLite
import StrataStore

// What every store can do, by the mirror.

extension RemoteStore {
    public var identifier: UUID { mirror.store.identifier }
    /// The back end and the place of the mirror.
    public var name: String { "\(backend.name), mirrored in \(mirror.store.name)" }
    public var model: ManagedObjectModel { mirror.model }
    /// As the mirror, which belongs to one process.
    public var capabilities: StoreCapabilities {
        mirror.store.capabilities.subtracting([.multiProcess, .heldVersions])
    }
    /// Whether the mirror was opened for reading only.
    public var isReadOnly: Bool { mirror.store.isReadOnly }
    public var changes: StoreChangeFeed? { mirror.changes }

    /// The history of the mirror: what was saved here, and what a server told. See ``RemoteStore/historyAuthor``.
    public var history: (any StoreHistory)? { mirror.store.history }

    /// The author, in history, of changes that a server told.
    public static let historyAuthor = "strata.server"

    public func allocateKeys(_ count: Int, rootIndex: Int) throws(StoreError) -> Range<Int64> {
        try mirror.store.allocateKeys(count, rootIndex: rootIndex)
    }

    public func fetch(
        _ plan: FetchPlan, known: KnownRows?, cancellation: ReadCancellation?
    ) throws(StoreError) -> RowBatch {
        try mirror.store.fetch(visible(plan), known: known, cancellation: cancellation)
    }

    public func fetchIdentities(
        _ plan: FetchPlan, cancellation: ReadCancellation?
    ) throws(StoreError) -> [RowIdentity] {
        try mirror.store.fetchIdentities(visible(plan), cancellation: cancellation)
    }

    public func count(_ plan: FetchPlan, cancellation: ReadCancellation?) throws(StoreError) -> Int {
        try mirror.store.count(visible(plan), cancellation: cancellation)
    }

    public func values(_ plan: ValuePlan, cancellation: ReadCancellation?) throws(StoreError) -> [[Value]] {
        guard plan.fetch.toldSlots == nil else {
            throw .unsupported(
                store: name, feature: "a request for values with `properties`: it names what it reads by its columns")
        }
        var plan = plan
        plan.fetch = visible(plan.fetch)
        return try mirror.store.values(plan, cancellation: cancellation)
    }

    public func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch {
        try mirror.store.rows(entityIndex: entityIndex, keys: keys).withHeadersForPlaceholders()
    }

    public func memberRows(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], areAll: Bool
    ) throws(StoreError) -> RowBatch {
        try mirror.store.memberRows(
            entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners, areAll: areAll
        ).withHeadersForPlaceholders()
    }

    public func memberKeys(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64]
    ) throws(StoreError) -> [(owner: Int64, member: Int64)] {
        try mirror.store.memberKeys(
            entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners)
    }

    public func successors(of keys: [Int64], entityIndex: Int) throws(StoreError) -> [Int64: Int64] {
        try mirror.successors(of: keys, root: mirror.root(entityIndex))
    }

    public func externalData(named name: String) throws(StoreError) -> Data {
        try mirror.store.externalData(named: name)
    }

    /// Closes the mirror. Rows that were read without being kept are forgotten.
    public func close() {
        // A mirror that cannot be written keeps them until it is opened again.
        try? mirror.purgePassing()
        mirror.store.close()
        file?.release()
    }

    /// The plan without rows that are not part of the mirror. A plan that names its objects is left alone.
    private func visible(_ plan: FetchPlan) -> FetchPlan {
        let hidden = mirror.passing.of(model.entities[plan.entityIndex].rootIndex)
        guard !hidden.isEmpty, plan.namedKeys == nil else { return plan }
        var result = plan
        let rest = FetchPredicate.not(.isOne(of: hidden.sorted()))
        result.predicate = plan.predicate.map { $0 && rest } ?? rest
        return result
    }
}

extension FetchPredicate {
    /// It is one of the objects with some keys.
    static func isOne(of keys: [Int64]) -> FetchPredicate {
        .comparison(.evaluatedObject, .isIn, .constant(.list(keys.map(Value.object))), [])
    }
}

extension FetchPlan {
    /// The keys of the objects among which the plan looks, where it says so first of all.
    var namedKeys: [Value]? {
        var first = predicate
        if case .and(let parts)? = predicate?.node { first = parts.first }
        guard case .comparison(.evaluatedObject, .isIn, let list, _)? = first?.node,
            case .constant(.list(let keys)) = list.node
        else { return nil }
        return keys
    }
}
