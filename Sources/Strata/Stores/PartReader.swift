import StrataStore

/// Reads from several stores: each read goes to what reads the store of the entity.
protocol PartReader: StoreReader {
    /// The stores.
    var set: StoreSet { get }
    /// What reads the store at a position.
    func reader(at position: Int) -> any StoreReader
}

extension PartReader {
    /// What reads the store of an entity, and the positions of entities in its model.
    private func route(_ entityIndex: Int) -> (reader: any StoreReader, translation: EntityTranslation) {
        let position = set.position(of: entityIndex)
        return (reader(at: position), set.parts[position].translation)
    }

    func fetch(_ plan: FetchPlan, known: KnownRows?, cancellation: ReadCancellation?) throws(StoreError) -> RowBatch {
        let (reader, translation) = route(plan.entityIndex)
        let batch = try reader.fetch(
            translation.inner(plan), known: known.map { translation.inner($0) }, cancellation: cancellation)
        return translation.outer(batch)
    }

    func fetchIdentities(_ plan: FetchPlan, cancellation: ReadCancellation?) throws(StoreError) -> [RowIdentity] {
        let (reader, translation) = route(plan.entityIndex)
        return try reader.fetchIdentities(translation.inner(plan), cancellation: cancellation).map {
            RowIdentity(entityIndex: translation.outer($0.entityIndex), key: $0.key)
        }
    }

    func count(_ plan: FetchPlan, cancellation: ReadCancellation?) throws(StoreError) -> Int {
        let (reader, translation) = route(plan.entityIndex)
        return try reader.count(translation.inner(plan), cancellation: cancellation)
    }

    func values(_ plan: ValuePlan, cancellation: ReadCancellation?) throws(StoreError) -> [[Value]] {
        let (reader, translation) = route(plan.fetch.entityIndex)
        return try reader.values(translation.inner(plan), cancellation: cancellation)
    }

    func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch {
        let (reader, translation) = route(entityIndex)
        return translation.outer(try reader.rows(entityIndex: translation.inner(entityIndex), keys: keys))
    }

    func memberRows(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], areAll: Bool
    ) throws(StoreError) -> RowBatch {
        let (reader, translation) = route(entityIndex)
        return translation.outer(
            try reader.memberRows(
                entityIndex: translation.inner(entityIndex), relationshipIndex: relationshipIndex, owners: owners,
                areAll: areAll))
    }

    func memberKeys(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64]
    ) throws(StoreError) -> [(owner: Int64, member: Int64)] {
        let (reader, translation) = route(entityIndex)
        return try reader.memberKeys(
            entityIndex: translation.inner(entityIndex), relationshipIndex: relationshipIndex, owners: owners)
    }
}
