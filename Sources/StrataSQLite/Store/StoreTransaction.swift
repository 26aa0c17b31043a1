import StrataSQL
import StrataStore

/// A transaction of a store in which other targets of the package write tables of their own besides objects.
package final class StoreTransaction {
    /// The connection. What it does is part of the transaction.
    package let connection: Connection
    let store: SQLiteStore
    /// Who makes the changes, for history; by default who made the first change set.
    package var origin: ChangeOrigin?
    private var writers: [CommitWriter] = []

    init(store: SQLiteStore, connection: Connection) {
        self.store = store
        self.connection = connection
    }

    /// Writes a change set as part of the transaction. Conflicts take the whole transaction back immediately: nothing
    /// may be done in it after them.
    /// - Parameter together: Whether as few statements as possible are worth more than the time of each.
    package func write(_ changes: ChangeSet, together: Bool = false) throws(StoreError) -> CommitResult {
        if changes.isEmpty { return .committed(CommitEffects()) }
        let writer = CommitWriter(store: store, connection: connection, changes: changes)
        writer.isBulk = together
        writers.append(writer)
        try writer.write()
        if writer.conflicts.isEmpty { return .committed(writer.effects) }
        takeBack()
        return .conflicts(try writer.conflictsWithRows())
    }

    /// Reserves keys; see ``PersistentStore/allocateKeys(_:rootIndex:)``.
    package func allocateKeys(_ count: Int, rootIndex: Int) throws(StoreError) -> Range<Int64> {
        try store.allocateKeys(count, rootIndex: rootIndex, on: connection)
    }

    /// The rows of some keys as the transaction sees them; see ``StoreReader/rows(entityIndex:keys:)``.
    package func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch {
        keys.isEmpty ? .empty : try store.rows(entityIndex: entityIndex, keys: keys, on: connection)
    }

    /// The pairs of a to-many relationship as the transaction sees them.
    package func memberKeys(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64]
    ) throws(StoreError) -> [(owner: Int64, member: Int64)] {
        try store.memberKeys(
            entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners, on: connection)
    }

    /// Takes back all that was done.
    package func takeBack() {
        connection.rollback()
        for writer in writers { writer.takeBack() }
    }

    func commit() throws(StoreError) {
        var changes = ChangeSet()
        if connection.version.recordsHistory {
            let first = writers.first { $0.changes.author != nil || $0.changes.contextName != nil }?.changes
            changes.author = origin?.author ?? first?.author
            changes.contextName = origin?.contextName ?? first?.contextName
        }
        let last = CommitWriter(store: store, connection: connection, changes: changes)
        try last.commitTransaction()
        if writers.contains(where: \.dropsFiles) { store.sweepAfterCommit(on: connection) }
    }
}

extension SQLiteStore {
    /// Runs a closure in one transaction: all that it writes becomes permanent, or nothing if it throws or meets
    /// conflicts. The closure must not ask the store for anything else.
    package func transaction<T>(_ body: (StoreTransaction) throws(StoreError) -> T) throws(StoreError) -> T {
        guard !options.isReadOnly else { throw .readOnly(path: path) }
        return try pool.write { (connection) throws(StoreError) in
            let transaction = StoreTransaction(store: self, connection: connection)
            try begin(on: connection)
            do throws(StoreError) {
                let result = try body(transaction)
                if connection.isInTransaction { try transaction.commit() }
                return result
            } catch {
                transaction.takeBack()
                throw error
            }
        }
    }

    /// Runs a closure with a connection that reads. The closure must not ask the store for anything else.
    package func reading<T>(_ body: (Connection) throws(StoreError) -> T) throws(StoreError) -> T {
        try pool.read(nil, body)
    }

    /// The name of the table of an entity and of the column of a slot, as they appear in SQL; nil where the slot is not
    /// stored.
    package func place(entityIndex: Int, slot: Int) -> (table: String, column: String)? {
        layout.column(entityIndex, slot).map { (layout.table(entityIndex).quoted, $0.quoted) }
    }

    /// Whether the table of an entity says which entity a row belongs to, in the column `_entity`.
    package func hasEntityColumn(_ entityIndex: Int) -> Bool { layout.table(entityIndex).hasEntityColumn }

    /// Who refers by a relationship to some objects: owner, member. Of the two sides of a relationship the one that
    /// keeps it is asked: a to-one, or the primary side of pairs.
    package func owners(
        entityIndex: Int, relationshipIndex: Int, members: [Int64], on connection: Connection
    ) throws(StoreError) -> [(owner: Int64, member: Int64)] {
        let relationship = model.entities[entityIndex].relationships[relationshipIndex]
        let sql: String
        if let slot = relationship.slot, let column = layout.column(entityIndex, slot)?.quoted {
            sql = "SELECT _id, \(column) FROM \(layout.table(entityIndex).quoted) WHERE \(column)"
        } else if let side = layout.pairs(entityIndex, relationshipIndex), side.isPrimary {
            sql = "SELECT \(side.near), \(side.far) FROM \(side.table.quoted) WHERE \(side.far)"
        } else {
            return []
        }
        let statement = try connection.statement("\(sql) \(Self.keyCondition(members.count))")
        bind(members, to: statement)
        var result: [(owner: Int64, member: Int64)] = []
        while try statement.step() { result.append((statement.integer(0), statement.integer(1))) }
        return result
    }
}
