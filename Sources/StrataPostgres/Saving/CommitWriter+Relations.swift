#if Postgres
    import StrataSQL
    import StrataStore

    extension CommitWriter {
        // MARK: Pairs

        /// Adds and removes pairs. Adding a pair that exists, or removing one that does not, is not an error.
        func writePairs() throws {
            var added: [(Int64, Int64)] = []
            var removed: [(Int64, Int64)] = []
            var current: PairSide?
            func flush() throws {
                guard let side = current else { return }
                let near = side.near
                let far = side.far
                if !removed.isEmpty {
                    try connection.execute(
                        """
                        DELETE FROM \(side.table.quoted) AS t0 USING unnest($1::bigint[], $2::bigint[]) AS v(a, b) \
                        WHERE t0.\(near) = v.a AND t0.\(far) = v.b
                        """, Self.arrays(removed))
                }
                if !added.isEmpty {
                    try connection.execute(
                        """
                        INSERT INTO \(side.table.quoted)(\(near), \(far)) \
                        SELECT * FROM unnest($1::bigint[], $2::bigint[]) ON CONFLICT DO NOTHING
                        """, Self.arrays(added))
                }
                added = []
                removed = []
            }
            for change in changes.pairs {
                guard let side = store.layout.pairs(change.entityIndex, change.relationshipIndex) else { continue }
                let isSame = current.map { $0.table.name == side.table.name && $0.isPrimary == side.isPrimary } ?? false
                // What was added before may be removed now.
                if !isSame || (!change.removed.isEmpty && !added.isEmpty) {
                    try flush()
                    current = side
                }
                func pairs(_ members: [Int64]) -> [(Int64, Int64)] {
                    members.flatMap { member in
                        side.table.isSymmetric && member != change.owner
                            ? [(change.owner, member), (member, change.owner)] : [(change.owner, member)]
                    }
                }
                removed += pairs(change.removed)
                added += pairs(change.added)
            }
            try flush()
        }

        static func arrays(_ pairs: [(Int64, Int64)]) -> StatementParameters {
            var parameters = StatementParameters()
            parameters.add(pairs.map(\.0))
            parameters.add(pairs.map(\.1))
            return parameters
        }

        // MARK: Order

        func writeOrders() throws {
            for change in changes.orders {
                guard let place = try orderPlace(change) else { continue }
                var owner = StatementParameters()
                owner.add(change.owner)
                // Others who change the same order wait, so that no two take the same place.
                let result = try connection.execute(place.read, owner)
                let now: [OrderedPlaces.Member] = (0..<result.rowCount).map { row in
                    (result.integer(row, 0), result.isNull(row, 1) ? nil : result.integer(row, 1))
                }
                let changed = OrderedPlaces.changes(change.kind, to: now)
                if changed.isEmpty { continue }
                var parameters = Self.arrays(changed.map { ($0.member, $0.place) })
                parameters.add(change.owner)
                try connection.execute(place.write, parameters)
            }
        }

        /// The statements that read and write the places of an owner's members; nil if the relationship has no order.
        private func orderPlace(_ change: ChangeSet.OrderChange) throws -> (read: String, write: String)? {
            guard let columns = store.layout.orderColumns(of: change) else { return nil }
            let (member, owner, place) = (columns.member, columns.owner, columns.place)
            return (
                """
                SELECT \(member), \(place) FROM \(columns.table) WHERE \(owner) = $1 \
                ORDER BY \(place) NULLS LAST, \(member) FOR UPDATE
                """,
                """
                UPDATE \(columns.table) AS t0 SET \(place) = v.p FROM unnest($1::bigint[], $2::bigint[]) AS v(m, p) \
                WHERE t0.\(owner) = $3 AND t0.\(member) = v.m
                """
            )
        }

        // MARK: References to deleted objects

        /// Sets references to nil, for each relationship by one statement.
        func writeClearings() throws {
            for clearing in changes.clearings where !clearing.keys.isEmpty {
                let plan = store.plans[clearing.entityIndex]
                guard let field = plan.fields.first(where: { $0.slot == clearing.slot }) else { continue }
                let order = field.orderColumn.map { ", \($0) = NULL" } ?? ""
                var parameters = StatementParameters()
                parameters.add(clearing.keys)
                parameters.add(clearing.targets)
                try connection.execute(
                    """
                    UPDATE \(plan.table) SET \(field.column) = NULL\(order), "_version" = "_version" + 1 \
                    WHERE "_id" = ANY($1) AND \(field.column) = ANY($2)
                    """, parameters)
            }
        }

        /// Notes which rows refer to those that are about to go, by the indexes that all references have, and gives them
        /// another version: foreign keys will change them. The other rows of the change set get theirs when they are written.
        func findReferrers() throws {
            if changes.deletes.isEmpty { return }
            let gone = changes.deletedKeys(in: store.model)
            for table in store.layout.tables {
                for column in table.columns {
                    guard let root = column.destinationRoot, let keys = gone[root] else { continue }
                    var parameters = StatementParameters()
                    parameters.add(keys)
                    let result = try connection.execute(
                        "SELECT \"_id\" FROM \(table.quoted) WHERE \(column.quoted) = ANY($1)", parameters)
                    if result.rowCount > 0 {
                        effects.referrers[table.rootIndex, default: []] += result.integers(0)
                    }
                }
                guard let found = effects.referrers[table.rootIndex] else { continue }
                let others = changes.unwritten(
                    found, root: table.rootIndex, deleted: gone[table.rootIndex], in: store.model)
                if !others.isEmpty { try setNextVersion(others, in: table) }
            }
        }

        private func setNextVersion(_ keys: [Int64], in table: TableLayout) throws {
            var parameters = StatementParameters()
            parameters.add(keys)
            let result = try connection.execute(
                """
                UPDATE \(table.quoted) SET "_version" = "_version" + 1 WHERE "_id" = ANY($1) \
                RETURNING "_id", "_version"
                """, parameters)
            effects.referrerVersions[table.rootIndex] = Self.versions(in: result)
        }
    }
#endif
