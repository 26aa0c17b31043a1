import Foundation
import StrataSQL
import StrataSQLite
import StrataStore

/// Writes local changes into the outbox, as part of a save. What waits already takes later changes in: a new object
/// that is changed is still a new one, and one that is deleted again was never there.
struct OutboxWriter {
    private let mirror: Mirror
    private let connection: Connection
    private let changed: Double
    /// New objects whose primary key belonged to one that was deleted here, with the topmost entity: the server has
    /// it, so it hears about a change.
    var remade: Set<RowIdentity> = []
    /// The entries of the objects that this save changes, each object's in their order, with what the save makes of them.
    private var entries: [RowIdentity: [OutboxEntry]] = [:]
    /// What is to be written at the end: new entries in their order, those that absorb changes, and those to be
    /// removed, with the names of their objects.
    private var added: [RowIdentity] = []
    private var changedEntries: Set<RowIdentity> = []
    private var removed: [Int64] = []
    private var forgotten: [Int: [String]] = [:]

    init(mirror: Mirror, connection: Connection) {
        self.mirror = mirror
        self.connection = connection
        changed = mirror.now().timeIntervalSinceReferenceDate
    }

    /// Reads what waits of the objects that a save changes.
    mutating func prepare(_ objects: some Sequence<RowIdentity>) throws(StoreError) {
        if try connection.integer("SELECT 1 FROM _outbox LIMIT 1") == nil { return }
        for (root, list) in Dictionary(grouping: objects, by: \.entityIndex) {
            for (key, found) in try mirror.entries(root: root, keys: list.map(\.key), on: connection) {
                entries[RowIdentity(entityIndex: root, key: key)] = found
            }
        }
    }

    // MARK: Names

    /// The objects of primary keys are no longer here, and the server has not heard about that.
    func forgetKeys(_ ids: [String], root: Int) throws(StoreError) {
        if ids.isEmpty { return }
        let statement = try connection.statement(
            "UPDATE _remote SET key = NULL WHERE root = ? AND id IN (SELECT value FROM strata_list(?))")
        statement.bind(mirror.entities.numbers[root], at: 1)
        statement.bind(ValueList(texts: ids), at: 2)
        try statement.run()
    }

    /// Says which key the object of a primary key has from now on; nil for none.
    func name(_ id: String, root: Int, key: Int64?) throws(StoreError) {
        let statement = try connection.statement("UPDATE _remote SET key = ? WHERE root = ? AND id = ?")
        if let key { statement.bind(key, at: 1) } else { statement.bindNull(at: 1) }
        statement.bind(mirror.entities.numbers[root], at: 2)
        statement.bind(id, at: 3)
        try statement.run()
    }

    /// Enters the primary keys of objects as they appear in their rows, without those that are known already.
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

    /// The object of a primary key is gone for good.
    func forget(_ id: String, root: Int) throws(StoreError) { try forget([id], root: root) }

    /// The objects of primary keys are gone for good. What refers to them stays noted; see ``DeletedLinks``.
    func forget(_ ids: [String], root: Int) throws(StoreError) {
        if ids.isEmpty { return }
        let links = DeletedLinks(mirror: mirror, connection: connection)
        if try !links.isEmpty {
            for index in mirror.model.entities[root].descendantIndexes {
                try links.forget(owners: ids, entityIndex: index)
            }
        }
        let statement = try connection.statement(
            "DELETE FROM _remote WHERE root = ? AND id IN (SELECT value FROM strata_list(?))")
        statement.bind(mirror.entities.numbers[root], at: 1)
        statement.bind(ValueList(texts: ids), at: 2)
        try statement.run()
    }

    /// Objects are gone that the server does not have. If it is still to hear about the end of an earlier object of the same
    /// primary key, the name stays, and leads nowhere.
    func release(_ ids: [String], root: Int) throws(StoreError) {
        let kept = Set(try mirror.deletions(of: ids, root: root, on: connection).map(\.id))
        if !kept.isEmpty { try forgetKeys(kept.sorted(), root: root) }
        try forget(ids.filter { !kept.contains($0) }, root: root)
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
    mutating func update(
        _ base: RowPointer, slots: SlotSet, members: [MemberChange] = [], operations: [Int: FieldOperations] = [:]
    ) {
        let identity = identity(of: base)
        guard let (index, found) = open(identity) else {
            return add(
                base, kind: .update, id: "", slots: slots, members: members, operations: operations,
                base: Self.bytes(of: base))
        }
        var entry = found
        if index > 0 { rebase(&entry, on: base, slots) }
        _ = entry.follow(.update, slots: slots, members: members, operations: operations)
        put(entry, identity, index)
    }

    mutating func delete(_ row: RowPointer, id: String) {
        let identity = identity(of: row)
        guard let (index, found) = open(identity) else {
            return add(row, kind: .delete, id: id, base: Self.bytes(of: row))
        }
        var entry = found
        if entry.follow(.delete, id: id) { return put(entry, identity, index) }
        // It was never told, and so is not told to be gone.
        forgotten[identity.entityIndex, default: []].append(id)
        if let seq = entries[identity]?.remove(at: index).seq, seq > 0 { removed.append(seq) }
    }

    /// Writes what has been collected.
    mutating func write() throws(StoreError) {
        try mirror.remove(removed, on: connection)
        for (root, ids) in forgotten { try release(ids, root: root) }
        let known = changedEntries.flatMap { entries[$0] ?? [] }.filter { $0.seq > 0 }.sorted { $0.seq < $1.seq }
        try mirror.write(known, on: connection)
        try mirror.add(added.flatMap { entries[$0] ?? [] }.filter { $0.seq == 0 }, on: connection)
        (added, changedEntries, removed, forgotten) = ([], [], [], [:])
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

    /// Deleted here and made again before the server heard about it: a change of everything.
    /// - Returns: false if the delete is under way; after it comes a new object.
    private mutating func remake(_ row: RowPointer) throws(StoreError) -> Bool {
        let id = PrimaryKey.id(of: row, mirror.primaryKeys[row.entityIndex]) ?? ""
        let list = try mirror.deletions(of: [id], root: mirror.root(row.entityIndex), on: connection)
            .filter { $0.state != .sent }
        guard let base = list.last?.base, let kind = ChangeKind.delete.followed(by: .insert) else { return false }
        for entry in list { try mirror.remove(entry.seq, on: connection) }
        add(row, kind: kind, id: "", slots: mirror.model.entities[row.entityIndex].toldSlots, base: base)
        return true
    }

    private func identity(of row: RowPointer) -> RowIdentity {
        RowIdentity(entityIndex: mirror.root(row.entityIndex), key: row.key)
    }

    private static func bytes(of row: RowPointer) -> Data { Data(bytes: row.base, count: row.byteCount) }

    /// The entry of an object that can take in another change, and its position; nil if there is none.
    private mutating func open(_ identity: RowIdentity) -> (index: Int, entry: OutboxEntry)? {
        guard var list = entries[identity] else { return nil }
        // One that was refused after an attempt without an answer may have been carried out: it is sent once more as it
        // was, and the change comes after it.
        for index in list.indices where list[index].state == .failed && list[index].sent != nil {
            list[index].state = .sent
            changedEntries.insert(identity)
        }
        entries[identity] = list
        guard let last = list.lastIndex(where: { $0.state != .sent }) else { return nil }
        // It is sent without the change, and taken out when that is done.
        if list[last].goesAlong, !mirror.online.turns.active(among: [identity]).isEmpty {
            mirror.online.unjoined.withLock { _ = $0.insert(identity) }
            return nil
        }
        return (last, list[last])
    }

    private mutating func put(_ entry: OutboxEntry, _ identity: RowIdentity, _ index: Int) {
        var entry = entry
        entry.changed = Date(timeIntervalSinceReferenceDate: changed)
        entries[identity]?[index] = entry
        changedEntries.insert(identity)
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
        _ row: RowPointer, kind: ChangeKind, id: String, slots: SlotSet = SlotSet(),
        members: [MemberChange] = [], operations: [Int: FieldOperations] = [:], base: Data
    ) {
        let identity = identity(of: row)
        entries[identity, default: []].append(
            OutboxEntry(
                seq: 0, identity: RowIdentity(entityIndex: row.entityIndex, key: row.key), id: id, kind: kind,
                state: .waiting, slots: slots, operations: operations, members: members, base: base,
                changed: Date(timeIntervalSinceReferenceDate: changed), attempts: 0, secretNames: []))
        added.append(identity)
    }
}
