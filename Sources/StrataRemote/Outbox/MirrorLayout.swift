import Foundation
import StrataSQLite

/// The slots of an entity by name, as they stand beside the queued changes of a file: these name slots by their place,
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

    /// For each slot of an entity the place that it has here; nil where it is new or has another type.
    func places(in entity: EntityDescription) -> [Int?] {
        let known = Dictionary(slots.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        return entity.slots.map { known[Slot(name: $0.name, storage: $0.storage.rawValue)] }
    }

    /// The names of slots that an entity has no more.
    func missing(_ changed: SlotSet, from entity: EntityDescription) -> [String] {
        let kept = Set(places(in: entity).compactMap(\.self))
        return changed.filter { !kept.contains($0) && $0 < slots.count }.map { slots[$0].name }
    }

    /// A packed row of this layout as a row of an entity.
    func row(_ data: Data, _ entity: EntityDescription) -> Data? {
        guard let old = RowSlab.restored(from: data), old.row.slotCount == slots.count else { return nil }
        var slab = RowEditing.emptyRow(entity: entity, key: old.row.key, room: data.count)
        RowEditing.setVersion(old.row.version, in: slab)
        for (slot, place) in places(in: entity).enumerated() {
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
    func adoptOutbox(_ model: ManagedObjectModel, on connection: Connection) throws(StoreError) {
        for entity in model.entities {
            let layout = MirrorLayout(entity)
            let number = numbers[entity.index]
            let read = try connection.prepare(
                "SELECT layout FROM _remote_entities WHERE number = ?", persistent: false)
            read.bind(number, at: 1)
            guard try read.step() else { continue }
            let stored = read.isNull(0) ? nil : MirrorLayout(text: read.text(0))
            read.reset()
            if let stored, stored != layout {
                try adopt(entity, from: stored, number, on: connection)
                // Properties that are new have not been read yet.
                if layout.slots.contains(where: { !stored.slots.contains($0) }) {
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
        _ entity: EntityDescription, from old: MirrorLayout, _ number: Int64, on connection: Connection
    ) throws(StoreError) {
        let places = old.places(in: entity)
        let list = try connection.prepare(
            "SELECT seq, kind, slots, base FROM _outbox WHERE entity = ?", persistent: false)
        list.bind(number, at: 1)
        var rows: [(seq: Int64, kind: Int64, slots: SlotSet, base: Data?)] = []
        while try list.step() {
            rows.append(
                (
                    list.integer(0), list.integer(1),
                    list.isNull(2) ? SlotSet() : SlotSet(stored: list.blobBytes(2)),
                    list.isNull(3) ? nil : Data(list.blobBytes(3))
                ))
        }
        for row in rows {
            var slots = SlotSet()
            for (slot, place) in places.enumerated() where place.map(row.slots.contains) == true { slots.insert(slot) }
            let write = try connection.prepare(
                "UPDATE _outbox SET slots = ?, base = ? WHERE seq = ?", persistent: false)
            write.bind(slots.stored, at: 1)
            if let base = row.base.flatMap({ old.row($0, entity) }) {
                write.bind(base, at: 2)
            } else {
                write.bindNull(at: 2)
            }
            write.bind(row.seq, at: 3)
            try write.run()
            let missing = old.missing(row.slots, from: entity)
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
}
