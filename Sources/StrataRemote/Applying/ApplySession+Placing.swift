import Foundation
import StrataSQLite
import StrataStore

/// Puts the values of records into rows, below what was changed here.
extension ApplySession {
    /// The slots that a record tells, with their values.
    func told(_ item: Item) throws(StoreError) -> [(slot: SlotDescription, value: Value)] {
        var result: [(slot: SlotDescription, value: Value)] = []
        let entity = item.entity
        for (name, value) in item.record.values {
            if let attribute = entity.attribute(named: name) {
                guard case .value(let value) = value else { continue }
                if case .composite = attribute.type {
                    var elements: [String: Value] = [:]
                    if case .composite(let given) = value { elements = given }
                    for index in attribute.slots {
                        let slot = entity.slots[index]
                        result.append((slot, elements[String(slot.name.dropFirst(name.count + 1))] ?? .null))
                    }
                } else if let index = attribute.slots.first {
                    result.append((entity.slots[index], value))
                }
            } else if let relationship = entity.relationship(named: name), let slot = relationship.slot {
                guard case .reference(let id) = value else { continue }
                let identity = id.map { named($0, model.destination(of: relationship)) }
                let key = identity.flatMap { gone.contains($0) ? nil : keys[$0] }
                result.append((entity.slots[slot], key.map(Value.object) ?? .null))
            }
        }
        let primaryKey = mirror.primaryKeys[entity.index]
        guard let id = PrimaryKey.value(item.record.id, primaryKey) else {
            throw .invalidData(
                entity: entity.name, property: primaryKey.name, key: keys[item.identity] ?? 0,
                reason:
                    "the server's primary key \"\(item.record.id)\" is not of type \(primaryKey.type?.name ?? "key")")
        }
        return result.filter { $0.slot.isTold && $0.slot.index != primaryKey.index } + [(primaryKey, id)]
    }

    func set(
        _ value: Value, _ slot: SlotDescription, _ entity: EntityDescription, in slab: inout RowSlab
    ) throws(StoreError) {
        guard RowEditing.setValue(value, slot, layout: entity.slots, in: &slab) else {
            throw .invalidData(
                entity: entity.name, property: slot.name, key: slab.row.key,
                reason: "the server's \(value.kind) \(value) is not of type \(slot.type?.name ?? "key")")
        }
    }

    // MARK: Placing

    mutating func place(_ item: Item) throws(StoreError) {
        guard let key = keys[item.identity] else { return }
        let entity = item.entity
        let told = try told(item)
        let row = local.rows[RowIdentity(entityIndex: entity.rootIndex, key: key)]
        if item.isPart, row == nil || row?.row.version == 0 { return try placePart(item, key, row, told) }
        guard let old = row else {
            var slab = RowEditing.emptyRow(entity: entity, key: key)
            for (slot, value) in told { try set(value, slot, entity, in: &slab) }
            try insert(slab, item)
            return note(item)
        }
        if old.row.version == 0 { return try fill(old, item, told) }
        guard old.row.entityIndex == entity.index else {
            result.unreadable.append(
                UnreadableRecord(
                    identity: item.record.identity,
                    error: RemoteError(
                        .invalidAnswer, domain: "Strata",
                        message:
                            "the server says that \(model.entities[old.row.entityIndex].name) \(item.record.id) is a "
                            + "\(entity.name); purge it and read it again", identity: item.record.identity)))
            return
        }
        try update(old, item, told)
    }

    /// Puts some values into a placeholder, which it stays.
    private mutating func placePart(
        _ item: Item, _ key: Int64, _ old: RowReference?, _ told: [(slot: SlotDescription, value: Value)]
    ) throws(StoreError) {
        let entity = item.entity
        var slab: RowSlab
        if let old, old.row.entityIndex == entity.index {
            slab = RowSlab.copy(of: old.row)
        } else {
            if old != nil { notes.entities[entity.index, default: []].append(key) }
            slab = RowEditing.emptyRow(entity: entity, key: key)
        }
        var slots = SlotSet()
        for (slot, value) in told {
            try set(value, slot, entity, in: &slab)
            slots.insert(slot.index)
        }
        RowEditing.setVersion(0, in: slab)
        written.parts.updates.append(.init(row: RowReference(slab: slab, row: slab.row), slots: slots, baseVersion: 0))
    }

    mutating func insert(_ slab: RowSlab, _ item: Item) throws(StoreError) {
        let deleted = local.deletedVersions[RowIdentity(entityIndex: item.entity.rootIndex, key: slab.row.key)]
        RowEditing.setVersion(deleted.map(Self.revived) ?? 1, in: slab)
        written.insert(slab)
        noteMembers(item, slab.row.key, entries: [])
    }

    /// Gives a placeholder its values.
    mutating func fill(
        _ old: RowReference, _ item: Item, _ told: [(slot: SlotDescription, value: Value)]
    ) throws(StoreError) {
        let entity = item.entity
        var slab = RowEditing.emptyRow(entity: entity, key: old.row.key)
        for (slot, value) in told { try set(value, slot, entity, in: &slab) }
        if old.row.entityIndex != entity.index { notes.entities[entity.index, default: []].append(old.row.key) }
        RowEditing.setVersion(mirror.echoes.filledVersion, in: slab)
        // What refers to it may have come without saying so here: that is not taken away.
        var slots = SlotSet()
        for slot in entity.slots where slot.isStored && (slab.row.isPresent(slot.index)) { slots.insert(slot.index) }
        written.update(to: slab, slots: slots, from: old)
        noteMembers(item, old.row.key, entries: [])
        note(item)
    }

    /// Puts what is told under what was changed here.
    mutating func update(
        _ old: RowReference, _ item: Item, _ told: [(slot: SlotDescription, value: Value)]
    ) throws(StoreError) {
        let entity = item.entity
        var entries = entries(entity.rootIndex, old.row.key)
        // Nobody else can have changed what the server does not know; if it does, sending it will tell. If it is deleted here
        // before, the server's object is another one, which pulls have passed by then.
        if entries.contains(where: { $0.kind == .insert && $0.seq != occasion.settled?.seq }) {
            result.overtaken.insert(item.record.identity)
            return
        }
        entries.removeAll { $0.kind == .delete }
        let settled = occasion.settled
        var changedHere = SlotSet()
        for entry in entries {
            changedHere.formUnion(entry.seq == settled?.seq ? settled?.slots ?? SlotSet() : entry.slots)
        }
        var slab = RowSlab.copy(of: old.row)
        var changed = SlotSet()
        for (slot, value) in told {
            var value = value
            if changedHere.contains(slot.index) {
                guard let done = redone(on: value, slot, entries) else { continue }
                value = done
            }
            try set(value, slot, entity, in: &slab)
            if !slab.row.hasSameValue(as: old.row, slot: slot.index, storage: slot.storage) {
                changed.insert(slot.index)
            }
        }
        if !changed.isEmpty {
            RowEditing.setVersion(old.row.version + 1, in: slab)
            written.update(to: slab, slots: changed, from: old)
        }
        noteOwn(item, old.row, slab.row, changed)
        noteMembers(item, old.row.key, entries: entries)
        if try rebase(entries, told, item.record, old.row, entity), !item.isPart { note(item) }
    }

    /// Notes that the server has carried out an entry whatever others have made of its object.
    /// - Parameter slots: What the entry has changed.
    mutating func notePassing(_ entry: OutboxEntry, _ slots: SlotSet) {
        let root = mirror.root(entry.identity.entityIndex)
        occasion.passing[RowIdentity(entityIndex: root, key: entry.identity.key)] = slots
    }

    /// Notes which contexts are not in conflict with the server's state of an object.
    private func noteOwn(_ item: Item, _ old: RowPointer, _ new: RowPointer, _ changed: SlotSet) {
        let hasUnknown = mirror.online.unknown.isWatching
        if occasion.isOwnEcho == nil || changed.isEmpty, !hasUnknown { return }
        let entity = item.entity
        let identity = RowIdentity(entityIndex: entity.rootIndex, key: old.key)
        var others: [Int] = []
        let passed = occasion.passing[identity]
        // The first answers to a push need not tell apart what others have changed.
        if hasUnknown || occasion.isOwnEcho == false || passed != nil {
            let server = ServerProperties(item.known, item.record)
            others = changed.filter { !server.isSame(new, old, entity.slots[$0]) && passed?.contains($0) != true }
        }
        if let isOwnEcho = occasion.isOwnEcho, !changed.isEmpty {
            mirror.echoes.add(
                identity,
                OwnEchoes.Echo(
                    from: old.version, to: new.version, slots: changed,
                    isOwn: isOwnEcho && passed == nil || others.isEmpty))
        }
        if !hasUnknown { return }
        let names = others.map { entity.propertyName(ofSlot: $0) }
        let step = changed.isEmpty ? nil : RowStep(from: old.version, to: new.version)
        mirror.online.unknown.noteTold(identity, step) { unknown in
            names.allSatisfy { unknown.mayHaveMade(item.record.values[$0], of: $0) }
        }
    }

    /// What operations that wait make of the server's value.
    /// - Returns: nil if the slot was assigned here, and while it is not known whether an operation was carried out: the
    ///   server's value may be that of before or after it.
    private func redone(on told: Value, _ slot: SlotDescription, _ entries: [OutboxEntry]) -> Value? {
        guard let type = slot.type else { return nil }
        var value = told
        for var entry in entries {
            if let settled = occasion.settled, entry.seq == settled.seq { entry = settled }
            guard entry.slots.contains(slot.index) else { continue }
            guard let done = entry.operations[slot.index], !entry.mayBeCarriedOut,
                let next = done.applied(to: value, of: type)
            else { return nil }
            value = next
        }
        return value
    }

    /// Notes what the server told in the bases of waiting entries.
    /// - Returns: Whether nothing that was changed here has another value at the server than it had when it was changed
    ///   here. Else the entries stay as they are based, so that the conflict is met when they are sent.
    private mutating func rebase(
        _ entries: [OutboxEntry], _ told: [(slot: SlotDescription, value: Value)], _ record: RemoteRecord,
        _ old: RowPointer, _ entity: EntityDescription
    ) throws(StoreError) -> Bool {
        if entries.isEmpty { return true }
        var agrees = true
        // The change after the one that the server reports was made to what that sent, whatever the server made of it.
        let isOwn = occasion.completed?.isOwn ?? false
        let sent = occasion.completed.flatMap { (entry, _) in
            entry.sent.flatMap { FrozenWrite.decode($0, entry, mirror) }
        }
        // What an entry changes is the base of those after it, whatever the server still has.
        var changedBefore = SlotSet()
        for (position, var entry) in entries.enumerated() {
            let isSettled = entry.seq == occasion.settled?.seq
            if isSettled, let settled = occasion.settled { entry = settled }
            defer { changedBefore.formUnion(entry.slots) }
            let base = entry.base.flatMap(RowSlab.restored(from:)) ?? RowSlab.copy(of: old)
            var slab = RowSlab.copy(of: base.row)
            for (slot, value) in told {
                var trial = slab
                if changedBefore.contains(slot.index), !entry.slots.contains(slot.index) {
                    continue
                } else if entry.operations[slot.index] != nil, !entry.mayBeCarriedOut, !isSettled {
                    // It can be done to any value.
                    try set(value, slot, entity, in: &slab)
                } else if entry.slots.contains(slot.index), !isSettled {
                    trial = RowSlab.copy(of: slab.row)
                    try set(value, slot, entity, in: &trial)
                    if trial.row.hasSameValue(as: base.row, slot: slot.index, storage: slot.storage) { continue }
                    if position == 0, let sent,
                        isOwn && Self.isSent(base, slot, sent, entity) || Self.tells(record, slot, sent)
                    {
                        slab = trial
                    } else {
                        agrees = false
                    }
                } else {
                    try set(value, slot, entity, in: &slab)
                }
            }
            // An answer to a change may tell only its time. What it leaves out is as it was: nobody else's change came first.
            if !isSettled, !isOwn,
                !entry.slots.allSatisfy({ index in told.contains { $0.slot.index == index } })
            {
                agrees = agrees && entry.slots.isEmpty
            }
            entry.base = slab.stored
            notes.entries.append(entry)
        }
        return agrees
    }

    /// Whether a row has in a slot what a write has sent.
    private static func isSent(
        _ row: RowSlab, _ slot: SlotDescription, _ write: MirrorWrite, _ entity: EntityDescription
    ) -> Bool {
        guard case .value(let value)? = write.write.values[slot.name] else { return false }
        var trial = RowSlab.copy(of: row.row)
        return RowEditing.setValue(value, slot, layout: entity.slots, in: &trial)
            && trial.row.hasSameValue(as: row.row, slot: slot.index, storage: slot.storage)
    }

    /// Whether the server has the target in a slot that a write has sent. Rows do not tell if the target is gone here by now.
    private static func tells(_ record: RemoteRecord, _ slot: SlotDescription, _ write: MirrorWrite) -> Bool {
        guard case .reference(let sent?)? = write.write.values[slot.name] else { return false }
        return record.values[slot.name] == .reference(sent)
    }

    /// Notes the server's version of an object.
    private mutating func note(_ item: Item) {
        notes.versions.append(
            (
                mirror.entities.numbers[item.entity.rootIndex], item.record.id, item.record.version,
                item.record.modified
            ))
    }
}
