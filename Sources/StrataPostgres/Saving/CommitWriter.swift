#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    /// Writes one change set within an open transaction: each kind of change of an entity by one statement, however many
    /// objects it is about.
    final class CommitWriter {
        let store: PostgresStore
        let connection: PostgresConnection
        let changes: ChangeSet
        /// Whether somebody else has changed what this change set is about. The transaction is to be taken back then.
        var hasConflict = false
        var effects = CommitEffects()
        /// The columns with places in ordered relationships that new rows already have, and the places by key.
        var places: [(column: String, places: [Int64: Int64])] = []
        /// The names of external values to which rows refer again, and to which rows referred before.
        var keptBlobs: [String: BlobUser] = [:]
        var formerBlobs: Set<String> = []
        private var newBlobs: [(name: String, data: Data)] = []

        /// The row that refers to an external value, for messages.
        struct BlobUser {
            let entity: String
            let property: String
            let key: Int64
        }

        init(store: PostgresStore, connection: PostgresConnection, changes: ChangeSet) {
            self.store = store
            self.connection = connection
            self.changes = changes
        }

        var dropsBlobs: Bool { !formerBlobs.isSubset(of: keptBlobs.keys) }

        func write() throws {
            try writeChecks()
            try writeClearings()
            try findReferrers()
            try writeDeletes()
            if hasConflict { return }
            try writeUpdates()
            if hasConflict { return }
            try writeInserts()
            try writePairs()
            try writeOrders()
            try noteBlobs()
        }

        // MARK: Checks

        /// Compares the versions of objects that the change set does not write, and keeps others from writing them until the
        /// transaction ends.
        private func writeChecks() throws {
            for (entityIndex, checks) in Dictionary(grouping: changes.checks, by: \.entityIndex) {
                var parameters = StatementParameters()
                parameters.add(checks.map(\.key))
                let result = try connection.execute(
                    "SELECT \"_id\", \"_version\" FROM \(store.plans[entityIndex].table) WHERE \"_id\" = ANY($1) FOR SHARE",
                    parameters)
                let versions = Self.versions(in: result)
                if checks.contains(where: { versions[$0.key] != $0.version }) { hasConflict = true }
            }
        }

        static func versions(in result: PostgresResult) -> [Int64: Int64] {
            var versions: [Int64: Int64] = [:]
            for row in 0..<result.rowCount { versions[result.integer(row, 0)] = result.integer(row, 1) }
            return versions
        }

        // MARK: Deletes

        private func writeDeletes() throws {
            for (root, deletes) in Self.grouped(changes.deletes, by: { store.model.entities[$0.entityIndex].rootIndex })
            {
                let table = store.layout.table(root)
                let externals = table.columns.filter(\.allowsExternal).map { PostgresSchema.externalColumn(of: $0) }
                var parameters = StatementParameters()
                parameters.add(deletes.map(\.key))
                parameters.add(deletes.map { $0.baseVersion ?? -1 })
                let columns = (["\"_id\""] + externals).map { "t0.\($0)" }.joined(separator: ", ")
                let result = try connection.execute(
                    """
                    DELETE FROM \(table.quoted) AS t0 USING unnest($1::bigint[], $2::bigint[]) AS v(k, b) \
                    WHERE t0."_id" = v.k AND (v.b < 0 OR t0."_version" = v.b) RETURNING \(columns)
                    """, parameters)
                noteFormerBlobs(result, from: 1)
                guard result.rowCount < deletes.count else { continue }
                // One that is gone already is as it should be.
                let gone = Set(result.integers(0))
                let others = deletes.filter { !gone.contains($0.key) }
                effects.alreadyDeleted[root, default: []] += others.map(\.key)
                let rest = others.filter { $0.baseVersion != nil }.map(\.key)
                if rest.isEmpty { continue }
                var keys = StatementParameters()
                keys.add(rest)
                let present = try connection.execute(
                    "SELECT 1 FROM \(table.quoted) WHERE \"_id\" = ANY($1) LIMIT 1", keys)
                if present.rowCount > 0 { hasConflict = true }
            }
        }

        /// Groups in the order in which their first elements come.
        static func grouped<T, K: Hashable>(_ list: [T], by key: (T) -> K) -> [(key: K, elements: [T])] {
            var positions: [K: Int] = [:]
            var result: [(key: K, elements: [T])] = []
            var latest: (key: K, position: Int)?
            for element in list {
                let value = key(element)
                // Mostly, many of one group come one after another.
                if let latest, latest.key == value {
                    result[latest.position].elements.append(element)
                    continue
                }
                let position = positions[value] ?? result.count
                if position == result.count {
                    positions[value] = position
                    result.append((value, []))
                }
                result[position].elements.append(element)
                latest = (value, position)
            }
            return result
        }

        // MARK: External values

        func noteFormerBlobs(_ result: PostgresResult, from first: Int) {
            for column in first..<max(first, result.columnCount) {
                for row in 0..<result.rowCount where !result.isNull(row, column) {
                    formerBlobs.insert(result.text(row, column))
                }
            }
        }

        /// Where the bytes of a slot go.
        enum Placement {
            case inRow
            case apart(String)
        }

        /// Decides where the bytes of a slot go, and notes those that go elsewhere.
        func place(_ row: RowPointer, _ slot: Int, _ plan: EntityPlan) -> Placement {
            guard row.isPresent(slot) else { return .inRow }
            if row.isExternal(slot) {
                let name = String(decoding: row.bytes(slot), as: UTF8.self)
                keptBlobs[name] = BlobUser(
                    entity: plan.entityName, property: store.model.entities[plan.entityIndex].slots[slot].name,
                    key: row.key)
                return .apart(name)
            }
            guard row.bytes(slot).count > store.options.externalStorageThreshold else { return .inRow }
            let name = UUID().uuidString.lowercased()
            newBlobs.append((name, Data(row.bytes(slot))))
            return .apart(name)
        }

        /// Writes new external values; notes which of the old are no longer referred to, and which are again.
        private func noteBlobs() throws {
            for blob in newBlobs {
                var parameters = StatementParameters()
                parameters.add(blob.name)
                parameters.add(blob.data)
                try connection.execute("INSERT INTO \"_blobs\"(name, data) VALUES($1, $2)", parameters)
            }
            if !keptBlobs.isEmpty {
                let names = Array(keptBlobs.keys)
                var parameters = StatementParameters()
                parameters.add(names)
                let result = try connection.execute(
                    "UPDATE \"_blobs\" SET dropped_at = NULL WHERE name = ANY($1) RETURNING name", parameters)
                let present = Set((0..<result.rowCount).map { result.text($0, 0) })
                if let missing = names.first(where: { !present.contains($0) }), let user = keptBlobs[missing] {
                    throw StoreError.missingFile(
                        entity: user.entity, property: user.property, key: user.key, file: missing)
                }
            }
            let dropped = formerBlobs.subtracting(keptBlobs.keys)
            if !dropped.isEmpty {
                var parameters = StatementParameters()
                parameters.add(Array(dropped))
                try connection.execute("UPDATE \"_blobs\" SET dropped_at = now() WHERE name = ANY($1)", parameters)
            }
        }

        // MARK: Values

        func fault(_ fault: SlotFault, _ row: RowPointer, _ slot: Int, _ plan: EntityPlan) -> StoreError {
            .invalidData(
                entity: plan.entityName, property: store.model.entities[plan.entityIndex].slots[slot].name,
                key: row.key,
                reason: fault.reason)
        }

        /// Writes the value of a slot, after its length.
        func write(
            _ row: RowPointer, _ slot: Int, _ storage: SlotStorage, _ plan: EntityPlan, to writer: inout ByteWriter
        ) throws(StoreError) {
            do throws(SlotFault) {
                try SlotCoding.write(row, slot, storage, to: &writer)
            } catch {
                throw fault(error, row, slot, plan)
            }
        }

        /// Notes that the store has other dates than it was given, where they were rounded.
        func noteRounding(of reference: RowReference, _ plan: EntityPlan, slots: SlotSet?) {
            let row = reference.row
            var slab: RowSlab?
            for slot in plan.dateSlots where row.isPresent(slot) {
                if let slots, !slots.contains(slot) { continue }
                let seconds = Double(bitPattern: row.word(slot))
                guard !TimestampCoding.isExact(seconds), let kept = TimestampCoding.microseconds(seconds) else {
                    continue
                }
                let copy = slab ?? RowSlab.copy(of: row)
                RowEditing.setWord(TimestampCoding.seconds(kept).bitPattern, slot, in: copy)
                slab = copy
            }
            if let slab { effects.rows.append(RowReference(slab: slab, row: slab.row)) }
        }
    }
#endif
