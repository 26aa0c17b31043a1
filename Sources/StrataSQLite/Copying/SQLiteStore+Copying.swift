import Foundation
import StrataSQL
import StrataStore

extension SQLiteStore: CopyableStore {
    package func readForCopy<T>(
        _ body: (any StoreCopyReader) throws(StoreError) -> T
    ) throws(StoreError) -> T {
        try checkCopyable()
        return try pool.read { (connection) throws(StoreError) in
            try connection.readingOneState { () throws(StoreError) in
                try body(SQLiteCopySession(store: self, connection: connection))
            }
        }
    }

    package func writeCopy(_ body: (any StoreCopyWriter) throws(StoreError) -> Void) throws(StoreError) {
        try checkCopyable()
        try maintaining { (connection) throws(StoreError) in
            // References are checked at the end; until then they may lead to rows that are not copied yet.
            try connection.execute("PRAGMA foreign_keys = OFF")
            defer { try? connection.execute("PRAGMA foreign_keys = ON") }
            let session = SQLiteCopySession(store: self, connection: connection)
            do throws(StoreError) {
                try begin(on: connection)
                try session.prepare()
                try body(session)
                try session.complete()
                try CommitWriter(store: self, connection: connection, changes: ChangeSet()).commitTransaction()
            } catch {
                connection.rollback()
                files?.remove(session.writtenFiles)
                throw error
            }
        }
    }

    private func checkCopyable() throws(StoreError) {
        guard !schema.isMirror else {
            throw .unsupported(store: name, feature: "copying a mirror; its objects belong to the remote store")
        }
    }

    /// The model with which a file was made, as the file describes it.
    /// - Throws: ``StoreError/notFound(path:)``, ``StoreError/notAStore(path:reason:)``.
    package static func storedModel(at path: String) throws(StoreError) -> ManagedObjectModel {
        try inspect(path) { (connection, path) throws(StoreError) in
            guard let stored = try StoredModel.read(on: connection) else {
                throw .notAStore(path: path, reason: "the file is empty")
            }
            return stored.model
        }
    }
}

/// Reads a store in an open transaction, or fills an empty one.
final class SQLiteCopySession: StoreCopyWriter {
    private let store: SQLiteStore
    private let connection: Connection
    /// The files of external values that were written, to be removed if the transaction fails.
    private(set) var writtenFiles: [String] = []

    private var layout: StoreLayout { store.layout }

    init(store: SQLiteStore, connection: Connection) {
        self.store = store
        self.connection = connection
    }

    // MARK: Reading

    func count(rootIndex: Int) throws(StoreError) -> Int {
        Int(try connection.integer("SELECT count(*) FROM \(layout.table(rootIndex).quoted)") ?? 0)
    }

    func rows(rootIndex: Int, after key: Int64, limit: Int) throws(StoreError) -> RowBatch {
        let query = try connection.statement(
            "SELECT _id FROM \(layout.table(rootIndex).quoted) WHERE _id > ? ORDER BY _id LIMIT ?")
        query.bind(key, at: 1)
        query.bind(Int64(limit), at: 2)
        var keys: [Int64] = []
        while try query.step() { keys.append(query.integer(0)) }
        return keys.isEmpty ? .empty : try store.rows(entityIndex: rootIndex, keys: keys, on: connection)
    }

    func places(
        _ relationship: RelationshipKey, members: ClosedRange<Int64>
    ) throws(StoreError) -> [(member: Int64, place: Int64)] {
        guard let (table, column) = orderPlace(relationship) else { return [] }
        let query = try connection.statement(
            "SELECT _id, \(column) FROM \(table) WHERE _id BETWEEN ? AND ? AND \(column) IS NOT NULL")
        query.bind(members.lowerBound, at: 1)
        query.bind(members.upperBound, at: 2)
        var result: [(member: Int64, place: Int64)] = []
        while try query.step() { result.append((query.integer(0), query.integer(1))) }
        return result
    }

    private func orderPlace(_ key: RelationshipKey) -> (table: String, column: String)? {
        let relationship = store.model.entities[key.entityIndex].relationships[key.relationshipIndex]
        return layout.orderColumn(key.entityIndex, key.relationshipIndex).map {
            (layout.table(relationship.destinationIndex).quoted, $0)
        }
    }

    func pairs(
        _ relationship: RelationshipKey, after last: CopiedPair?, limit: Int
    ) throws(StoreError) -> [CopiedPair] {
        guard let table = layout.pairs(relationship.entityIndex, relationship.relationshipIndex)?.table else {
            return []
        }
        let keys = "\(table.ownerColumn), \(table.memberColumn)"
        let query = try connection.statement(
            """
            SELECT \(keys), \(table.ownerOrder ?? "NULL"), \(table.memberOrder ?? "NULL") FROM \(table.quoted) \
            WHERE (\(keys)) > (?, ?) ORDER BY \(keys) LIMIT ?
            """)
        query.bind(last?.owner ?? .min, at: 1)
        query.bind(last?.member ?? .min, at: 2)
        query.bind(Int64(limit), at: 3)
        var result: [CopiedPair] = []
        while try query.step() {
            result.append(
                CopiedPair(
                    owner: query.integer(0), member: query.integer(1),
                    ownerPlace: query.isNull(2) ? nil : query.integer(2),
                    memberPlace: query.isNull(3) ? nil : query.integer(3)))
        }
        return result
    }

    func external(named name: String) throws(StoreError) -> Data? {
        guard let files = store.files, files.exists(name) else { return nil }
        return try files.read(name)
    }

    func nextKey(rootIndex: Int) throws(StoreError) -> Int64 {
        let query = try connection.prepare(
            "SELECT max(1, next) FROM _keys WHERE entity = ? AND typeof(next) = 'integer'", persistent: false)
        query.bind(store.model.entities[rootIndex].name, at: 1)
        guard try query.step() else { return 1 }
        defer { query.reset() }
        return min(query.integer(0), StoreKeys.firstUnreserved)
    }

    // MARK: Writing

    private var spareIndexes: [SchemaObject] { store.schema.objects.filter { $0.spareTable != nil } }

    /// Checks that there are no rows, and drops the indexes that no row needs when it is written.
    func prepare() throws(StoreError) {
        func check(_ table: String, _ entity: Int) throws(StoreError) {
            guard try connection.integer("SELECT EXISTS (SELECT 1 FROM \(table))") == 0 else {
                throw .notEmpty(store.model.entities[entity].name)
            }
        }
        for table in layout.tables { try check(table.quoted, table.rootIndex) }
        for pairs in layout.pairTables { try check(pairs.quoted, layout.tables[pairs.ownerTable].rootIndex) }
        for index in spareIndexes {
            try connection.execute("DROP INDEX IF EXISTS \(Identifiers.quote(index.name))")
        }
    }

    func write(_ rows: [RowReference], _ places: [CopiedPlaces]) throws(StoreError) -> Int {
        var changes = ChangeSet()
        changes.inserts = rows.map { ChangeSet.Insert(row: $0) }
        let writer = CommitWriter(store: store, connection: connection, changes: changes)
        writer.needsIndexes = true
        defer { writtenFiles += writer.writtenFiles }
        try writer.write()
        if let conflict = writer.conflicts.first {
            throw .constraint(
                entity: store.model.entities[conflict.entityIndex].name,
                reason: "object \(conflict.key) has the same unique values as another one")
        }
        for places in places where !places.places.isEmpty {
            guard let (table, column) = orderPlace(places.relationship) else { continue }
            let update = try connection.statement("UPDATE \(table) SET \(column) = ? WHERE _id = ?")
            for row in rows {
                guard let place = places.places[row.key] else { continue }
                update.bind(place, at: 1)
                update.bind(row.key, at: 2)
                try update.run()
            }
        }
        return writer.effects.rows.count
    }

    func write(_ pairs: [CopiedPair], of relationship: RelationshipKey) throws(StoreError) {
        guard let table = layout.pairs(relationship.entityIndex, relationship.relationshipIndex)?.table else { return }
        let orders = [table.ownerOrder, table.memberOrder].compactMap(\.self)
        let columns = ([table.ownerColumn, table.memberColumn] + orders).joined(separator: ", ")
        let marks = ["?", "?"] + orders.map { _ in "?" }
        let insert = try connection.statement(
            "INSERT INTO \(table.quoted)(\(columns)) VALUES(\(marks.joined(separator: ", ")))")
        for pair in pairs {
            insert.bind(pair.owner, at: 1)
            insert.bind(pair.member, at: 2)
            var parameter: Int32 = 3
            for (order, place) in [(table.ownerOrder, pair.ownerPlace), (table.memberOrder, pair.memberPlace)]
            where order != nil {
                if let place { insert.bind(place, at: parameter) } else { insert.bindNull(at: parameter) }
                parameter += 1
            }
            try insert.run()
        }
    }

    func setNextKey(_ key: Int64, rootIndex: Int) throws(StoreError) {
        let update = try connection.prepare(
            """
            INSERT INTO _keys(entity, next) VALUES(?1, ?2) \
            ON CONFLICT(entity) DO UPDATE SET next = max(next, excluded.next)
            """, persistent: false)
        update.bind(store.model.entities[rootIndex].name, at: 1)
        update.bind(key, at: 2)
        try update.run()
    }

    func setIdentifier(_ identifier: UUID) throws(StoreError) {
        try StoreMetadata.set("store_uuid", identifier.uuidString.lowercased(), on: connection)
    }

    /// Creates the indexes, and checks all references.
    func complete() throws(StoreError) {
        for index in spareIndexes { try connection.execute(index.sql) }
        let check = try connection.prepare("PRAGMA foreign_key_check", persistent: false)
        guard try check.step() else { return }
        defer { check.reset() }
        let table = check.text(0)
        let entity = layout.tables.first { $0.name == table }.map { store.model.entities[$0.rootIndex].name }
        throw .constraint(
            entity: entity ?? table,
            reason: "row \(check.integer(1)) refers to a row of \(check.text(2)) that does not exist")
    }
}
