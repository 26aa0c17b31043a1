#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    extension PostgresStore: CopyableStore {
        package func readForCopy<T>(
            _ body: (any StoreCopyReader) throws(StoreError) -> T
        ) throws(StoreError) -> T {
            try use { (connection) throws(StoreError) in
                let session = PostgresCopySession(store: self, connection: connection)
                try session.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY")
                return try body(session)
            }
        }

        package func writeCopy(_ body: (any StoreCopyWriter) throws(StoreError) -> Void) throws(StoreError) {
            let record = UUID()
            let isKnown = try use { (connection) throws(StoreError) in
                let session = PostgresCopySession(store: self, connection: connection)
                try session.begin("ISOLATION LEVEL READ COMMITTED")
                try session.prepare()
                try body(session)
                try session.complete()
                do throws(PostgresError) {
                    try connection.commit(after: ending(record, ChangeOrigin()))
                    return true
                } catch {
                    guard error.isConnectionLost else { throw storeError(error) }
                    return false
                }
            }
            if isKnown { return }
            pool.dropIdle()
            guard try hasCommitted(record) else {
                throw .io(path: name, code: 0, reason: "the connection was lost; nothing was copied")
            }
        }
    }

    /// Reads a store in an open transaction, or fills an empty one.
    final class PostgresCopySession: StoreCopyWriter {
        private let store: PostgresStore
        private let connection: PostgresConnection
        /// The statements that make the references again that were dropped while rows are written.
        private var references: [String] = []

        private var layout: StoreLayout { store.layout }

        init(store: PostgresStore, connection: PostgresConnection) {
            self.store = store
            self.connection = connection
        }

        private func attempt<T>(_ body: () throws -> T) throws(StoreError) -> T {
            do {
                return try body()
            } catch let error as StoreError {
                throw error
            } catch let error as PostgresError {
                throw store.storeError(error)
            } catch {
                throw .io(path: store.name, code: 0, reason: "\(error)")
            }
        }

        /// Begins a transaction. One store may have to wait while the other one works for long.
        func begin(_ kind: String) throws(StoreError) {
            try attempt {
                try connection.begin(kind)
                try connection.run(
                    "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0")
            }
        }

        // MARK: Reading

        func count(rootIndex: Int) throws(StoreError) -> Int {
            try attempt {
                Int(try connection.execute("SELECT count(*) FROM \(layout.table(rootIndex).quoted)").integer(0, 0))
            }
        }

        func rows(rootIndex: Int, after key: Int64, limit: Int) throws(StoreError) -> RowBatch {
            let plan = store.plans[rootIndex]
            var parameters = StatementParameters()
            parameters.add(key)
            parameters.add(Int64(limit))
            return try attempt {
                try store.pack(
                    """
                    SELECT \(plan.columns) FROM \(plan.table) AS t0 WHERE t0."_id" > $1 ORDER BY t0."_id" LIMIT $2
                    """, parameters, plan, expectedRows: limit, on: connection
                ).get()
            }
        }

        func places(
            _ relationship: RelationshipKey, members: ClosedRange<Int64>
        ) throws(StoreError) -> [(member: Int64, place: Int64)] {
            let description = store.model.entities[relationship.entityIndex].relationships[
                relationship.relationshipIndex]
            guard let column = layout.orderColumn(relationship.entityIndex, relationship.relationshipIndex) else {
                return []
            }
            var parameters = StatementParameters()
            parameters.add(members.lowerBound)
            parameters.add(members.upperBound)
            return try attempt {
                let result = try connection.execute(
                    """
                    SELECT "_id", \(column) FROM \(layout.table(description.destinationIndex).quoted) \
                    WHERE "_id" BETWEEN $1 AND $2 AND \(column) IS NOT NULL
                    """, parameters)
                return (0..<result.rowCount).map { (result.integer($0, 0), result.integer($0, 1)) }
            }
        }

        func pairs(
            _ relationship: RelationshipKey, after last: CopiedPair?, limit: Int
        ) throws(StoreError) -> [CopiedPair] {
            guard let table = layout.pairs(relationship.entityIndex, relationship.relationshipIndex)?.table else {
                return []
            }
            let keys = "\(table.ownerColumn), \(table.memberColumn)"
            let none = "NULL::bigint"
            var parameters = StatementParameters()
            parameters.add(last?.owner ?? .min)
            parameters.add(last?.member ?? .min)
            parameters.add(Int64(limit))
            return try attempt {
                let result = try connection.execute(
                    """
                    SELECT \(keys), \(table.ownerOrder ?? none), \(table.memberOrder ?? none) FROM \(table.quoted) \
                    WHERE (\(keys)) > ($1, $2) ORDER BY \(keys) LIMIT $3
                    """, parameters)
                return (0..<result.rowCount).map { row in
                    CopiedPair(
                        owner: result.integer(row, 0), member: result.integer(row, 1),
                        ownerPlace: result.isNull(row, 2) ? nil : result.integer(row, 2),
                        memberPlace: result.isNull(row, 3) ? nil : result.integer(row, 3))
                }
            }
        }

        func external(named name: String) throws(StoreError) -> Data? {
            var parameters = StatementParameters()
            parameters.add(name)
            return try attempt {
                let result = try connection.execute("SELECT data FROM \"_blobs\" WHERE name = $1", parameters)
                return result.rowCount == 1 ? Data(result.bytes(0, 0)) : nil
            }
        }

        func nextKey(rootIndex: Int) throws(StoreError) -> Int64 {
            var parameters = StatementParameters()
            parameters.add(store.model.entities[rootIndex].name)
            return try attempt {
                let result = try connection.execute("SELECT next FROM \"_keys\" WHERE entity = $1", parameters)
                return result.rowCount == 1 ? min(max(1, result.integer(0, 0)), StoreKeys.firstUnreserved) : 1
            }
        }

        // MARK: Writing

        /// Keeps everybody else out, checks that there are no rows, and drops indexes and constraints: to make them for all
        /// rows in the end costs less than to keep them up to date, and takes no memory for each row.
        func prepare() throws(StoreError) {
            let tables = layout.tables.map { ($0.name, $0.quoted, $0.rootIndex) }
            let pairs = layout.pairTables.map { ($0.name, $0.quoted, layout.tables[$0.ownerTable].rootIndex) }
            try attempt {
                let all = tables + pairs
                if all.isEmpty { return }
                try connection.run("LOCK TABLE \(all.map(\.1).joined(separator: ", ")) IN ACCESS EXCLUSIVE MODE")
                for (_, quoted, root) in all
                where try connection.execute("SELECT 1 FROM \(quoted) LIMIT 1", isKept: false).rowCount > 0 {
                    throw StoreError.notEmpty(store.model.entities[root].name)
                }
                var names = StatementParameters()
                names.add(all.map(\.0))
                let found = try connection.execute(
                    """
                    SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname), \
                    format('ALTER TABLE %s ADD CONSTRAINT %I %s', c.conrelid::regclass, c.conname, \
                    pg_get_constraintdef(c.oid)) FROM pg_constraint AS c JOIN pg_class AS t ON t.oid = c.conrelid \
                    WHERE c.contype = 'f' AND t.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema()) \
                    AND t.relname::text = ANY($1) ORDER BY c.conname
                    """, names, isKept: false)
                references = (0..<found.rowCount).map { found.text($0, 1) }
                for row in 0..<found.rowCount { try connection.run(found.text(row, 0)) }
                for object in PostgresSchema(layout: layout).objects { try connection.run(object.drop) }
            }
        }

        func write(_ rows: [RowReference], _ places: [CopiedPlaces]) throws(StoreError) -> Int {
            var changes = ChangeSet()
            changes.inserts = rows.map { ChangeSet.Insert(row: $0) }
            let writer = CommitWriter(store: store, connection: connection, changes: changes)
            writer.places = places.compactMap { places in
                layout.orderColumn(places.relationship.entityIndex, places.relationship.relationshipIndex).map {
                    (column: $0, places: places.places)
                }
            }
            try attempt { try writer.write() }
            return writer.effects.rows.count
        }

        func write(_ pairs: [CopiedPair], of relationship: RelationshipKey) throws(StoreError) {
            guard let table = layout.pairs(relationship.entityIndex, relationship.relationshipIndex)?.table else {
                return
            }
            let orders = [table.ownerOrder, table.memberOrder]
            let columns = [table.ownerColumn, table.memberColumn] + orders.compactMap(\.self)
            try attempt {
                let fault: StoreError? = try connection.copy(
                    "COPY \(table.quoted)(\(columns.joined(separator: ", "))) FROM STDIN (FORMAT binary)"
                ) { (writer) throws(StoreError) in
                    for pair in pairs {
                        writer.append(Int16(columns.count))
                        for key in [pair.owner, pair.member] {
                            writer.append(Int32(8))
                            writer.append(key)
                        }
                        for (order, place) in zip(orders, [pair.ownerPlace, pair.memberPlace]) where order != nil {
                            writer.appendOptional(place)
                        }
                    }
                    return false
                }
                if let fault { throw fault }
            }
        }

        func setNextKey(_ key: Int64, rootIndex: Int) throws(StoreError) {
            var parameters = StatementParameters()
            parameters.add(store.model.entities[rootIndex].name)
            parameters.add(key)
            try attempt {
                _ = try connection.execute(
                    "UPDATE \"_keys\" SET next = greatest(next, $2) WHERE entity = $1", parameters)
            }
        }

        func setIdentifier(_ identifier: UUID) throws(StoreError) {
            var parameters = StatementParameters()
            parameters.add(identifier.uuidString.lowercased())
            try attempt {
                _ = try connection.execute(
                    "UPDATE \"_metadata\" SET value = $1 WHERE key = 'store_uuid'", parameters)
            }
        }

        /// Makes indexes and constraints, which finds what breaks them.
        func complete() throws(StoreError) {
            try attempt {
                for object in PostgresSchema(layout: layout).objects { try connection.run(object.create) }
                for reference in references { try connection.run(reference) }
            }
        }
    }
#endif
