import StrataStore

/// A commit, as the other contexts of the container hear about it.
struct CommitNotification: Sendable {
    /// The context that saved; nil if none did.
    let contextNumber: Int?
    let changes: ChangeSet
    let effects: CommitEffects
    /// The rows before the updates of ``changes``, in the same order.
    let previousRows: [RowReference]
    /// The last known rows of the deletes of ``changes``, where one was known.
    let deletedRows: [RowReference?]

    /// How many rows and pairs it is about, roughly.
    var size: Int {
        changes.inserts.count + changes.updates.count + changes.deletes.count + changes.orders.count
            + changes.clearings.reduce(0) { $0 + $1.keys.count }
            + changes.pairs.reduce(0) { $0 + 1 + $1.added.count + $1.removed.count }
    }

    /// The keys whose rows in older batches are out of date, by hierarchy.
    func staleKeys(_ model: ManagedObjectModel) -> [Int: [Int64]] {
        var result: [Int: [Int64]] = [:]
        for update in changes.updates {
            result[model.entities[update.row.row.entityIndex].rootIndex, default: []].append(update.row.row.key)
        }
        for clearing in changes.clearings {
            result[model.entities[clearing.entityIndex].rootIndex, default: []] += clearing.keys
        }
        for delete in changes.deletes {
            result[model.entities[delete.entityIndex].rootIndex, default: []].append(delete.key)
        }
        for (root, keys) in effects.alreadyDeleted { result[root, default: []] += keys }
        return result
    }

    /// The keys of all objects that may look different after the commit, by hierarchy.
    func affectedKeys(_ model: ManagedObjectModel) -> [Int: [Int64]] {
        var result = staleKeys(model)
        for insert in changes.inserts {
            result[model.entities[insert.row.row.entityIndex].rootIndex, default: []].append(insert.row.row.key)
        }
        for (root, keys) in effects.referrers { result[root, default: []] += keys }
        return result
    }
}
