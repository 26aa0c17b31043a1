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

    func forget(_ id: String, root: Int) throws(StoreError) {
        let statement = try connection.statement("DELETE FROM _remote WHERE root = ? AND id = ?")
        statement.bind(mirror.entities.numbers[root], at: 1)
        statement.bind(id, at: 2)
        try statement.run()
    }

    // MARK: Entries

    mutating func insert(_ row: RowPointer) throws(StoreError) {
        if !remade.isEmpty, remade.contains(identity(of: row)) { return try remake(row) }
        let statement = try connection.statement(
            "INSERT INTO _outbox(root, key, entity, kind, changed) VALUES(?, ?, ?, 0, ?)")
        statement.bind(mirror.entities.numbers[mirror.root(row.entityIndex)], at: 1)
        statement.bind(row.key, at: 2)
        statement.bind(mirror.entities.numbers[row.entityIndex], at: 3)
        statement.bind(changed, at: 4)
        try statement.run()
    }

    /// - Parameter base: The row before the change.
    mutating func update(_ base: RowPointer, slots: SlotSet, members: [MemberChange] = []) throws(StoreError) {
        if var waiting = try waiting(base) {
            waiting.state = .waiting
            if waiting.kind == .update {
                waiting.slots.formUnion(slots)
                waiting.add(members)
            }
            return try write(waiting)
        }
        try add(base, kind: .update, id: nil, slots: slots, members: members)
    }

    mutating func delete(_ row: RowPointer, id: String) throws(StoreError) {
        guard var waiting = try waiting(row) else { return try add(row, kind: .delete, id: id) }
        if waiting.kind == .insert {
            try forget(id, root: mirror.root(row.entityIndex))
            return try mirror.remove(waiting.seq, on: connection)
        }
        waiting.kind = .delete
        waiting.state = .waiting
        waiting.slots = SlotSet()
        waiting.members = []
        waiting.id = id
        try write(waiting)
    }

    /// Deleted here and made again before the server heard of it: a change of everything.
    private mutating func remake(_ row: RowPointer) throws(StoreError) {
        let id = PrimaryKey.id(of: row, mirror.primaryKeys[row.entityIndex]) ?? ""
        let list = try mirror.entries(
            "root = ? AND kind = 2 AND state <> 1 AND id = ?", on: connection
        ) { statement in
            statement.bind(mirror.entities.numbers[mirror.root(row.entityIndex)], at: 1)
            statement.bind(id, at: 2)
        }
        var slots = SlotSet()
        for slot in mirror.model.entities[row.entityIndex].slots where slot.isTold { slots.insert(slot.index) }
        let base = list.last?.base
        for entry in list { try mirror.remove(entry.seq, on: connection) }
        guard base != nil else {
            // The delete is under way: behind it comes a new object.
            remade.remove(identity(of: row))
            return try insert(row)
        }
        try add(row, kind: .update, id: nil, slots: slots, base: base)
    }

    private func identity(of row: RowPointer) -> RowIdentity {
        RowIdentity(entityIndex: mirror.root(row.entityIndex), key: row.key)
    }

    /// The entry of an object that can take in another change.
    private func waiting(_ row: RowPointer) throws(StoreError) -> OutboxEntry? {
        if isEmpty, !entered.contains(identity(of: row)) { return nil }
        return try mirror.entries(root: mirror.root(row.entityIndex), key: row.key, on: connection)
            .last { $0.state != .sent }
    }

    private mutating func add(
        _ row: RowPointer, kind: OutboxEntry.Kind, id: String?, slots: SlotSet = SlotSet(),
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
        statement.bind(kind.rawValue, at: 4)
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

extension OutboxEntry {
    /// Takes in changes of to-many relationships.
    mutating func add(_ changes: [MemberChange]) {
        for change in changes {
            if let index = members.firstIndex(where: { $0.relationship == change.relationship }) {
                members[index].merge(change)
            } else {
                members.append(change)
            }
        }
        members.removeAll(where: \.isEmpty)
    }
}
