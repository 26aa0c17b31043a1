import Foundation
import StrataSQL
import StrataSQLite
import StrataStore

extension Mirror {
    // MARK: Reading

    /// The waiting entries, in the order of the changes, without failed entries and those that follow a failed one of
    /// the same object.
    /// - Parameter limit: The maximum number of entries; nil for all.
    package func pendingEntries(limit: Int? = nil) throws(StoreError) -> [OutboxEntry] {
        try store.reading { (connection) throws(StoreError) in
            // Those of entities that the model has no more wait for a model that has them.
            try entries(
                """
                state <> 2 AND entity IN (SELECT value FROM strata_list(?)) AND NOT EXISTS (SELECT 1 FROM _outbox AS failed \
                WHERE failed.root = _outbox.root AND failed.key = _outbox.key AND failed.state = 2 AND failed.seq < _outbox.seq)
                """, limit: limit, on: connection
            ) {
                $0.bind(ValueList(keys: entities.numbers.sorted()), at: 1)
            }
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
            let condition = failed.map { $0 ? " AND state = 2" : " AND state <> 2" } ?? ""
            let statement = try connection.statement(
                "SELECT count(*) FROM _outbox WHERE entity IN (SELECT value FROM strata_list(?))\(condition)")
            statement.bind(ValueList(keys: entities.numbers.sorted()), at: 1)
            guard try statement.step() else { return 0 }
            defer { statement.reset() }
            return Int(statement.integer(0))
        }
    }

    /// Whether changes of an object wait, failed ones included.
    package func hasEntry(_ identity: RowIdentity) throws(StoreError) -> Bool {
        try store.reading { (connection) throws(StoreError) in
            try !entries(root: root(identity.entityIndex), key: identity.key, on: connection).isEmpty
        }
    }

    // MARK: Going through

    /// Notes that entries are about to be sent, names the writes, and freezes what they say.
    /// - Parameters:
    ///   - isWhole: Whether an update has all values, not only those that were changed.
    ///   - listsMembers: Whether changed relationships are told with all members, not by those added and removed.
    ///   - computes: The kinds of operations that are told as such. Others are told by their results.
    /// - Returns: The entries as they are now with their writes; nil where the object was deleted here since. Entries
    ///   that have gone meanwhile are left out.
    package func markInFlight(
        _ list: [OutboxEntry], isWhole: Bool = false, listsMembers: Bool = false,
        computes: RemoteCapabilities.Features = [], unnamed: Set<RowIdentity> = []
    ) throws(StoreError) -> [(entry: OutboxEntry, write: MirrorWrite?)] {
        try store.transaction { (transaction) throws(StoreError) in
            let connection = transaction.connection
            var entries = try current(list, on: connection).filter { $0.state != .failed }
            for index in entries.indices {
                entries[index].token = entries[index].token ?? UUID()
                entries[index].attempts += 1
            }
            var writes = try writes(
                for: entries, isWhole: isWhole, listsMembers: listsMembers, computes: computes, readsFiles: true,
                on: connection)
            for index in entries.indices {
                if !unnamed.isEmpty, var write = writes[index] {
                    try withhold(unnamed, from: &write, of: entries[index], on: connection)
                    writes[index] = write
                }
                entries[index].state = .sent
                // An object that has gone is not told; a delete has nothing but its version.
                if entries[index].sent == nil { entries[index].sent = writes[index].map(FrozenWrite.encode) }
            }
            for part in StatementRows.parts(entries[...], columns: 3) { try mark(part, on: connection) }
            return Array(zip(entries, writes))
        }
    }

    private func mark(_ entries: ArraySlice<OutboxEntry>, on connection: Connection) throws(StoreError) {
        let rows = StatementRows.text("(?, ?, ?)", entries.count)
        let statement = try connection.statement(
            """
            \(StatementRows.update) _outbox SET state = 1, attempts = attempts + 1, token = v.column2, sent = v.column3 \
            FROM (VALUES \(rows)) AS v WHERE seq = v.column1
            """)
        var place: Int32 = 0
        for entry in entries {
            statement.bind(entry.seq, at: place + 1)
            if let token = entry.token {
                statement.bind(token.data, at: place + 2)
            } else {
                statement.bindNull(at: place + 2)
            }
            if let sent = entry.sent { statement.bind(sent, at: place + 3) } else { statement.bindNull(at: place + 3) }
            place += 3
        }
        try statement.run()
    }

    /// Notes that an entry was not done, and will not be by itself.
    package func fail(_ entry: OutboxEntry, _ error: RemoteError) throws(StoreError) {
        try store.transaction { (transaction) throws(StoreError) in
            guard var current = try current(entry, on: transaction.connection) else { return }
            current.state = .failed
            current.error = error
            // An earlier attempt may have been carried out: a retry says the same under the same name.
            if current.attempts <= 1 {
                current.forgetAttempt()
            } else if try deletion(behind: current, on: transaction.connection) != nil {
                // The delete finds out by itself whether there is anything to delete.
                return try remove(current.seq, on: transaction.connection)
            } else {
                // Later changes wait for that retry.
                return try write(current, on: transaction.connection)
            }
            try settle(current, on: transaction.connection)
        }
    }

    /// Notes that the attempt under way was not carried out. If it was the first one, the entry is as if it had never
    /// been sent; an earlier one may have been carried out, so that the entry stays as it was sent.
    package func unmark(_ entry: OutboxEntry) throws(StoreError) {
        try store.transaction { (transaction) throws(StoreError) in
            guard var current = try current(entry, on: transaction.connection), current.state == .sent,
                current.attempts <= 1
            else { return }
            current.state = .waiting
            current.attempts = 0
            current.forgetAttempt()
            try settle(current, on: transaction.connection)
        }
    }

    /// Writes an entry that is no longer under way, and applies what came after it.
    func settle(_ entry: OutboxEntry, on connection: Connection) throws(StoreError) {
        var entry = entry
        let later = try entries(root: root(entry.identity.entityIndex), key: entry.identity.key, on: connection)
            .first { $0.seq > entry.seq }
        guard var later else { return try write(entry, on: connection) }
        try remove(later.seq, on: connection)
        entry.changed = later.changed
        entry.secretNames.formUnion(later.secretNames)
        if later.kind == .update, entry.kind == .update { entry.base = joinedBase(entry, later) }
        if later.kind == .insert, entry.kind == .delete {
            // The server still has the object: it is told all that the object was made again with.
            later.slots = model.entities[later.identity.entityIndex].toldSlots
            later.members = try allMembers(of: later.identity, on: connection)
        }
        if entry.follow(
            later.kind, id: later.id, slots: later.slots, members: later.members, operations: later.operations)
        {
            return try write(entry, on: connection)
        }
        try OutboxWriter(mirror: self, connection: connection).release(
            [later.id], root: root(entry.identity.entityIndex))
        try remove(entry.seq, on: connection)
    }

    /// The members of an object, as if all had been added.
    private func allMembers(
        of identity: RowIdentity, on connection: Connection
    ) throws(StoreError) -> [MemberChange] {
        var result: [MemberChange] = []
        for relationship in model.entities[identity.entityIndex].relationships
        where relationship.storage == .pairs(isPrimary: true) {
            let pairs = try store.memberKeys(
                entityIndex: identity.entityIndex, relationshipIndex: relationship.index, owners: [identity.key],
                on: connection)
            if pairs.isEmpty { continue }
            result.append(
                MemberChange(
                    relationship: relationship.name, added: Set(pairs.map(\.member)), isOrder: relationship.isOrdered))
        }
        return result
    }

    /// What two changes of an object are made to: the later one knows best what only it changed.
    func joinedBase(_ entry: OutboxEntry, _ later: OutboxEntry) -> Data? {
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
                current.state = current.sent == nil ? .waiting : .sent
                try write(current, on: transaction.connection)
            }
        }
    }

    // MARK: Creations

    /// The entries that create some objects.
    func insertions(of identities: Set<RemoteIdentity>) throws(StoreError) -> [OutboxEntry] {
        try store.reading { (connection) throws(StoreError) in
            var result: [OutboxEntry] = []
            for (root, list) in Dictionary(
                grouping: identities, by: { model.entity(named: $0.entity)?.rootIndex ?? -1 }) where root >= 0
            {
                let keys = try keys(of: list.map(\.id), root: root, on: connection)
                result += try entries(
                    "root = ? AND key IN (SELECT value FROM strata_list(?)) AND kind = 0", on: connection
                ) { statement in
                    statement.bind(entities.numbers[root], at: 1)
                    statement.bind(ValueList(keys: keys.values.sorted()), at: 2)
                }
            }
            return result.sorted { $0.seq < $1.seq }
        }
    }

    /// Those of some creations that follow the deletion of the same object: the names of the objects, by the place of the creation.
    func insertionsBehindDeletions(among list: [OutboxEntry]) throws(StoreError) -> [Int64: RemoteIdentity] {
        if list.isEmpty { return [:] }
        let behind = try store.reading { (connection) throws(StoreError) in
            try entries(
                """
                seq IN (SELECT value FROM strata_list(?)) AND EXISTS (SELECT 1 FROM _outbox AS earlier \
                WHERE earlier.root = _outbox.root AND earlier.key = _outbox.key AND earlier.seq < _outbox.seq)
                """, on: connection
            ) { $0.bind(ValueList(keys: list.map(\.seq)), at: 1) }
        }
        if behind.isEmpty { return [:] }
        let names = try ids(of: behind.map(\.identity))
        return Dictionary(
            uniqueKeysWithValues: behind.compactMap { entry in names[entry.identity].map { (entry.seq, $0) } })
    }

    /// Those of some objects whose creation the server has refused.
    func refusedInsertions(among identities: Set<RemoteIdentity>) throws(StoreError) -> [RemoteIdentity] {
        let refused = try insertions(of: identities).filter { $0.state == .failed }
        if refused.isEmpty { return [] }
        let names = try ids(of: refused.map(\.identity))
        return refused.compactMap { names[$0.identity] }
    }

    // MARK: Rows of the outbox

    func entries(root: Int, key: Int64, on connection: Connection) throws(StoreError) -> [OutboxEntry] {
        try entries("root = ? AND key = ?", on: connection) { statement in
            statement.bind(entities.numbers[root], at: 1)
            statement.bind(key, at: 2)
        }
    }

    /// The entries of some objects of a hierarchy by key, each object's in their order.
    func entries(root: Int, keys: [Int64], on connection: Connection) throws(StoreError) -> [Int64: [OutboxEntry]] {
        if keys.isEmpty { return [:] }
        let found = try entries("root = ? AND key IN (SELECT value FROM strata_list(?))", on: connection) { statement in
            statement.bind(entities.numbers[root], at: 1)
            statement.bind(ValueList(keys: keys), at: 2)
        }
        return Dictionary(grouping: found, by: \.identity.key)
    }

    /// The entries that delete objects of some primary keys, in their order.
    func deletions(of ids: [String], root: Int, on connection: Connection) throws(StoreError) -> [OutboxEntry] {
        if ids.isEmpty { return [] }
        return try entries(
            "root = ? AND kind = 2 AND id IN (SELECT value FROM strata_list(?))", on: connection
        ) { statement in
            statement.bind(entities.numbers[root], at: 1)
            statement.bind(ValueList(texts: ids), at: 2)
        }
    }

    /// Takes out deletions that the server has refused, of objects that were made again since with the same primary keys: the
    /// server has those in their place now.
    func removeRefusedDeletions(
        inPlaceOf record: RemoteRecord, of entry: OutboxEntry, on connection: Connection
    ) throws(StoreError) {
        let root = root(entry.identity.entityIndex)
        try removeRefusedDeletions(of: [canonical(record.id, model.entities[root])], root: root, on: connection)
    }

    /// As above, of several primary keys. The server may have deleted the objects instead.
    func removeRefusedDeletions(of ids: [String], root: Int, on connection: Connection) throws(StoreError) {
        if ids.isEmpty { return }
        let statement = try connection.statement(
            """
            DELETE FROM _outbox WHERE kind = 2 AND state = 2 AND root = ? AND id IN (SELECT value FROM strata_list(?))
            """)
        statement.bind(entities.numbers[root], at: 1)
        statement.bind(ValueList(texts: ids), at: 2)
        try statement.run()
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

    /// An entry as it is now; nil if it has gone, or something else is to be done by now.
    func current(_ entry: OutboxEntry, on connection: Connection) throws(StoreError) -> OutboxEntry? {
        try current([entry], on: connection).first
    }

    /// Entries as they are now, without those that have gone or are to do something else by now: a change of an object
    /// that was deleted since is a delete in the same place.
    func current(_ list: [OutboxEntry], on connection: Connection) throws(StoreError) -> [OutboxEntry] {
        let found = try entries("seq IN (SELECT value FROM strata_list(?))", on: connection) {
            $0.bind(ValueList(keys: list.map(\.seq).sorted()), at: 1)
        }
        let bySeq = Dictionary(uniqueKeysWithValues: found.map { ($0.seq, $0) })
        return list.compactMap { entry in
            guard let now = bySeq[entry.seq], now.isSame(as: entry) else { return nil }
            return now
        }
    }

    func write(_ entry: OutboxEntry, on connection: Connection) throws(StoreError) {
        try write([entry], on: connection)
    }

    /// Writes entries as they are now.
    func write(_ list: [OutboxEntry], on connection: Connection) throws(StoreError) {
        let columns = OutboxEntry.writtenColumns
        for part in StatementRows.parts(list[...], columns: columns.count + 1) {
            let row = "(\(repeatElement("?", count: columns.count + 1).joined(separator: ", ")))"
            let assignments = columns.enumerated().map { "\($1) = v.column\($0 + 1)" }.joined(separator: ", ")
            let statement = try connection.statement(
                """
                \(StatementRows.update) _outbox SET \(assignments) FROM (VALUES \(StatementRows.text(row, part.count))) AS v \
                WHERE seq = v.column\(columns.count + 1)
                """)
            var place: Int32 = 0
            for entry in part {
                entry.bind(to: statement, behind: place, model)
                place += Int32(columns.count) + 1
                statement.bind(entry.seq, at: place)
            }
            try statement.run()
        }
    }

    /// Enters new entries, in their order. Their places are given by the outbox.
    func add(_ list: [OutboxEntry], on connection: Connection) throws(StoreError) {
        let columns = OutboxEntry.writtenColumns + ["root", "entity"]
        for part in StatementRows.parts(list[...], columns: columns.count) {
            let row = "(\(repeatElement("?", count: columns.count).joined(separator: ", ")))"
            let statement = try connection.statement(
                "\(StatementRows.insert) _outbox(\(columns.joined(separator: ", "))) VALUES \(StatementRows.text(row, part.count))"
            )
            var place: Int32 = 0
            for entry in part {
                entry.bind(to: statement, behind: place, model)
                place += Int32(columns.count)
                statement.bind(entities.numbers[root(entry.identity.entityIndex)], at: place - 1)
                statement.bind(entities.numbers[entry.identity.entityIndex], at: place)
            }
            try statement.run()
        }
    }

    func remove(_ seq: Int64, on connection: Connection) throws(StoreError) { try remove([seq], on: connection) }

    func remove(_ list: [Int64], on connection: Connection) throws(StoreError) {
        if list.isEmpty { return }
        let statement = try connection.statement("DELETE FROM _outbox WHERE seq IN (SELECT value FROM strata_list(?))")
        statement.bind(ValueList(keys: list), at: 1)
        try statement.run()
    }
}
