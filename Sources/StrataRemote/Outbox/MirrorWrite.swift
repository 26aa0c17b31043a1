import Foundation
import StrataSQLite
import StrataStore

/// A change of one object as a back end is told about it.
package struct MirrorWrite: Sendable {
    /// What is done.
    package var kind: ChangeKind
    /// The object's own entity.
    package var entity: EntityDescription
    /// The object.
    package var identity: RowIdentity
    /// The values; for an insert with the members of relationships that are kept as pairs.
    package var write: RemoteWrite
    /// Changes of members, only for an update.
    package var relations: [RemoteRelation] = []
    /// The objects that the values refer to.
    package var references: Set<RemoteIdentity> = []
    /// The properties whose values stand for files that were uploaded for this write.
    package var files: Set<String> = []
    /// The operations of a save, by property, whether they are sent as such or by their results.
    var computed: [String: ComputedValue] = [:]
}

extension MirrorWrite {
    /// Adds a change of members. Of two changes of the same member the later one counts.
    mutating func relate(_ later: RemoteRelation) {
        guard let index = relations.firstIndex(where: { $0.relationship == later.relationship }) else {
            return relations.append(later)
        }
        let known = Set(later.added + later.removed)
        relations[index].added = relations[index].added.filter { !known.contains($0) } + later.added
        relations[index].removed = relations[index].removed.filter { !known.contains($0) } + later.removed
    }
}

extension Mirror {
    /// What a back end is to be told about an entry, as the object is now; nil if the object has gone without a trace.
    /// - Parameters:
    ///   - isWhole: Whether an update has all values, not just those that were changed.
    ///   - listsMembers: Whether changed relationships are told with all members, not by those added and removed.
    ///   - computes: The kinds of operations that are told as such. Others are told by their results.
    package func write(
        for entry: OutboxEntry, isWhole: Bool = false, listsMembers: Bool = false,
        computes: RemoteCapabilities.Features = []
    ) throws(StoreError) -> MirrorWrite? {
        try store.reading { (connection) throws(StoreError) in
            try writes(
                for: [entry], isWhole: isWhole, listsMembers: listsMembers, computes: computes, readsFiles: true,
                on: connection)
        }.first ?? nil
    }

    /// What a back end is to be told about entries, in their order; without the content of external files, which is
    /// read when an entry is sent.
    package func writes(
        for list: [OutboxEntry], isWhole: Bool = false, listsMembers: Bool = false,
        computes: RemoteCapabilities.Features = []
    ) throws(StoreError) -> [MirrorWrite?] {
        try store.reading { (connection) throws(StoreError) in
            try writes(
                for: list, isWhole: isWhole, listsMembers: listsMembers, computes: computes, readsFiles: false,
                on: connection)
        }
    }

    func writes(
        for list: [OutboxEntry], isWhole: Bool, listsMembers: Bool, computes: RemoteCapabilities.Features = [],
        readsFiles: Bool, on connection: Connection
    ) throws(StoreError) -> [MirrorWrite?] {
        let reader = WriteReader(
            mirror: self, connection: connection, listsMembers: listsMembers, computes: computes,
            readsFiles: readsFiles)
        let rows = try reader.rows(of: list.filter { $0.kind != .delete }.map(\.identity))
        try reader.learn(list, rows)
        try reader.learnStates(list, rows, isWhole: isWhole)
        var result: [MirrorWrite?] = []
        for entry in list {
            var row = rows[RowIdentity(entityIndex: root(entry.identity.entityIndex), key: entry.identity.key)]
            // Sent writes are sent again unchanged. The server is told nothing more about objects deleted here since
            // then, unless it has to tell by which key it has an object.
            let isNamed =
                entry.kind == .insert && server.remembersWrites
                && server.assigning.contains(root(entry.identity.entityIndex))
            if let sent = entry.sent, row != nil || entry.kind == .delete || isNamed,
                let frozen = FrozenWrite.decode(sent, entry, self)
            {
                result.append(frozen)
                continue
            }
            if entry.state == .sent {
                row = try row.map { (row) throws(StoreError) in try self.row(row, of: entry, on: connection) }
            }
            result.append(try reader.write(for: entry, row: row, isWhole: isWhole))
        }
        return result
    }

    /// What the mirror has of some properties, as a back end is told it, with the content of external files.
    func values(of names: Set<String>, in identity: RowIdentity) throws(StoreError) -> [String: RemoteValue] {
        let entity = model.entities[identity.entityIndex]
        let members = entity.relationships.filter { names.contains($0.name) && $0.slot == nil }
        let entry = OutboxEntry(
            seq: 0, identity: identity, id: "", kind: .update, state: .waiting,
            slots: SlotSet(names.flatMap(entity.slots(of:))), operations: [:],
            members: members.map { MemberChange(relationship: $0.name, isOrder: $0.isOrdered) }, base: nil,
            changed: Date(timeIntervalSinceReferenceDate: 0), attempts: 0, secretNames: [])
        return try write(for: entry, listsMembers: true)?.write.values ?? [:]
    }

    /// An object as an entry has it: without what was changed here after the entry. So it is told the same each time,
    /// and what the server has then is what the change after it was made to: no conflict with oneself.
    func row(
        _ now: RowReference, of entry: OutboxEntry, on connection: Connection
    ) throws(StoreError) -> RowReference {
        let later = try entries(root: root(entry.identity.entityIndex), key: entry.identity.key, on: connection)
            .first { $0.seq > entry.seq && $0.kind == .update }
        guard let later, let base = later.base.flatMap(RowSlab.restored(from:)) else { return now }
        var slab = RowSlab.copy(of: now.row)
        let layout = model.entities[now.row.entityIndex].slots
        for slot in later.slots {
            // The file of a value that was replaced is gone.
            if !layout[slot].storage.isInline, base.row.isPresent(slot), base.row.isExternal(slot) { continue }
            RowEditing.copySlot(slot, layout: layout, from: base.row, to: &slab)
        }
        return RowReference(slab: slab, row: slab.row)
    }

    /// What a back end is to be told about a change set that has not been saved: new objects first, then changed, then
    /// deleted ones. Objects of which only members changed come with no values.
    /// - Parameter refused: Entries of the outbox that the server refused: the save takes their place.
    /// - Parameter computes: The kinds of operations that are told as such. Others are told by their results.
    package func writes(
        for changes: ChangeSet, refused: [RowIdentity: OutboxEntry] = [:],
        computes: RemoteCapabilities.Features = []
    ) throws(StoreError) -> [MirrorWrite] {
        try store.reading { (connection) throws(StoreError) in
            let reader = WriteReader(mirror: self, connection: connection, computes: computes)
            return try reader.writes(for: changes, refused: refused)
        }
    }

    /// The entries of updated objects that the server refused, by topmost entity and key; and those that create objects of
    /// which only members change. Creations that are held back because they refer to refused objects are among them: the changes
    /// may take that reference away.
    func refusedEntries(of changes: ChangeSet) throws(StoreError) -> [RowIdentity: OutboxEntry] {
        if changes.updates.isEmpty, changes.pairs.isEmpty, changes.orders.isEmpty { return [:] }
        let updated = Set(
            changes.updates.map { RowIdentity(entityIndex: root($0.row.row.entityIndex), key: $0.row.row.key) })
        return try lastEntries(of: updated.union(changes.owners(model))) { identity, entry in
            entry.goesAlong && (updated.contains(identity) || entry.kind == .insert)
        }
    }

    /// The changes of deleted objects that the server refused, by topmost entity and key: an attempt may have been carried
    /// out, and the deletion follows it.
    func refusedEntries(deletedBy changes: ChangeSet) throws(StoreError) -> [RowIdentity: OutboxEntry] {
        let deleted = Set(changes.deletes.map { RowIdentity(entityIndex: root($0.entityIndex), key: $0.key) })
        return try lastEntries(of: deleted) { $1.state == .failed }
    }

    /// The last entry of each of some objects that meets a condition, without deletes. Looked up by key: thousands of others may
    /// wait.
    private func lastEntries(
        of objects: Set<RowIdentity>, where meets: (RowIdentity, OutboxEntry) -> Bool
    ) throws(StoreError) -> [RowIdentity: OutboxEntry] {
        try store.reading { (connection) throws(StoreError) in
            var result: [RowIdentity: OutboxEntry] = [:]
            for (root, list) in Dictionary(grouping: objects, by: \.entityIndex) {
                for (key, found) in try entries(root: root, keys: list.map(\.key), on: connection) {
                    let identity = RowIdentity(entityIndex: root, key: key)
                    result[identity] = found.last { $0.kind != .delete && meets(identity, $0) }
                }
            }
            return result
        }
    }
}

extension MirrorWrite {
    /// The object, named by the topmost entity of its hierarchy.
    var rootedName: RemoteIdentity { RemoteIdentity(entity: entity.rootName, id: write.id) }

    /// The object, by topmost entity and key.
    var rootedIdentity: RowIdentity { RowIdentity(entityIndex: entity.rootIndex, key: identity.key) }
}

extension [String: RemoteValue] {
    /// The primary keys of the members of a relationship, as far as the values have them.
    func members(of relationship: String) -> [String] {
        if case .references(let list)? = self[relationship] { list } else { [] }
    }
}
