import Foundation
import StrataSQLite

/// Online saves that got no answer, and whose objects are saved to the mirror then: the server may have carried them out.
/// They are queued as they were sent, under their own names, and what was changed since comes behind them. So the server
/// does each once, and nobody is in conflict with himself.
extension Mirror {
    /// Queues what earlier online saves of the objects of a change have sent without an answer.
    /// - Parameter changes: What has just been saved to the mirror.
    func adoptUnknown(_ changes: ChangeSet) throws(StoreError) {
        var objects: Set<RowIdentity> = []
        for row in changes.inserts.map(\.row.row) + changes.updates.map(\.row.row) {
            objects.insert(RowIdentity(entityIndex: root(row.entityIndex), key: row.key))
        }
        for delete in changes.deletes {
            objects.insert(RowIdentity(entityIndex: root(delete.entityIndex), key: delete.key))
        }
        for pair in changes.pairs {
            objects.insert(RowIdentity(entityIndex: root(pair.entityIndex), key: pair.owner))
        }
        let earlier = objects.compactMap { identity in online.unknown.write(of: identity).map { (identity, $0) } }
        guard !earlier.isEmpty else { return }
        try store.transaction { (transaction) throws(StoreError) in
            for (identity, write) in earlier { try adopt(write, of: identity, on: transaction.connection) }
        }
        for (identity, write) in earlier {
            online.unknown.remove(identity)
            online.births.end([RemoteIdentity(entity: write.entity.rootName, id: write.write.id)])
        }
    }

    private func adopt(_ write: MirrorWrite, of identity: RowIdentity, on connection: Connection) throws(StoreError) {
        let entries = try entries(root: identity.entityIndex, key: identity.key, on: connection)
        guard entries.count == 1, var sent = entries.first, sent.state == .waiting, write.relations.isEmpty,
            write.kind == sent.kind || write.kind == .update, write.kind != .delete || sent.kind == .delete
        else { return }
        let later = try rest(of: sent, behind: write, on: connection)
        sent.kind = write.kind
        sent.state = .sent
        sent.token = write.write.token
        sent.sent = FrozenWrite.encode(write)
        sent.attempts = 1
        if sent.kind == .update {
            sent.slots = SlotSet()
            for slot in write.entity.slots where write.write.values[slot.name] != nil { sent.slots.insert(slot.index) }
            sent.members = []
        }
        try self.write(sent, on: connection)
        if let later { try add([later], on: connection) }
    }

    /// What an entry says beyond a write that was sent before; nil if that is nothing.
    private func rest(
        of entry: OutboxEntry, behind write: MirrorWrite, on connection: Connection
    ) throws(StoreError) -> OutboxEntry? {
        var later = entry
        later.seq = 0
        if entry.kind == .delete { return write.kind == .delete ? nil : later }
        later.kind = .update
        let reader = WriteReader(mirror: self, connection: connection, listsMembers: false, readsFiles: true)
        guard
            let row = try reader.rows(of: [entry.identity])[
                RowIdentity(entityIndex: root(entry.identity.entityIndex), key: entry.identity.key)]
        else { return nil }
        guard
            let now = try writes(
                for: [entry], isWhole: false, listsMembers: false, readsFiles: true, on: connection
            ).first ?? nil
        else { return nil }
        // As the server has the object once it has carried out the write.
        var base = entry.base.flatMap(RowSlab.restored(from:)) ?? RowSlab.copy(of: row.row)
        later.slots = SlotSet()
        later.members.removeAll { $0.isOrder && write.write.values[$0.relationship] != nil }
        for (name, value) in now.write.values where write.write.values[name] != value {
            guard
                let slot = entry.kind == .insert || write.write.values[name] != nil
                    ? write.entity.slot(named: name) : nil
            else {
                try change(name, from: write, to: value, in: &later, on: connection)
                continue
            }
            later.slots.insert(slot.index)
            try place(write.write.values[name], slot, write.entity, in: &base, on: connection)
        }
        later.base = base.stored
        return later.slots.isEmpty && later.members.isEmpty ? nil : later
    }

    /// A value or a list of members that is told again whole, or has not been told by the write before.
    private func change(
        _ name: String, from write: MirrorWrite, to value: RemoteValue, in later: inout OutboxEntry,
        on connection: Connection
    ) throws(StoreError) {
        if let slot = write.entity.slot(named: name) {
            later.slots.insert(slot.index)
            return
        }
        guard case .references(let now) = value, let relationship = write.entity.relationship(named: name) else {
            return
        }
        var before: [String] = []
        if case .references(let list)? = write.write.values[name] { before = list }
        var members = MemberChange(relationship: name)
        members.isOrder = relationship.isOrdered
        let root = root(relationship.destinationIndex)
        for id in now where !before.contains(id) {
            if let key = try known(id, root: root, on: connection)?.key { members.added.insert(key) }
        }
        for id in before where !now.contains(id) {
            if let key = try known(id, root: root, on: connection)?.key { members.removed[key] = id }
        }
        later.members.removeAll { $0.relationship == name }
        if !members.isEmpty { later.members.append(members) }
    }

    private func place(
        _ value: RemoteValue?, _ slot: SlotDescription, _ entity: EntityDescription, in row: inout RowSlab,
        on connection: Connection
    ) throws(StoreError) {
        var told = Value.null
        switch value {
        case .value(let value)?: told = value
        case .reference(let id?)?:
            guard let index = slot.relationshipIndex else { break }
            let root = root(entity.relationships[index].destinationIndex)
            if let key = try known(id, root: root, on: connection)?.key { told = .object(key) }
        default: break
        }
        _ = RowEditing.setValue(told, slot, layout: entity.slots, in: &row)
    }
}
