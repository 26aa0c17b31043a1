#if Postgres
    import StrataSQL
    import StrataStore

    extension PostgresStore {
        /// All conflicts of a change set with what the store has now, in one snapshot; none if there are none any more.
        func findConflicts(_ changes: ChangeSet) throws(StoreError) -> [StoreConflict] {
            let result: Result<[StoreConflict], StoreError> = try reading { (connection) throws(PostgresError) in
                try connection.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY")
                defer { connection.rollback() }
                do {
                    return .success(try ConflictFinder(store: self, connection: connection, changes: changes).run())
                } catch let error as PostgresError {
                    throw error
                } catch let error as StoreError {
                    return .failure(error)
                } catch {
                    return .failure(.io(path: name, code: 0, reason: "\(error)"))
                }
            }
            return try result.get()
        }
    }

    /// Looks for what stands in the way of a change set: versions that others have changed, and values that must be unique.
    final class ConflictFinder {
        private let store: PostgresStore
        private let connection: PostgresConnection
        private let changes: ChangeSet
        private var found: [Found] = []

        private struct Found {
            let reason: StoreConflict.Reason
            let entityIndex: Int
            let key: Int64
            let otherKey: Int64?
            let storeKey: Int64?
        }

        private struct RowID: Hashable {
            let root: Int
            let key: Int64
        }

        init(store: PostgresStore, connection: PostgresConnection, changes: ChangeSet) {
            self.store = store
            self.connection = connection
            self.changes = changes
        }

        func run() throws -> [StoreConflict] {
            for (entity, checks) in CommitWriter.grouped(changes.checks, by: \.entityIndex) {
                let versions = try versions(entity, checks.map(\.key))
                for check in checks where versions[check.key] != check.version { addVersion(entity, check.key) }
            }
            for (entity, deletes) in CommitWriter.grouped(changes.deletes, by: \.entityIndex) {
                let versions = try versions(entity, deletes.map(\.key))
                for delete in deletes {
                    if let base = delete.baseVersion, let present = versions[delete.key], present != base {
                        addVersion(entity, delete.key)
                    }
                }
            }
            var stale: Set<RowID> = []
            for (entity, updates) in CommitWriter.grouped(changes.updates, by: { $0.row.entityIndex }) {
                var versions = try versions(entity, updates.map(\.row.key))
                for update in updates {
                    if versions[update.row.key] == update.baseVersion {
                        versions[update.row.key] = update.row.version
                    } else {
                        addVersion(entity, update.row.key)
                        stale.insert(id(entity, update.row.key))
                    }
                }
            }
            try findUniques(stale)
            return try withRows()
        }

        private func id(_ entity: Int, _ key: Int64) -> RowID {
            RowID(root: store.model.entities[entity].rootIndex, key: key)
        }

        private func versions(_ entity: Int, _ keys: [Int64]) throws -> [Int64: Int64] {
            var parameters = StatementParameters()
            parameters.add(keys)
            return CommitWriter.versions(
                in: try connection.execute(
                    "SELECT \"_id\", \"_version\" FROM \(store.plans[entity].table) WHERE \"_id\" = ANY($1)", parameters
                ))
        }

        private func addVersion(_ entity: Int, _ key: Int64) {
            found.append(Found(reason: .version, entityIndex: entity, key: key, otherKey: nil, storeKey: key))
        }

        // MARK: Unique values

        /// The values of a row in a constraint, as PostgreSQL's bytes: equal values have equal bytes.
        private struct Values: Hashable {
            let root: Int
            let slots: [Int]
            let condition: String?
            let bytes: [UInt8]
        }

        private func findUniques(_ stale: Set<RowID>) throws {
            var rows: [RowReference] = []
            var positions: [RowID: Int] = [:]
            // Of several updates of a row, the last one counts.
            for row in changes.updates.map(\.row) + changes.inserts.map(\.row)
            where !stale.contains(id(row.entityIndex, row.key)) {
                let id = id(row.entityIndex, row.key)
                if let position = positions[id] {
                    rows[position] = row
                } else {
                    positions[id] = rows.count
                    rows.append(row)
                }
            }
            var gone = Set(changes.deletes.map { id($0.entityIndex, $0.key) })
            gone.formUnion(positions.keys)
            var owners: [Values: Int64] = [:]
            for (entity, rows) in CommitWriter.grouped(rows, by: { $0.entityIndex }) {
                let plan = store.plans[entity]
                for unique in plan.uniques {
                    let present = rows.filter { row in unique.slots.allSatisfy { row.row.isPresent($0) } }
                    var free: [RowReference] = []
                    for row in present {
                        let values = try values(of: row.row, unique, plan)
                        if let other = owners[values], other != row.key {
                            found.append(
                                Found(
                                    reason: .unique(slots: unique.slots), entityIndex: entity, key: row.key,
                                    otherKey: other, storeKey: nil))
                        } else {
                            owners[values] = row.key
                            free.append(row)
                        }
                    }
                    try findOthers(free, unique, plan, besides: gone)
                }
            }
        }

        private func values(of row: RowPointer, _ unique: EntityPlan.Unique, _ plan: EntityPlan) throws -> Values {
            var writer = ByteWriter()
            for field in unique.fields {
                // The number of decimal places is not part of a number.
                if field.storage == .decimal {
                    writer.appendSized { $0.append(row.bytes(field.slot)) }
                } else {
                    try SlotCoding.write(row, field.slot, field.storage, to: &writer)
                }
            }
            return Values(root: plan.rootIndex, slots: unique.slots, condition: unique.condition, bytes: writer.bytes)
        }

        /// Looks for rows of the store that have the same values, and keep them.
        private func findOthers(
            _ rows: [RowReference], _ unique: EntityPlan.Unique, _ plan: EntityPlan, besides gone: Set<RowID>
        ) throws {
            if rows.isEmpty { return }
            var parameters = StatementParameters()
            parameters.add(rows.map(\.key))
            for field in unique.fields {
                try parameters.addArray(of: field.type, count: rows.count) { (writer) throws(SlotFault) in
                    for row in rows { try SlotCoding.write(row.row, field.slot, field.storage, to: &writer) }
                }
            }
            let types = ["bigint"] + unique.fields.map(\.type.name)
            let arrays = types.enumerated().map { "$\($0 + 1)::\($1)[]" }.joined(separator: ", ")
            let names = types.indices.map { "c\($0)" }
            var conditions = unique.fields.enumerated().map { "t0.\($1.column) = v.c\($0 + 1)" }
            conditions.append("t0.\"_id\" <> v.c0")
            if let condition = unique.condition { conditions.append("(\(condition))") }
            let result = try connection.execute(
                """
                SELECT v.c0, t0."_id" FROM unnest(\(arrays)) AS v(\(names.joined(separator: ", "))) \
                JOIN \(plan.table) AS t0 ON \(conditions.joined(separator: " AND "))
                """, parameters)
            for row in 0..<result.rowCount {
                let other = result.integer(row, 1)
                guard !gone.contains(RowID(root: plan.rootIndex, key: other)) else { continue }
                found.append(
                    Found(
                        reason: .unique(slots: unique.slots), entityIndex: plan.entityIndex,
                        key: result.integer(row, 0),
                        otherKey: other, storeKey: other))
            }
        }

        // MARK: Rows

        private func withRows() throws -> [StoreConflict] {
            var keys: [Int: [Int64]] = [:]
            for conflict in found {
                guard let key = conflict.storeKey else { continue }
                keys[store.model.entities[conflict.entityIndex].rootIndex, default: []].append(key)
            }
            var rows: [RowID: RowReference] = [:]
            for (root, keys) in keys {
                for row in try store.rows(entityIndex: root, keys: keys, on: connection).rows {
                    rows[RowID(root: root, key: row.key)] = row
                }
            }
            return found.map { conflict in
                StoreConflict(
                    reason: conflict.reason, entityIndex: conflict.entityIndex, key: conflict.key,
                    storeRow: conflict.storeKey.flatMap { rows[id(conflict.entityIndex, $0)] },
                    otherKey: conflict.otherKey)
            }
        }
    }
#endif
