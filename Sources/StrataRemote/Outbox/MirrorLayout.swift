import Foundation
import StrataSQLite
import StrataStore

/// The slots of an entity by name, as they are kept with the queued changes of a file: these name slots by their place,
/// which is the order of declaration, and an app with another order or other properties has to find its own.
struct MirrorLayout: Codable, Hashable {
    struct Slot: Codable, Hashable {
        let name: String
        let storage: UInt8
    }

    let slots: [Slot]

    init(_ entity: EntityDescription) {
        slots = entity.slots.map { Slot(name: $0.name, storage: $0.storage.rawValue) }
    }

    var text: String { String(decoding: OutboxEntry.encoded(self), as: UTF8.self) }

    init?(text: String) {
        guard let layout = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = layout
    }

    /// For each slot of an entity the place that it has here, under the name that it had; nil where it is new or has another
    /// type.
    func places(in entity: EntityDescription, _ past: MirrorPast) -> [Int?] {
        let known = Dictionary(slots.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        return entity.slots.map { slot in
            let path = slot.name.split(separator: ".").map(String.init)
            guard let name = past.formerName(path[0], of: entity) else { return nil }
            return known[Slot(name: ([name] + path.dropFirst()).joined(separator: "."), storage: slot.storage.rawValue)]
        }
    }

    /// The names of slots that an entity has no more.
    func missing(_ changed: SlotSet, from places: [Int?]) -> [String] {
        let kept = Set(places.compactMap(\.self))
        return changed.filter { !kept.contains($0) && $0 < slots.count }.map { slots[$0].name }
    }

    /// A packed row of this layout as a row of an entity.
    func row(_ data: Data, _ entity: EntityDescription, _ places: [Int?]) -> Data? {
        guard let old = RowSlab.restored(from: data), old.row.slotCount == slots.count else { return nil }
        var slab = RowEditing.emptyRow(entity: entity, key: old.row.key, room: data.count)
        RowEditing.setVersion(old.row.version, in: slab)
        for (slot, place) in places.enumerated() {
            guard let place, old.row.isPresent(place) else { continue }
            if entity.slots[slot].storage.isInline {
                RowEditing.setWord(old.row.word(place), slot, in: slab)
            } else {
                RowEditing.setBytes(
                    old.row.bytes(place), slot, external: old.row.isExternal(place), layout: entity.slots, in: &slab)
            }
        }
        return slab.stored
    }
}

extension MirrorEntities {
    /// Gives the queued changes of an app with another model the slots that its own names have now. A change of a
    /// property that the model has no more is set aside, and told as failed.
    func adoptOutbox(_ model: ManagedObjectModel, _ past: MirrorPast, on connection: Connection) throws(StoreError) {
        for entity in model.entities {
            let layout = MirrorLayout(entity)
            let number = numbers[entity.index]
            let read = try connection.prepare(
                "SELECT layout FROM _remote_entities WHERE number = ?", persistent: false)
            read.bind(number, at: 1)
            guard try read.step() else { continue }
            let stored = read.isNull(0) ? nil : MirrorLayout(text: read.text(0))
            read.reset()
            if let stored, stored != layout || past.hasRenames(entity) {
                try adopt(entity, from: stored, number, past, on: connection)
                // Properties that are new have not been read yet.
                if stored.places(in: entity, past).contains(nil) {
                    try MirrorState.set(Mirror.cursorName(entity), nil, on: connection)
                }
            }
            if stored != layout {
                let write = try connection.prepare(
                    "UPDATE _remote_entities SET layout = ? WHERE number = ?", persistent: false)
                write.bind(layout.text, at: 1)
                write.bind(number, at: 2)
                try write.run()
            }
        }
    }

    private func adopt(
        _ entity: EntityDescription, from old: MirrorLayout, _ number: Int64, _ past: MirrorPast,
        on connection: Connection
    ) throws(StoreError) {
        let places = old.places(in: entity, past)
        let list = try connection.prepare(
            "SELECT seq, kind, slots, base, members, sent, operations FROM _outbox WHERE entity = ?", persistent: false)
        list.bind(number, at: 1)
        var rows:
            [(seq: Int64, kind: Int64, slots: SlotSet, base: Data?, members: Data?, sent: Data?, operations: Data?)] =
                []
        while try list.step() {
            rows.append(
                (
                    list.integer(0), list.integer(1),
                    list.isNull(2) ? SlotSet() : SlotSet(stored: list.blobBytes(2)),
                    list.isNull(3) ? nil : Data(list.blobBytes(3)),
                    list.isNull(4) ? nil : Data(list.blobBytes(4)), list.isNull(5) ? nil : Data(list.blobBytes(5)),
                    list.isNull(6) ? nil : Data(list.blobBytes(6))
                ))
        }
        for row in rows {
            var slots = SlotSet()
            for (slot, place) in places.enumerated() where place.map(row.slots.contains) == true { slots.insert(slot) }
            let write = try connection.prepare(
                "UPDATE _outbox SET slots = ?, base = ?, members = ?, sent = ?, operations = ? WHERE seq = ?",
                persistent: false)
            write.bind(slots.stored, at: 1)
            if let base = row.base.flatMap({ old.row($0, entity, places) }) {
                write.bind(base, at: 2)
            } else {
                write.bindNull(at: 2)
            }
            let members = row.members.map { renamedMembers($0, entity, past) }
            let sent = row.sent.flatMap { FrozenWrite.renamed($0, entity, past) }
            if let members { write.bind(members, at: 3) } else { write.bindNull(at: 3) }
            if let sent { write.bind(sent, at: 4) } else { write.bindNull(at: 4) }
            let operations = row.operations.flatMap { renamedOperations($0, entity, past) }
            if let operations { write.bind(operations, at: 5) } else { write.bindNull(at: 5) }
            write.bind(row.seq, at: 6)
            try write.run()
            let missing = old.missing(row.slots, from: places)
            guard row.kind == ChangeKind.update.number, !missing.isEmpty else { continue }
            let error = RemoteError(
                .unsupported, domain: "Strata",
                message: "the model has no \(missing.map { "\(entity.name).\($0)" }.joined(separator: ", ")) any more; "
                    + "drop the change, or retry to send the rest of it")
            let fail = try connection.prepare(
                "UPDATE _outbox SET state = 2, sent = NULL, error = ? WHERE seq = ?", persistent: false)
            fail.bind(OutboxEntry.encoded(StoredError(error)), at: 1)
            fail.bind(row.seq, at: 2)
            try fail.run()
        }
    }

    private func renamedOperations(_ data: Data, _ entity: EntityDescription, _ past: MirrorPast) -> Data? {
        var input = ByteReader(data)
        guard let operations = input.operations()?.renamed(entity, past), !operations.isEmpty else { return nil }
        var out = ByteWriter()
        out.operations(operations)
        return out.data
    }

    /// Changes of relationships under their present names. One of a relationship that is gone cannot be told.
    private func renamedMembers(_ data: Data, _ entity: EntityDescription, _ past: MirrorPast) -> Data {
        guard let members = try? JSONDecoder().decode([MemberChange].self, from: data) else { return data }
        return OutboxEntry.encoded(
            members.compactMap { change -> MemberChange? in
                guard let name = past.presentName(change.relationship, of: entity) else { return nil }
                var change = change
                change.relationship = name
                return change
            })
    }
}

extension EntityDescription {
    /// The places of an attribute or a to-one relationship in a row.
    func slots(of name: String) -> [Int] {
        attribute(named: name)?.slots.map { $0 } ?? relationship(named: name)?.slot.map { [$0] } ?? []
    }

    /// The attribute or the to-one relationship that a place in a row belongs to.
    func propertyName(ofSlot index: Int) -> String {
        let slot = slots[index]
        if let relationship = slot.relationshipIndex { return relationships[relationship].name }
        // Elements of a composite attribute are named by that first.
        return attribute(named: slot.name)?.name ?? String(slot.name.prefix { $0 != "." })
    }
}
