import Foundation
import StrataSQLite

extension Mirror {
    // MARK: Reading

    /// What waits, in the order of the changes, without what failed.
    /// - Parameter limit: The greatest number of entries; nil for all.
    package func pendingEntries(limit: Int? = nil) throws(StoreError) -> [OutboxEntry] {
        try store.reading { (connection) throws(StoreError) in
            try entries("state <> 2", limit: limit, on: connection)
        }
    }

    /// What the server refused.
    package func failedEntries() throws(StoreError) -> [OutboxEntry] {
        try store.reading { (connection) throws(StoreError) in
            var list = try entries("state = 2", on: connection)
            for (root, group) in Dictionary(grouping: list.indices, by: { self.root(list[$0].identity.entityIndex) }) {
                let names = try ids(
                    entityIndex: root, keys: group.map { list[$0].identity.key }, placeholdersOnly: false,
                    on: connection)
                for index in group where list[index].id.isEmpty {
                    list[index].id = names[list[index].identity.key]?.id ?? ""
                }
            }
            return list
        }
    }

    /// How many entries there are.
    /// - Parameter failed: Whether those that failed are meant, or those that wait; nil for both.
    package func entryCount(failed: Bool? = nil) throws(StoreError) -> Int {
        try store.reading { (connection) throws(StoreError) in
            let condition = failed.map { $0 ? " WHERE state = 2" : " WHERE state <> 2" } ?? ""
            return Int(try connection.integer("SELECT count(*) FROM _outbox\(condition)") ?? 0)
        }
    }

    /// Whether changes of an object wait, failed ones included.
    package func hasEntry(_ identity: RowIdentity) throws(StoreError) -> Bool {
        try store.reading { (connection) throws(StoreError) in
            try !entries(root: root(identity.entityIndex), key: identity.key, on: connection).isEmpty
        }
    }

    // MARK: Going through

    /// Notes that entries are about to be sent, and names the writes.
    /// - Returns: The entries as they are now; those that have gone meanwhile are left out.
    package func markInFlight(_ list: [OutboxEntry]) throws(StoreError) -> [OutboxEntry] {
        try store.transaction { (transaction) throws(StoreError) in
            var result: [OutboxEntry] = []
            for entry in list {
                guard var current = try current(entry, on: transaction.connection), current.state != .failed else {
                    continue
                }
                current.state = .sent
                current.token = current.token ?? UUID()
                current.attempts += 1
                try write(current, on: transaction.connection)
                result.append(current)
            }
            return result
        }
    }

    /// Notes that an entry was not done, and will not be by itself.
    package func fail(_ entry: OutboxEntry, _ error: RemoteError) throws(StoreError) {
        try store.transaction { (transaction) throws(StoreError) in
            guard var current = try current(entry, on: transaction.connection) else { return }
            current.state = .failed
            current.error = error
            try settle(current, on: transaction.connection)
        }
    }

    /// Notes that an entry was not done, so that it is as if it had never been sent.
    package func unmark(_ entry: OutboxEntry) throws(StoreError) {
        try store.transaction { (transaction) throws(StoreError) in
            guard var current = try current(entry, on: transaction.connection), current.state == .sent else { return }
            current.state = .waiting
            current.token = nil
            try settle(current, on: transaction.connection)
        }
    }

    /// Writes an entry that is no longer under way, and takes in what came behind it.
    func settle(_ entry: OutboxEntry, on connection: Connection) throws(StoreError) {
        var entry = entry
        let later = try entries(root: root(entry.identity.entityIndex), key: entry.identity.key, on: connection)
            .first { $0.seq > entry.seq }
        guard let later else { return try write(entry, on: connection) }
        try remove(later.seq, on: connection)
        entry.changed = later.changed
        entry.secretNames.formUnion(later.secretNames)
        if later.kind == .update, entry.kind == .update { entry.base = joinedBase(entry, later) }
        if entry.follow(later.kind, id: later.id, slots: later.slots, members: later.members) {
            return try write(entry, on: connection)
        }
        try OutboxWriter(mirror: self, connection: connection).forget(
            later.id, root: root(entry.identity.entityIndex))
        try remove(entry.seq, on: connection)
    }

    /// What two changes of an object are made to: the later one knows best what it changed alone.
    private func joinedBase(_ entry: OutboxEntry, _ later: OutboxEntry) -> Data? {
        guard let first = entry.base, var slab = RowSlab.restored(from: first),
            let second = later.base.flatMap(RowSlab.restored(from:))
        else { return entry.base ?? later.base }
        let layout = model.entities[entry.identity.entityIndex].slots
        for slot in later.slots where !entry.slots.contains(slot) {
            RowEditing.copySlot(slot, layout: layout, from: second.row, to: &slab)
        }
        return slab.stored
    }

    /// Sends failed entries again.
    package func retry(_ list: [OutboxEntry]) throws(StoreError) {
        try store.transaction { (transaction) throws(StoreError) in
            for entry in list {
                guard var current = try current(entry, on: transaction.connection), current.state == .failed else {
                    continue
                }
                current.state = .waiting
                current.token = nil
                try write(current, on: transaction.connection)
            }
        }
    }

    // MARK: Rows of the outbox

    func entries(root: Int, key: Int64, on connection: Connection) throws(StoreError) -> [OutboxEntry] {
        try entries("root = ? AND key = ?", on: connection) { statement in
            statement.bind(entities.numbers[root], at: 1)
            statement.bind(key, at: 2)
        }
    }

    func entries(
        _ condition: String, limit: Int? = nil, on connection: Connection, _ bind: (Statement) -> Void = { _ in }
    ) throws(StoreError) -> [OutboxEntry] {
        let statement = try connection.statement(
            "SELECT \(OutboxEntry.columns) FROM _outbox WHERE \(condition) ORDER BY seq"
                + (limit.map { " LIMIT \($0)" } ?? ""))
        bind(statement)
        var result: [OutboxEntry] = []
        while try statement.step() {
            if let entry = OutboxEntry(statement, self) { result.append(entry) }
        }
        return result
    }

    /// An entry as it is now; nil if it has gone, or its number belongs to another one by now.
    func current(_ entry: OutboxEntry, on connection: Connection) throws(StoreError) -> OutboxEntry? {
        guard
            let found = try entries("seq = ?", on: connection, { $0.bind(entry.seq, at: 1) }).first,
            found.identity == entry.identity, found.token == entry.token
        else { return nil }
        return found
    }

    func write(_ entry: OutboxEntry, on connection: Connection) throws(StoreError) {
        let statement = try connection.statement(
            """
            UPDATE _outbox SET kind = ?, state = ?, id = ?, slots = ?, members = ?, base = ?, token = ?, changed = ?, \
            attempts = ?, error = ?, key = ?, secrets = ? WHERE seq = ?
            """)
        statement.bind(entry.kind.number, at: 1)
        statement.bind(entry.state.rawValue, at: 2)
        if entry.id.isEmpty { statement.bindNull(at: 3) } else { statement.bind(entry.id, at: 3) }
        statement.bind(entry.slots.stored, at: 4)
        bind(entry.members.isEmpty ? nil : OutboxEntry.encoded(entry.members), at: 5)
        bind(entry.base, at: 6)
        bind(entry.token?.data, at: 7)
        statement.bind(entry.changed.timeIntervalSinceReferenceDate, at: 8)
        statement.bind(Int64(entry.attempts), at: 9)
        bind(entry.error.map { OutboxEntry.encoded(StoredError($0)) }, at: 10)
        statement.bind(entry.identity.key, at: 11)
        bind(entry.secretNames.isEmpty ? nil : OutboxEntry.encoded(entry.secretNames), at: 12)
        statement.bind(entry.seq, at: 13)
        try statement.run()

        func bind(_ data: Data?, at index: Int32) {
            if let data { statement.bind(data, at: index) } else { statement.bindNull(at: index) }
        }
    }

    func remove(_ seq: Int64, on connection: Connection) throws(StoreError) {
        let statement = try connection.statement("DELETE FROM _outbox WHERE seq = ?")
        statement.bind(seq, at: 1)
        try statement.run()
    }
}
