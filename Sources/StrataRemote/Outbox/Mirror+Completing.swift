import Foundation
import StrataSQLite

extension Mirror {
    /// Takes out entries that are the only ones of their objects and were answered with their states, by a few statements
    /// for all.
    /// - Returns: The change, if there is one; nil if the entries have to be looked at one by one, and nothing was done.
    func completeTogether(
        _ list: [(entry: OutboxEntry, record: RemoteRecord?)], _ ticket: ReadTicket?, in transaction: StoreTransaction
    ) throws(StoreError) -> StoreChange?? {
        let connection = transaction.connection
        let entries = try current(list.map(\.entry), on: connection)
        guard entries.count == list.count else { return nil }
        var keys: [Int: [Int64]] = [:]
        var settling: Set<RowIdentity> = []
        for entry in entries {
            let root = root(entry.identity.entityIndex)
            keys[root, default: []].append(entry.identity.key)
            settling.insert(RowIdentity(entityIndex: root, key: entry.identity.key))
        }
        var records: [RemoteRecord] = []
        for (entry, record) in list {
            guard let record, entry.kind != .delete, let entity = model.entity(named: record.entity),
                entity.rootIndex == root(entry.identity.entityIndex)
            else { return nil }
            records.append(record)
        }
        for (root, keys) in keys {
            let statement = try connection.statement(
                "SELECT count(*) FROM _outbox WHERE root = ? AND key IN (SELECT value FROM strata_list(?))")
            statement.bind(entities.numbers[root], at: 1)
            statement.bind(ValueList(keys: keys), at: 2)
            guard try statement.step() else { return nil }
            let count = Int(statement.integer(0))
            statement.reset()
            // Another change waits behind one of them.
            guard count == keys.count else { return nil }
        }
        // Each is here under the name that the server told.
        for (root, group) in Dictionary(
            grouping: list.indices, by: { self.root(list[$0].entry.identity.entityIndex) })
        {
            let ids = group.map { canonical(records[$0].id, model.entities[root]) }
            let known = try known(ids, root: root, on: connection)
            for (index, id) in zip(group, ids) where known[id]?.key != list[index].entry.identity.key { return nil }
        }
        guard try DeletedLinks(mirror: self, connection: connection).isEmpty else { return nil }
        let remove = try connection.statement(
            "DELETE FROM _outbox WHERE seq IN (SELECT value FROM strata_list(?))")
        remove.bind(ValueList(keys: entries.map(\.seq).sorted()), at: 1)
        try remove.run()
        var session = ApplySession(mirror: self, transaction: transaction)
        session.ticket = ticket
        session.settling = settling
        _ = try session.run(records, deleted: [])
        order.noteWritten(
            records.compactMap { record in
                model.entity(named: record.entity).map {
                    RemoteIdentity(entity: $0.rootName, id: canonical(record.id, $0))
                }
            })
        return .some(session.change)
    }

    func complete(
        _ entry: OutboxEntry, _ record: RemoteRecord?, in transaction: StoreTransaction
    ) throws(StoreError) -> [StoreChange] {
        var told: [StoreChange] = []
        if let record, entry.kind == .insert {
            var renaming = ApplySession(mirror: self, transaction: transaction)
            try renaming.rename(entry.identity, to: record.id)
            if let change = renaming.change { told.append(change) }
        }
        // Each is looked at as if it were alone: what waits for the others is still to be told of.
        var session = ApplySession(mirror: self, transaction: transaction)
        try session.complete(entry, record)
        if let change = session.change { told.append(change) }
        if let record, let entity = model.entity(named: record.entity) {
            order.noteWritten([RemoteIdentity(entity: entity.rootName, id: canonical(record.id, entity))])
        }
        return told
    }
}
