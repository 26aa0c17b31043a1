import Foundation
import StrataSQLite
import StrataStore

/// What refers to new objects whose primary keys the server has still to give.
extension Mirror {
    /// Those of some new objects that the server is to name and has not made yet, by topmost entity and key.
    func unnamed(among identities: Set<RemoteIdentity>) throws(StoreError) -> Set<RowIdentity> {
        let assigned = identities.filter { identity in
            model.entity(named: identity.entity).map { server.assigning.contains($0.index) } ?? false
        }
        if assigned.isEmpty { return [] }
        return Set(
            try insertions(of: assigned).map {
                RowIdentity(entityIndex: root($0.identity.entityIndex), key: $0.identity.key)
            })
    }

    /// Whether a write that lists the members of a relationship depends on those being there. The other end of a to-one inverse
    /// refers to the owner itself, and may come later, unless the server has still to give it the key by which it is listed.
    func depends(on relationship: RelationshipDescription) -> Bool {
        if case .pairs = relationship.storage { return true }
        return server.assigning.contains(relationship.destinationIndex)
    }

    /// Takes the references to objects that have no key yet out of the write of a new object, and queues a change after it
    /// that sends them.
    /// - Parameter unnamed: The objects without a key, by topmost entity and key.
    func withhold(
        _ unnamed: Set<RowIdentity>, from write: inout MirrorWrite, of entry: OutboxEntry, on connection: Connection
    ) throws(StoreError) {
        guard entry.kind == .insert, entry.sent == nil, !unnamed.isEmpty else { return }
        let names = try unnamedIDs(unnamed, on: connection)
        let root = root(entry.identity.entityIndex)
        let found = try store.rows(entityIndex: root, keys: [entry.identity.key], on: connection)
        guard found.count > 0 else { return }
        let base = RowSlab.copy(of: found[0].row)
        var slots = SlotSet()
        var members: [MemberChange] = []
        for relationship in write.entity.relationships {
            let ids = names[self.root(relationship.destinationIndex)] ?? [:]
            switch write.write.values[relationship.name] {
            case .reference(let id?)? where ids[id] != nil:
                guard let slot = relationship.slot else { continue }
                write.write.values[relationship.name] = .reference(nil)
                RowEditing.setNil(slot, in: base)
                slots.insert(slot)
            case .references(let list)?:
                let left = list.compactMap { ids[$0] }
                if left.isEmpty { continue }
                write.write.values[relationship.name] = .references(list.filter { ids[$0] == nil })
                members.append(
                    MemberChange(
                        relationship: relationship.name, added: Set(left), isOrder: relationship.isOrdered))
            default: continue
            }
        }
        guard !slots.isEmpty || !members.isEmpty else { return }
        let known = names.values.reduce(into: Set<String>()) { $0.formUnion($1.keys) }
        write.references = write.references.filter { !known.contains($0.id) }
        let follower = OutboxEntry(
            seq: 0, identity: entry.identity, id: "", kind: .update, state: .waiting, slots: slots, members: members,
            base: Data(bytes: base.row.base, count: base.row.byteCount), changed: entry.changed, attempts: 0,
            secretNames: [])
        try add([follower], on: connection)
    }

    /// The keys of objects by topmost entity and the primary key that they have here.
    private func unnamedIDs(
        _ identities: Set<RowIdentity>, on connection: Connection
    ) throws(StoreError) -> [Int: [String: Int64]] {
        var result: [Int: [String: Int64]] = [:]
        for (root, list) in Dictionary(grouping: identities, by: \.entityIndex) {
            let names = try ids(entityIndex: root, keys: list.map(\.key), placeholdersOnly: false, on: connection)
            for (key, name) in names { result[root, default: [:]][name.id] = key }
        }
        return result
    }

    /// Whether a change does no more than fill references that were nil, and add members: what was withheld from a new object.
    func fillsOnly(_ entry: OutboxEntry) -> Bool {
        guard entry.kind == .update, let base = entry.base.flatMap(RowSlab.restored(from:)) else { return false }
        let layout = model.entities[entry.identity.entityIndex].slots
        return entry.slots.allSatisfy { layout[$0].storage == .key && !base.row.isPresent($0) }
            && entry.members.allSatisfy { $0.removed.isEmpty && !$0.isOrder }
    }

    /// Whether the server has none of the references that such a change fills.
    func lacks(_ entry: OutboxEntry, _ record: RemoteRecord) -> Bool {
        let entity = model.entities[entry.identity.entityIndex]
        return entry.slots.allSatisfy { slot in
            switch record.values[entity.slots[slot].name] {
            case nil, .reference(nil)?: true
            default: false
            }
        }
    }
}
