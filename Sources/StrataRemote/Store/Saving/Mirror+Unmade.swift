import StrataSQLite
import StrataStore

/// New objects that a save cannot make.
extension Mirror {
    /// The new objects of a change whose primary keys others have that are here. They cannot be made.
    func takenKeys(_ changes: ChangeSet) throws(StoreError) -> [StoreConflict] {
        var result: [StoreConflict] = []
        let inserts = changes.inserts.map(\.row.row)
        for (root, rows) in Dictionary(grouping: inserts, by: { self.root($0.entityIndex) }) {
            let slot = primaryKeys[root]
            let ids = rows.map { row in
                let id = PrimaryKey.id(of: row, slot) ?? ""
                let name = RemoteIdentity(entity: model.entities[root].name, id: id)
                return online.births.name(of: name, in: changes.source) ?? id
            }
            let known = try store.reading { (connection) throws(StoreError) in
                try keys(of: ids, root: root, on: connection)
            }
            let taken = zip(rows, ids).compactMap { row, id in
                known[id].flatMap { $0 == row.key ? nil : (row: row, other: $0) }
            }
            if taken.isEmpty { continue }
            var found: [Int64: RowReference] = [:]
            for row in try store.rows(entityIndex: root, keys: taken.map(\.other).sorted()).rows {
                found[row.row.key] = row
            }
            for (row, other) in taken {
                // Objects that others only refer to are created now.
                guard let there = found[other], there.row.version > 0 else { continue }
                result.append(
                    StoreConflict(
                        reason: .unique(slots: [slot.index]), entityIndex: row.entityIndex, key: row.key,
                        storeRow: there, otherKey: other))
            }
        }
        forgetUnmade(result, changes.source)
        return result
    }

    /// Nothing is left to be repeated of new objects whose primary keys others have.
    func forgetUnmade(_ conflicts: [StoreConflict], _ source: ChangeSource?) {
        for conflict in conflicts where conflict.otherKey != nil {
            let identity = RowIdentity(entityIndex: root(conflict.entityIndex), key: conflict.key)
            if let unknown = online.unknown.write(of: identity, of: source) { noteAdopted([(identity, unknown)]) }
        }
    }

    /// The new objects of a change that the server had from a save without an answer, and that others have deleted since.
    /// A context that makes one again on purpose gives it a version beyond all that it had before.
    func deletedBirths(_ changes: ChangeSet) -> [StoreConflict] {
        online.deleted.withLock { deleted in
            if deleted.isEmpty { return [] }
            return changes.inserts.map(\.row.row).compactMap { row in
                let identity = RowIdentity(entityIndex: root(row.entityIndex), key: row.key)
                guard deleted.contains(identity) else { return nil }
                guard row.version == 1 else {
                    deleted.remove(identity)
                    return nil
                }
                return StoreConflict(reason: .version, entityIndex: row.entityIndex, key: row.key, storeRow: nil)
            }
        }
    }
}
