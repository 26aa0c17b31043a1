import Foundation
import StrataSQLite

/// Writes local changes into the outbox, as part of a save. What waits already takes later changes in: a new object
/// that is changed is still a new one, and one that is deleted again was never there.
struct OutboxWriter {
    private let mirror: Mirror
    private let connection: Connection
    private let changed: Double
    /// Whether anything waited before, so that it has to be looked at.
    private var isEmpty = false
    /// New objects whose primary key belonged to one that was deleted here, with the topmost entity: the server has
    /// it, so it hears of a change.
    var remade: Set<RowIdentity> = []
    /// Objects that this save has entered already.
    private var entered: Set<RowIdentity> = []

    init(mirror: Mirror, connection: Connection) {
        self.mirror = mirror
        self.connection = connection
        changed = mirror.now().timeIntervalSinceReferenceDate
    }

    mutating func prepare() throws(StoreError) {
        isEmpty = try connection.integer("SELECT 1 FROM _outbox LIMIT 1") == nil
    }

    // MARK: Names

    /// Says which key the object of a primary key has from now on; nil for none.
    func name(_ id: String, root: Int, key: Int64?) throws(StoreError) {
        let statement = try connection.statement("UPDATE _remote SET key = ? WHERE root = ? AND id = ?")
        if let key { statement.bind(key, at: 1) } else { statement.bindNull(at: 1) }
        statement.bind(mirror.entities.numbers[root], at: 2)
        statement.bind(id, at: 3)
        try statement.run()
    }

    /// Enters the primary keys of objects as they stand in their rows, without those that are known already.
    /// - Returns: How many were entered.
    func name(_ keys: [Int64], root: Int) throws(StoreError) -> Int {
        let slot = mirror.primaryKeys[root]
        guard let place = mirror.store.place(entityIndex: root, slot: slot.index) else { return 0 }
        // In their order, so that the table grows page by page.
        let statement = try connection.statement(
            """
            INSERT INTO _remote(root, id, key) SELECT ?, \(PrimaryKey.text(of: "t.\(place.column)", slot)) AS name, \
            t._id FROM strata_list(?) AS l CROSS JOIN \(place.table) AS t ON t._id = l.value WHERE true ORDER BY name \
            ON CONFLICT DO NOTHING
            """)
        statement.bind(mirror.entities.numbers[root], at: 1)
        statement.bind(ValueList(keys: keys), at: 2)
        try statement.run()
        return connection.changes
    }

    /// The object of a primary key is gone for good. What refers to it stays noted; see ``DeletedLinks``.
    func forget(_ id: String, root: Int) throws(StoreError) {
        let links = DeletedLinks(mirror: mirror, connection: connection)
        for index in mirror.model.entities[root].descendantIndexes {
            try links.forget(owner: id, entityIndex: index)
        }
        let statement = try connection.statement("DELETE FROM _remote WHERE root = ? AND id = ?")
        statement.bind(mirror.entities.numbers[root], at: 1)
        statement.bind(id, at: 2)
        try statement.run()
    }

    // MARK: Entries

    /// New objects, by one statement for each entity: one for each object would cost more than the save.
    mutating func insert(_ rows: [RowPointer]) throws(StoreError) {
        var keys: [Int: [Int64]] = [:]
        for row in rows {
            if !remade.isEmpty, remade.contains(identity(of: row)), try remake(row) { continue }
            keys[row.entityIndex, default: []].append(row.key)
        }
        for (entityIndex, keys) in keys.sorted(by: { $0.key < $1.key }) {
            let statement = try connection.statement(
                """
                INSERT INTO _outbox(root, key, entity, kind, changed) SELECT ?, value, ?, 0, ? FROM strata_list(?)
                """)
            statement.bind(mirror.entities.numbers[mirror.root(entityIndex)], at: 1)
            statement.bind(mirror.entities.numbers[entityIndex], at: 2)
            statement.bind(changed, at: 3)
            statement.bind(ValueList(keys: keys), at: 4)
            try statement.run()
        }
    }

    /// - Parameter base: The row before the change.
    mutating func update(_ base: RowPointer, slots: SlotSet, members: [MemberChange] = []) throws(StoreError) {
        guard let found = try waiting(base) else {
            return try add(base, kind: .update, id: nil, slots: slots, members: members)
        }
        var waiting = found.entry
        if found.isBehind { rebase(&waiting, on: base, slots) }
        if waiting.follow(.update, slots: slots, members: members) { try write(waiting) }
    }

    mutating func delete(_ row: RowPointer, id: String) throws(StoreError) {
        guard var waiting = try waiting(row)?.entry else { return try add(row, kind: .delete, id: id) }
        if waiting.follow(.delete, id: id) { return try write(waiting) }
        try forget(id, root: mirror.root(row.entityIndex))
        try mirror.remove(waiting.seq, on: connection)
    }

    /// Notes which secrets go along with the changes of objects.
    func noteSecrets(_ rows: [RowPointer]) throws(StoreError) {
        let secrets = mirror.secrets.names
        if secrets.isEmpty { return }
        for row in rows {
            guard let names = secrets[identity(of: row)] else { continue }
            for var entry in try mirror.entries(root: mirror.root(row.entityIndex), key: row.key, on: connection)
            where entry.state != .sent && entry.kind != .delete {
                entry.secretNames.formUnion(names)
                try mirror.write(entry, on: connection)
            }
        }
    }

    /// Deleted here and made again before the server heard of it: a change of everything.
    /// - Returns: false if the delete is under way; behind it comes a new object.
    private mutating func remake(_ row: RowPointer) throws(StoreError) -> Bool {
        let id = PrimaryKey.id(of: row, mirror.primaryKeys[row.entityIndex]) ?? ""
        let list = try mirror.entries(
            "root = ? AND kind = 2 AND state <> 1 AND id = ?", on: connection
        ) { statement in
            statement.bind(mirror.entities.numbers[mirror.root(row.entityIndex)], at: 1)
            statement.bind(id, at: 2)
        }
        guard let base = list.last?.base, let kind = ChangeKind.delete.followed(by: .insert) else { return false }
        for entry in list { try mirror.remove(entry.seq, on: connection) }
        var slots = SlotSet()
        for slot in mirror.model.entities[row.entityIndex].slots where slot.isTold { slots.insert(slot.index) }
        try add(row, kind: kind, id: nil, slots: slots, base: base)
        return true
    }

    private func identity(of row: RowPointer) -> RowIdentity {
        RowIdentity(entityIndex: mirror.root(row.entityIndex), key: row.key)
    }

    /// The entry of an object that can take in another change, and whether another one is before it.
    private func waiting(_ row: RowPointer) throws(StoreError) -> (entry: OutboxEntry, isBehind: Bool)? {
        if isEmpty, !entered.contains(identity(of: row)) { return nil }
        var entries = try mirror.entries(root: mirror.root(row.entityIndex), key: row.key, on: connection)
        // One that was refused after an attempt without an answer may have been carried out: it is sent once more as it
        // was, and the change comes behind it.
        for index in entries.indices where entries[index].state == .failed && entries[index].sent != nil {
            entries[index].state = .sent
            try mirror.write(entries[index], on: connection)
        }
        return entries.last { $0.state != .sent }.map { ($0, $0.seq != entries.first?.seq) }
    }

    /// What joins an entry was changed from what is here: that may be of the change before it, of which the server has
    /// said nothing yet, while the base of the entry has what the server said.
    private func rebase(_ entry: inout OutboxEntry, on row: RowPointer, _ slots: SlotSet) {
        guard entry.kind == .update, var base = entry.base.flatMap(RowSlab.restored(from:)) else { return }
        let layout = mirror.model.entities[row.entityIndex].slots
        for slot in slots where !entry.slots.contains(slot) {
            RowEditing.copySlot(slot, layout: layout, from: row, to: &base)
        }
        entry.base = base.stored
    }

    private mutating func add(
        _ row: RowPointer, kind: ChangeKind, id: String?, slots: SlotSet = SlotSet(),
        members: [MemberChange] = [], base: Data? = nil
    ) throws(StoreError) {
        let statement = try connection.statement(
            """
            INSERT INTO _outbox(root, key, entity, kind, id, slots, members, base, changed) \
            VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)
            """)
        statement.bind(mirror.entities.numbers[mirror.root(row.entityIndex)], at: 1)
        statement.bind(row.key, at: 2)
        statement.bind(mirror.entities.numbers[row.entityIndex], at: 3)
        statement.bind(kind.number, at: 4)
        if let id { statement.bind(id, at: 5) } else { statement.bindNull(at: 5) }
        statement.bind(slots.stored, at: 6)
        if members.isEmpty { statement.bindNull(at: 7) } else { statement.bind(OutboxEntry.encoded(members), at: 7) }
        if let base {
            statement.bind(base, at: 8)
        } else {
            // The row is kept alive by the save.
            statement.bindBlob(unowned: UnsafeRawBufferPointer(start: row.base, count: row.byteCount), at: 8)
        }
        statement.bind(changed, at: 9)
        try statement.run()
        entered.insert(identity(of: row))
    }

    private func write(_ entry: OutboxEntry) throws(StoreError) {
        var entry = entry
        entry.changed = Date(timeIntervalSinceReferenceDate: changed)
        try mirror.write(entry, on: connection)
    }
}
