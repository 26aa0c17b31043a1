import Foundation
import StrataSQLite
import StrataStore

/// A new object that is here twice: a pull has told it by the name that the server gave it, before its creation was
/// answered. The object that was made here stays, and takes over what was done here with its double: the changes that
/// wait, and what refers to it.
extension ApplySession {
    /// - Parameters:
    ///   - double: The row that is about to go.
    ///   - own: The row that stays.
    ///   - slab: What the row that stays is to be.
    /// - Returns: The slots of the slab that were changed.
    mutating func takeOver(
        _ double: RowReference, _ own: RowReference, into slab: inout RowSlab
    ) throws(StoreError) -> SlotSet {
        var changed = try takeOverEntries(double, own, into: &slab)
        // Changes of members that wait name the object that stays.
        let (key, ownKey) = (double.row.key, own.row.key)
        try changeMembers(of: mirror.root(own.row.entityIndex)) { change in
            if change.added.remove(key) != nil { change.added.insert(ownKey) }
            if let id = change.removed.removeValue(forKey: key) { change.removed[ownKey] = id }
        }
        changed.formUnion(try takeOverReferences(double, own, into: &slab))
        return changed
    }

    private mutating func takeOverEntries(
        _ double: RowReference, _ own: RowReference, into slab: inout RowSlab
    ) throws(StoreError) -> SlotSet {
        let root = mirror.root(own.row.entityIndex)
        let entity = model.entities[own.row.entityIndex]
        var changed = SlotSet()
        for var entry in try mirror.entries(root: root, key: double.row.key, on: connection) {
            guard entry.kind == .update, double.row.entityIndex == own.row.entityIndex else {
                try mirror.remove(entry.seq, on: connection)
                continue
            }
            let waiting = try mirror.entries(root: root, key: own.row.key, on: connection)
            // Of two assignments the later one counts.
            let assigned = waiting.filter { $0.kind == .update && $0.changed > entry.changed }.reduce(into: SlotSet()) {
                for slot in $1.slots where $1.operations[slot] == nil { $0.insert(slot) }
            }
            for slot in entry.slots where !assigned.contains(slot) {
                if let type = entity.slots[slot].type,
                    let value = entry.operations[slot]?.applied(to: slab.row.value(entity.slots[slot]), of: type)
                {
                    try set(value, entity.slots[slot], entity, in: &slab)
                } else {
                    RowEditing.copySlot(slot, layout: entity.slots, from: double.row, to: &slab)
                }
                changed.insert(slot)
            }
            try takeOverMembers(entry.members, own)
            let last = waiting.last { $0.kind == .update && $0.state != .sent }
            if entry.state != .sent { entry.keep(SlotSet(entry.slots.filter { !assigned.contains($0) })) }
            if entry.state != .sent, var open = last {
                open.base = mirror.joinedBase(open, entry)
                open.changed = max(open.changed, entry.changed)
                open.secretNames.formUnion(entry.secretNames)
                _ = open.follow(.update, slots: entry.slots, members: entry.members, operations: entry.operations)
                try mirror.write(open, on: connection)
                try mirror.remove(entry.seq, on: connection)
            } else {
                entry.identity.key = own.row.key
                try mirror.write(entry, on: connection)
                if let last { try queue(last, behind: entry) }
            }
        }
        return changed
    }

    /// What waits of the object that stays is told after a change of its double that is under way, and is made to what comes of it.
    private func queue(_ waiting: OutboxEntry, behind sent: OutboxEntry) throws(StoreError) {
        var waiting = waiting
        if let write = mirror.sentWrite(of: sent) {
            waiting.base = try mirror.base(of: waiting, behind: write, on: connection)
        }
        try mirror.remove(waiting.seq, on: connection)
        waiting.seq = 0
        try mirror.add([waiting], on: connection)
    }

    private mutating func takeOverMembers(_ members: [MemberChange], _ own: RowReference) throws(StoreError) {
        let entity = model.entities[own.row.entityIndex]
        for change in members {
            guard let relationship = entity.relationship(named: change.relationship),
                case .pairs(isPrimary: true) = relationship.storage
            else { continue }
            addPairs(
                relationship, entity.index, own.row.key, change.added.sorted(), change.removed.keys.sorted())
        }
    }

    /// What refers to the double refers to the object that stays.
    /// - Returns: The slots in which the object that stays refers to itself by that.
    mutating func takeOverReferences(
        _ double: RowReference, _ own: RowReference, into slab: inout RowSlab
    ) throws(StoreError) -> SlotSet {
        let root = mirror.root(own.row.entityIndex)
        var referring: [RowIdentity: [String]] = [:]
        for entity in model.entities {
            for relationship in entity.relationships
            where relationship.declaringEntity == entity.name && mirror.root(relationship.destinationIndex) == root {
                let owners = try mirror.store.owners(
                    entityIndex: entity.index, relationshipIndex: relationship.index, members: [double.row.key],
                    on: connection
                ).map(\.owner).filter { $0 != double.row.key || entity.rootIndex != root }
                for owner in owners {
                    if relationship.slot == nil {
                        addPairs(relationship, entity.index, owner, [own.row.key], [])
                    } else {
                        referring[RowIdentity(entityIndex: entity.rootIndex, key: owner), default: []].append(
                            relationship.name)
                    }
                }
            }
        }
        var changed = SlotSet()
        for (root, group) in Dictionary(grouping: referring, by: \.key.entityIndex) {
            let rows = try transaction.rows(entityIndex: root, keys: group.map(\.key.key).sorted()).rows
            // Placeholders are read before anybody sees them.
            for row in rows where row.row.version > 0 {
                let entity = model.entities[row.row.entityIndex]
                let isOwn = row.row.key == own.row.key && root == mirror.root(own.row.entityIndex)
                var other = isOwn ? slab : RowSlab.copy(of: row.row)
                var slots = SlotSet()
                for name in referring[RowIdentity(entityIndex: root, key: row.row.key)] ?? [] {
                    guard let slot = entity.relationship(named: name)?.slot else { continue }
                    try set(.object(own.row.key), entity.slots[slot], entity, in: &other)
                    slots.insert(slot)
                }
                if isOwn {
                    slab = other
                    changed.formUnion(slots)
                    continue
                }
                redirect(row, to: other, slots)
            }
        }
        return changed
    }

    /// Has a row refer to an object by the key that this has from now on. Contexts that have the row are in no conflict with that.
    mutating func redirect(_ row: RowReference, to new: RowSlab, _ slots: SlotSet) {
        let version = row.row.version
        RowEditing.setVersion(version + 1, in: new)
        written.update(to: new, slots: slots, from: row)
        mirror.echoes.add(
            RowIdentity(entityIndex: mirror.root(row.row.entityIndex), key: row.row.key),
            OwnEchoes.Echo(from: version, to: version + 1, slots: SlotSet(), isOwn: true))
    }
}
