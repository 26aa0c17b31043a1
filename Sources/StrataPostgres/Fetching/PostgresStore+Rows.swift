#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    extension PostgresStore {
        public func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch {
            if keys.isEmpty { return .empty }
            return try packed { (connection) throws(PostgresError) in
                try rowsResult(entityIndex, keys, on: connection)
            } by: {
                plans[entityIndex]
            }
        }

        /// The rows of some keys as a transaction sees them.
        func rows(entityIndex: Int, keys: [Int64], on connection: PostgresConnection) throws -> RowBatch {
            if keys.isEmpty { return .empty }
            return try pack(try rowsResult(entityIndex, keys, on: connection), plans[entityIndex], known: nil)
        }

        private func rowsResult(
            _ entityIndex: Int, _ keys: [Int64], on connection: PostgresConnection
        ) throws(PostgresError) -> PostgresResult {
            let plan = plans[entityIndex]
            let condition = plan.condition.map { " AND \($0)" } ?? ""
            var parameters = StatementParameters()
            parameters.add(keys)
            return try connection.execute(
                "SELECT \(plan.columns) FROM \(plan.table) AS t0 WHERE t0.\"_id\" = ANY($1)\(condition)", parameters)
        }

        private func packed(
            _ read: (PostgresConnection) throws(PostgresError) -> PostgresResult, by plan: () -> EntityPlan
        ) throws(StoreError) -> RowBatch {
            let result = try reading(read)
            return try pack(result, plan(), known: nil)
        }

        /// Packs the rows of an answer.
        /// - Parameter known: Which rows the caller has: of these it gets headers.
        func pack(_ result: PostgresResult, _ plan: EntityPlan, known: KnownRows?) throws(StoreError) -> RowBatch {
            var builder = RowBatchBuilder(expectedRows: result.rowCount)
            let only = plan.shapes.first
            for row in 0..<result.rowCount {
                let key = result.integer(row, 0)
                let version = result.integer(row, 1)
                guard key > 0, version >= 0 else { throw unsound(plan, key, version) }
                var shape = only
                if plan.hasEntityColumn {
                    let name = result.bytes(row, 2)
                    shape = plan.shapes.first { name.elementsEqual($0.name) }
                }
                guard let shape else {
                    throw .invalidData(
                        entity: model.entities[plan.rootIndex].name, property: "_entity", key: key,
                        reason: "\"\(result.text(row, 2))\" is not an entity of the model that belongs here")
                }
                if let known, known(shape.entityIndex, key, version) {
                    builder.addHeader(entityIndex: shape.entityIndex, key: key, version: version)
                    continue
                }
                builder.beginRow(
                    entityIndex: shape.entityIndex, slotCount: shape.slotCount, key: key, version: version)
                for source in shape.sources {
                    if let external = source.externalColumn, !result.isNull(row, external) {
                        builder.setBytes(result.bytes(row, external), slot: source.slot, external: true)
                        continue
                    }
                    guard !result.isNull(row, source.column) else { continue }
                    guard SlotCoding.read(result.bytes(row, source.column), source.slot, source.storage, into: &builder)
                    else { throw mismatch(shape.entityIndex, source, key) }
                }
                builder.endRow()
            }
            return builder.finish()
        }

        private func mismatch(_ entityIndex: Int, _ source: EntityPlan.Source, _ key: Int64) -> StoreError {
            let entity = model.entities[entityIndex]
            let slot = entity.slots[source.slot]
            return .invalidData(
                entity: entity.name, property: slot.name, key: key,
                reason: "the column holds what is not a valid \(slot.type?.name ?? "key")")
        }

        private func unsound(_ plan: EntityPlan, _ key: Int64, _ version: Int64) -> StoreError {
            .invalidData(
                entity: model.entities[plan.rootIndex].name, property: key > 0 ? "_version" : "_id", key: key,
                reason: key > 0
                    ? "versions are whole numbers from 0 on"
                    : "keys are whole numbers from 1 on; give the row another key, or delete it")
        }

        // MARK: Members

        public func memberRows(
            entityIndex: Int, relationshipIndex: Int, owners: [Int64], areAll: Bool
        ) throws(StoreError) -> RowBatch {
            if owners.isEmpty { return .empty }
            let relationship = model.entities[entityIndex].relationships[relationshipIndex]
            let destination = relationship.destinationIndex
            let column = try layout.inverseColumn(of: relationship)
            let plan = plans[destination]
            let condition = plan.condition.map { " AND \($0)" } ?? ""
            let order =
                layout.orderColumn(entityIndex, relationshipIndex).map {
                    " ORDER BY t0.\(column), t0.\($0) NULLS LAST, t0.\"_id\""
                } ?? ""
            var parameters = StatementParameters()
            parameters.add(owners)
            return try packed { (connection) throws(PostgresError) in
                try connection.execute(
                    "SELECT \(plan.columns) FROM \(plan.table) AS t0 WHERE t0.\(column) = ANY($1)\(condition)\(order)",
                    parameters)
            } by: {
                plan
            }
        }

        public func memberKeys(
            entityIndex: Int, relationshipIndex: Int, owners: [Int64]
        ) throws(StoreError) -> [(owner: Int64, member: Int64)] {
            if owners.isEmpty { return [] }
            let query = try memberKeysQuery(entityIndex, relationshipIndex)
            return try reading { (connection) throws(PostgresError) in
                try Self.memberKeys(query, owners: owners, on: connection)
            }
        }

        /// The pairs of a to-many relationship as a transaction sees them.
        func memberKeys(
            entityIndex: Int, relationshipIndex: Int, owners: [Int64], on connection: PostgresConnection
        ) throws -> [(owner: Int64, member: Int64)] {
            try Self.memberKeys(try memberKeysQuery(entityIndex, relationshipIndex), owners: owners, on: connection)
        }

        private static func memberKeys(
            _ query: String, owners: [Int64], on connection: PostgresConnection
        ) throws(PostgresError) -> [(owner: Int64, member: Int64)] {
            var parameters = StatementParameters()
            parameters.add(owners)
            let result = try connection.execute(query, parameters)
            return (0..<result.rowCount).map { (result.integer($0, 0), result.integer($0, 1)) }
        }

        private func memberKeysQuery(_ entityIndex: Int, _ relationshipIndex: Int) throws(StoreError) -> String {
            if let side = layout.pairs(entityIndex, relationshipIndex) {
                let order = side.order.map { "\($0) NULLS LAST, " } ?? ""
                return """
                    SELECT \(side.near), \(side.far) FROM \(side.table.quoted) WHERE \(side.near) = ANY($1) \
                    ORDER BY \(side.near), \(order)\(side.far)
                    """
            }
            let relationship = model.entities[entityIndex].relationships[relationshipIndex]
            let column = try layout.inverseColumn(of: relationship)
            let plan = plans[relationship.destinationIndex]
            let condition = plan.condition.map { " AND \($0)" } ?? ""
            let order = layout.orderColumn(entityIndex, relationshipIndex).map { "t0.\($0) NULLS LAST, " } ?? ""
            return """
                SELECT t0.\(column), t0."_id" FROM \(plan.table) AS t0 WHERE t0.\(column) = ANY($1)\(condition) \
                ORDER BY t0.\(column), \(order)t0."_id"
                """
        }
    }
#endif
