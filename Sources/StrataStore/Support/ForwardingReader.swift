/// A reader that hands every read to another one, which it chooses or guards in one place: ``read(_:)``.
package protocol ForwardingReader: StoreReader {
    associatedtype Base: StoreReader

    /// Runs a read with the reader that answers it.
    func read<T>(_ body: (Base) throws(StoreError) -> T) throws(StoreError) -> T
}

extension ForwardingReader {
    package func fetch(
        _ plan: FetchPlan, known: KnownRows?, cancellation: ReadCancellation?
    ) throws(StoreError) -> RowBatch {
        try read { (base) throws(StoreError) in try base.fetch(plan, known: known, cancellation: cancellation) }
    }

    package func fetchIdentities(
        _ plan: FetchPlan, cancellation: ReadCancellation?
    ) throws(StoreError) -> [RowIdentity] {
        try read { (base) throws(StoreError) in try base.fetchIdentities(plan, cancellation: cancellation) }
    }

    package func count(_ plan: FetchPlan, cancellation: ReadCancellation?) throws(StoreError) -> Int {
        try read { (base) throws(StoreError) in try base.count(plan, cancellation: cancellation) }
    }

    package func values(_ plan: ValuePlan, cancellation: ReadCancellation?) throws(StoreError) -> [[Value]] {
        try read { (base) throws(StoreError) in try base.values(plan, cancellation: cancellation) }
    }

    package func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch {
        try read { (base) throws(StoreError) in try base.rows(entityIndex: entityIndex, keys: keys) }
    }

    package func memberRows(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], areAll: Bool
    ) throws(StoreError) -> RowBatch {
        try read { (base) throws(StoreError) in
            try base.memberRows(
                entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners, areAll: areAll)
        }
    }

    package func memberKeys(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64]
    ) throws(StoreError) -> [(owner: Int64, member: Int64)] {
        try read { (base) throws(StoreError) in
            try base.memberKeys(entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners)
        }
    }
}
