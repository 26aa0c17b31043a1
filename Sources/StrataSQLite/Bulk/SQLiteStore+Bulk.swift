import StrataSQL
import StrataStore

extension SQLiteStore {
    public func perform(_ operation: BulkOperation, by origin: ChangeOrigin) throws(StoreError) -> BulkResult {
        guard !options.isMirror else {
            throw .unsupported(
                store: name, feature: "bulk operations on a mirror, which cannot be sent to its server; change objects")
        }
        return try transaction { (transaction) throws(StoreError) in
            transaction.origin = origin
            switch operation {
            case .update(let update):
                return try BulkUpdater(store: self, transaction: transaction, update: update).run()
            case .delete(let plan): return try BulkDeleter(transaction).run(plan)
            }
        }
    }

    /// The entities and keys of the rows that a plan asks for, as an open transaction sees them.
    func identities(_ plan: FetchPlan, on connection: Connection) throws(StoreError) -> [RowIdentity] {
        let rowPlan = rowPlans[plan.entityIndex]
        let statement = try bound(FetchShape(plan, .identities), of: plan, on: connection)
        defer { statement.reset() }
        var result: [RowIdentity] = []
        while try statement.step() {
            let key = statement.integer(0)
            guard RowPlan.keys.contains(key) else { throw rowPlan.unsoundHeader(key) }
            let shape =
                rowPlan.hasEntityColumn
                ? try rowPlan.shape(named: statement.textBytes(1), key: key) : rowPlan.shapes[0]
            result.append(RowIdentity(entityIndex: shape.entityIndex, key: key))
        }
        return result
    }
}

extension StoreTransaction: BulkTransaction {
    package var model: ManagedObjectModel { store.model }

    package func identities(_ plan: FetchPlan) throws(StoreError) -> [RowIdentity] {
        try store.identities(plan, on: connection)
    }

    package func owners(
        entityIndex: Int, relationshipIndex: Int, members: [Int64]
    ) throws(StoreError) -> [(owner: Int64, member: Int64)] {
        try store.owners(
            entityIndex: entityIndex, relationshipIndex: relationshipIndex, members: members, on: connection)
    }

    package func writeTogether(_ changes: ChangeSet) throws(StoreError) -> CommitResult {
        try write(changes, together: true)
    }
}
