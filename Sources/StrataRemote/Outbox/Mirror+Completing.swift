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
        for (entry, record) in list where entry.kind != .delete {
            guard let record, let entity = model.entity(named: record.entity),
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
        guard try areNamed(list, on: connection) else { return nil }
        try remove(entries.map(\.seq).sorted(), on: connection)
        let links = DeletedLinks(mirror: self, connection: connection)
        if try !links.isEmpty {
            // They may be objects that were deleted and are created again here.
            for (name, list) in Dictionary(grouping: records, by: \.entity) {
                guard let entity = model.entity(named: name) else { continue }
                try links.restore(list.map { canonical($0.id, entity) }, root: entity.rootIndex)
            }
        }
        var session = ApplySession(mirror: self, transaction: transaction)
        session.ticket = ticket
        session.settling = settling
        session.isEcho = true
        _ = try session.run(records, deleted: [])
        try forgetDeleted(entries, on: connection)
        order.noteWritten(
            records.compactMap { record in
                model.entity(named: record.entity).map {
                    RemoteIdentity(entity: $0.rootName, id: canonical(record.id, $0))
                }
            })
        return .some(session.change)
    }

    /// Whether each object is here under the name that the server told, and each that was deleted has not been made again.
    private func areNamed(
        _ list: [(entry: OutboxEntry, record: RemoteRecord?)], on connection: Connection
    ) throws(StoreError) -> Bool {
        for (root, group) in Dictionary(grouping: list, by: { self.root($0.entry.identity.entityIndex) }) {
            let ids = group.map { $0.record.map { canonical($0.id, model.entities[root]) } ?? $0.entry.id }
            let known = try known(ids, root: root, on: connection)
            for (member, id) in zip(group, ids) {
                let key = known[id]?.key
                if member.entry.kind == .delete, key == nil { continue }
                guard key == member.entry.identity.key else { return false }
            }
        }
        return true
    }

    /// The server has carried out deletes.
    private func forgetDeleted(_ entries: [OutboxEntry], on connection: Connection) throws(StoreError) {
        let deletes = entries.filter { $0.kind == .delete }
        for (root, list) in Dictionary(grouping: deletes, by: { self.root($0.identity.entityIndex) }) {
            for entry in list { order.noteDeleted(RemoteIdentity(entity: model.entities[root].name, id: entry.id)) }
            try OutboxWriter(mirror: self, connection: connection).forget(list.map(\.id), root: root)
        }
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
        session.isEcho = true
        try session.complete(entry, record)
        if let change = session.change { told.append(change) }
        if let record, let entity = model.entity(named: record.entity) {
            order.noteWritten([RemoteIdentity(entity: entity.rootName, id: canonical(record.id, entity))])
        }
        return told
    }
}
