import Foundation
import StrataSQLite
import StrataStore

/// What is done to single objects when a change is settled, given up or forgotten.
extension ApplySession {
    /// A row with what a record tells over another one, and the slots that it tells; nil if it is about another entity.
    func row(of record: RemoteRecord, over row: RowPointer) throws(StoreError) -> (slab: RowSlab, slots: SlotSet)? {
        guard let entity = model.entity(named: record.entity), entity.index == row.entityIndex else { return nil }
        var other = self
        let item = Item(record: record, entity: entity, identity: named(record.id, entity))
        let gone = try goneTargets(of: item, row)
        for (destination, id) in references(of: item) {
            let identity = named(id, destination)
            let known = try mirror.known(id, root: destination.rootIndex, on: connection)
            // An object that is not here yet is another one than any that is.
            other.keys[identity] = known?.key ?? gone[identity] ?? -1
        }
        var slab = RowSlab.copy(of: row)
        var slots = SlotSet()
        for (slot, value) in try other.told(item) {
            try set(value, slot, entity, in: &slab)
            slots.insert(slot.index)
        }
        return (slab, slots)
    }

    /// The keys of deleted objects that a row still refers to, by the names that a record has for them.
    private func goneTargets(of item: Item, _ row: RowPointer) throws(StoreError) -> [RemoteIdentity: Int64] {
        let links = DeletedLinks(mirror: mirror, connection: connection)
        if try links.isEmpty { return [:] }
        let owner = RemoteIdentity(entity: item.entity.name, id: mirror.canonical(item.record.id, item.entity))
        var result: [RemoteIdentity: Int64] = [:]
        for relationship in item.entity.relationships {
            guard let slot = relationship.slot, row.isPresent(slot),
                case .reference(let id?)? = item.record.values[relationship.name]
            else { continue }
            let destination = model.destination(of: relationship)
            let target = RemoteIdentity(entity: destination.rootName, id: mirror.canonical(id, destination))
            let key = Int64(bitPattern: row.word(slot))
            guard try transaction.rows(entityIndex: destination.rootIndex, keys: [key]).count == 0,
                try links.contains((target, owner))
            else { continue }
            result[named(id, destination)] = key
        }
        return result
    }

    /// A version beyond all that an object had before it was deleted: a context that has one of those is in conflict with an object
    /// that came back. The upper half of a version counts how often it did.
    static func revived(_ version: Int64) -> Int64 { ((version >> 32) + 1) << 32 }

    /// Gives an object values that it had before: some slots, or all of a deleted one.
    mutating func putBack(_ base: RowSlab, slots: SlotSet?, _ entry: OutboxEntry) throws(StoreError) {
        let entity = model.entities[entry.identity.entityIndex]
        let found = try transaction.rows(entityIndex: entity.rootIndex, keys: [entry.identity.key])
        var slab = found.count > 0 ? RowSlab.copy(of: found[0].row) : RowSlab.copy(of: base.row)
        for slot in entity.slots where slot.storage == .key && base.row.isPresent(slot.index) {
            // What it referred to may have gone meanwhile.
            guard let index = slot.relationshipIndex else { continue }
            let key = Int64(bitPattern: base.row.word(slot.index))
            let target = try transaction.rows(entityIndex: entity.relationships[index].destinationIndex, keys: [key])
            if target.count == 0 { RowEditing.setNil(slot.index, in: base) }
        }
        guard found.count > 0 else {
            RowEditing.setVersion(Self.revived(base.row.version), in: slab)
            for slot in entity.slots where slot.storage == .key && !base.row.isPresent(slot.index) {
                RowEditing.setNil(slot.index, in: slab)
            }
            written.insert(slab)
            return
        }
        guard let slots, !slots.isEmpty else { return }
        for slot in slots { RowEditing.copySlot(slot, layout: entity.slots, from: base.row, to: &slab) }
        RowEditing.setVersion(found[0].row.version + 1, in: slab)
        written.update(to: slab, slots: slots, from: found[0])
    }

    /// Makes an object a placeholder.
    mutating func empty(_ entity: EntityDescription, _ key: Int64) throws(StoreError) {
        let found = try transaction.rows(entityIndex: entity.rootIndex, keys: [key])
        guard found.count > 0, found[0].row.version > 0 else { return }
        let old = found[0]
        mirror.echoes.empty(RowIdentity(entityIndex: entity.rootIndex, key: key), next: Self.revived(old.row.version))
        let own = model.entities[old.row.entityIndex]
        let primaryKey = mirror.primaryKeys[own.index].index
        var slab = RowEditing.emptyRow(entity: own, key: key)
        RowEditing.copySlot(primaryKey, layout: own.slots, from: old.row, to: &slab)
        let emptied = own.slots.filter { $0.isStored && $0.index != primaryKey }
        written.update(to: slab, slots: SlotSet(emptied.map(\.index)), from: old)
    }

    /// Takes a placeholder away whose object is here by another key now. Who refers to it refers to the object from now on, and is
    /// read again for the order of members.
    /// - Parameter own: The row of the object, as it was written by this transaction.
    /// - Returns: Whether it was a placeholder.
    mutating func replacePlaceholder(
        _ key: Int64, by own: RowReference, _ id: String, _ entity: EntityDescription
    ) throws(StoreError) -> Bool {
        let found = try transaction.rows(entityIndex: entity.rootIndex, keys: [key])
        guard found.count > 0, found[0].row.version == 0 else { return false }
        let links = DeletedLinks(mirror: mirror, connection: connection)
        try deleteNotingLinks(found[0])
        try links.restore([id], root: entity.rootIndex)
        var slab = RowSlab.copy(of: own.row)
        let slots = try takeOverReferences(found[0], own, into: &slab)
        if !slots.isEmpty { redirect(own, to: slab, slots) }
        try write()
        return true
    }

    /// Takes all objects of a hierarchy away, placeholders included.
    mutating func removeAll(_ entity: EntityDescription) throws(StoreError) {
        var keys: [Int64] = []
        let list = try connection.statement("SELECT key FROM _remote WHERE root = ? AND key IS NOT NULL")
        list.bind(mirror.entities.numbers[entity.index], at: 1)
        while try list.step() { keys.append(list.integer(0)) }
        try transaction.rows(entityIndex: entity.index, keys: keys).forEach { (slab, row) throws(StoreError) in
            written.delete(RowReference(slab: slab, row: row))
        }
    }
}
