import Foundation
import StrataSQLite
import StrataStore

extension Mirror {
    /// Takes out entries that are the only ones of their objects and were answered with their states, by a few statements
    /// for all.
    /// - Returns: The change, if there is one; nil if the entries have to be looked at one by one, and nothing was done.
    func completeTogether(
        _ list: [(entry: OutboxEntry, record: RemoteRecord?)], _ ticket: ReadTicket?, in transaction: StoreTransaction
    ) throws(StoreError) -> StoreChange?? {
        let connection = transaction.connection
        guard let entries = try onlyEntries(list.map(\.entry), on: connection) else { return nil }
        var records: [RemoteRecord] = []
        for (entry, record) in list where entry.kind != .delete {
            guard let record, let entity = model.entity(named: record.entity),
                entity.rootIndex == root(entry.identity.entityIndex)
            else { return nil }
            records.append(record)
        }
        guard let known = try namedObjects(list, on: connection) else { return nil }
        try remove(entries.map(\.seq).sorted(), on: connection)
        let links = DeletedLinks(mirror: self, connection: connection)
        let (hasLinks, hasRefusedDeletions) = try leftovers(on: connection)
        if hasRefusedDeletions {
            for (root, list) in known { try removeRefusedDeletions(of: Array(list.keys), root: root, on: connection) }
        }
        if hasLinks {
            // They may be objects that were deleted and are created again here.
            for (name, list) in Dictionary(grouping: records, by: \.entity) {
                guard let entity = model.entity(named: name) else { continue }
                try links.restore(list.map { canonical($0.id, entity) }, root: entity.rootIndex)
            }
        }
        var session = ApplySession(mirror: self, transaction: transaction)
        session.occasion.ticket = ticket
        for entry in entries {
            let identity = RowIdentity(entityIndex: root(entry.identity.entityIndex), key: entry.identity.key)
            session.occasion.settling.insert(identity)
            session.local.waiting[identity] = []
            if entry.passesOthers { session.notePassing(entry, entry.slots) }
        }
        session.local.known = known
        session.local.hasLinks = hasLinks
        session.occasion.isOwnEcho = entries.allSatisfy { $0.attempts <= 1 }
        _ = try session.run(records, deleted: [])
        try forgetDeleted(entries, on: connection)
        order.noteWritten(
            records.compactMap { record in
                model.entity(named: record.entity).map {
                    RemoteIdentity(entity: $0.rootName, id: canonical(record.id, $0))
                }
            })
        return .some(session.result.change)
    }

    /// Whether there are notes of links to deleted objects, and whether the server has refused deletions.
    private func leftovers(on connection: Connection) throws(StoreError) -> (links: Bool, refusedDeletions: Bool) {
        let statement = try connection.statement(
            """
            SELECT EXISTS (SELECT 1 FROM _remote_links), EXISTS (SELECT 1 FROM _outbox WHERE kind = 2 AND state = 2)
            """)
        defer { statement.reset() }
        guard try statement.step() else { return (false, false) }
        return (statement.integer(0) != 0, statement.integer(1) != 0)
    }

    /// Entries as they are now; nil if one has gone or says something else by now, or another change of its object waits.
    private func onlyEntries(
        _ list: [OutboxEntry], on connection: Connection
    ) throws(StoreError) -> [OutboxEntry]? {
        var found: [Int: [Int64: [OutboxEntry]]] = [:]
        for (root, group) in Dictionary(grouping: list, by: { self.root($0.identity.entityIndex) }) {
            found[root] = try entries(root: root, keys: group.map(\.identity.key), on: connection)
        }
        var result: [OutboxEntry] = []
        for entry in list {
            let now = found[root(entry.identity.entityIndex)]?[entry.identity.key] ?? []
            guard now.count == 1, now[0].isSame(as: entry) else { return nil }
            result.append(now[0])
        }
        return result
    }

    /// What is known of the objects of records and entries, by topmost entity; nil if one is not here under the name that
    /// the server told, or one that was deleted has been made again.
    private func namedObjects(
        _ list: [(entry: OutboxEntry, record: RemoteRecord?)], on connection: Connection
    ) throws(StoreError) -> [Int: [String: KnownObject]]? {
        var result: [Int: [String: KnownObject]] = [:]
        for (root, group) in Dictionary(grouping: list, by: { self.root($0.entry.identity.entityIndex) }) {
            let ids = group.map { $0.record.map { canonical($0.id, model.entities[root]) } ?? $0.entry.id }
            let known = try known(ids, root: root, on: connection)
            for (member, id) in zip(group, ids) {
                let key = known[id]?.key
                guard key == (member.entry.kind == .delete ? nil : member.entry.identity.key) else { return nil }
            }
            result[root] = known
        }
        return result
    }

    /// The server has carried out deletes.
    private func forgetDeleted(_ entries: [OutboxEntry], on connection: Connection) throws(StoreError) {
        let deletes = entries.filter { $0.kind == .delete }
        for (root, list) in Dictionary(grouping: deletes, by: { self.root($0.identity.entityIndex) }) {
            for entry in list { order.noteDeleted(RemoteIdentity(entity: model.entities[root].name, id: entry.id)) }
            try OutboxWriter(mirror: self, connection: connection).forget(list.map(\.id), root: root)
        }
        try noteRepeated(deletes, on: connection)
    }

    /// Has the next pull ask for objects whose deletion was sent more than once: a server that remembers the first one says
    /// "done" again, even if others have made the object again and a pull has passed it.
    func noteRepeated(_ deletes: [OutboxEntry], on connection: Connection) throws(StoreError) {
        guard server.remembersWrites else { return }
        let links = DeletedLinks(mirror: self, connection: connection)
        for entry in deletes where entry.attempts > 1 && !entry.id.isEmpty {
            let entity = model.entities[entry.identity.entityIndex]
            try links.noteStale(RemoteIdentity(entity: entity.name, id: entry.id))
        }
    }

    /// A new object may have been deleted here before the server answered. If nobody has changed it since, the delete is made to
    /// what the server has created.
    private func rebaseDeletion(
        behind entry: OutboxEntry, _ record: RemoteRecord, in transaction: StoreTransaction
    ) throws(StoreError) {
        let waiting = try entries(
            root: root(entry.identity.entityIndex), key: entry.identity.key, on: transaction.connection)
        guard var delete = waiting.last, delete.kind == .delete, delete.seq != entry.seq,
            let base = delete.base.flatMap(RowSlab.restored(from:)),
            let sent = entry.sent.flatMap({ FrozenWrite.decode($0, entry, self) })
        else { return }
        let isUnchanged = sent.write.values.allSatisfy { name, value in
            value == .value(.null) || value == .reference(nil) || record.values[name].map { $0 == value } ?? true
        }
        let session = ApplySession(mirror: self, transaction: transaction)
        guard isUnchanged, let told = try session.row(of: record, over: base.row) else { return }
        delete.base = told.slab.stored
        try write(delete, on: transaction.connection)
    }

    func complete(
        _ entry: OutboxEntry, _ record: RemoteRecord?, isOwn: Bool, in transaction: StoreTransaction
    ) throws(StoreError) -> [StoreChange] {
        var told: [StoreChange] = []
        if let record, entry.kind == .insert {
            var renaming = ApplySession(mirror: self, transaction: transaction)
            try renaming.rename(entry.identity, to: record.id, wasRefused: entry.attempts > 1)
            if let change = renaming.result.change { told.append(change) }
            try removeRefusedDeletions(inPlaceOf: record, of: entry, on: transaction.connection)
            try rebaseDeletion(behind: entry, record, in: transaction)
        }
        // Each is looked at on its own: what waits for the others is still to be told about.
        var session = ApplySession(mirror: self, transaction: transaction)
        session.occasion.isOwnEcho = isOwn
        if entry.passesOthers { session.notePassing(entry, entry.slots) }
        try session.complete(entry, record, isOwn: isOwn)
        if let change = session.result.change { told.append(change) }
        if let record, let entity = model.entity(named: record.entity) {
            order.noteWritten([RemoteIdentity(entity: entity.rootName, id: canonical(record.id, entity))])
        }
        return told
    }
}
