#if Postgres
    import Foundation
    import StrataSQL
    import StrataStore

    extension PostgresStore {
        public func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch {
            if keys.isEmpty { return .empty }
            let plan = plans[entityIndex]
            let (sql, parameters) = rowsStatement(plan, keys)
            return try reading { (connection) throws(PostgresError) in
                try pack(sql, parameters, plan, expectedRows: keys.count, on: connection)
            }.get()
        }

        /// The rows of some keys as a transaction sees them.
        func rows(entityIndex: Int, keys: [Int64], on connection: PostgresConnection) throws -> RowBatch {
            if keys.isEmpty { return .empty }
            let plan = plans[entityIndex]
            let (sql, parameters) = rowsStatement(plan, keys)
            return try pack(sql, parameters, plan, expectedRows: keys.count, on: connection).get()
        }

        private func rowsStatement(_ plan: EntityPlan, _ keys: [Int64]) -> (String, StatementParameters) {
            let condition = plan.condition.map { " AND \($0)" } ?? ""
            var parameters = StatementParameters()
            parameters.add(keys)
            return (
                "SELECT \(plan.columns) FROM \(plan.table) AS t0 WHERE t0.\"_id\" = ANY($1)\(condition)", parameters
            )
        }
        /// Runs a statement and packs its rows while they come.
        /// - Parameters:
        ///   - known: Which rows the caller has: of these it gets headers.
        ///   - expectedRows: How many rows are likely; nil if that cannot be said.
        func pack(
            _ sql: String, _ parameters: StatementParameters, _ plan: EntityPlan, known: KnownRows? = nil,
            expectedRows: Int?, isKept: Bool = true, cancellation: ReadCancellation? = nil,
            on connection: PostgresConnection
        ) throws(PostgresError) -> Result<RowBatch, StoreError> {
            var packer = RowPacker(model, plan, known: known, expectedRows: expectedRows)
            let fault: StoreError? = try connection.stream(
                sql, parameters, isKept: isKept, isOneRow: expectedRows == 1, cancellation: cancellation
            ) { (part) throws(StoreError) in
                try packer.add(part)
            }
            return fault.map { .failure($0) } ?? .success(packer.finish())
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
            let sql =
                "SELECT \(plan.columns) FROM \(plan.table) AS t0 WHERE t0.\(column) = ANY($1)\(condition)\(order)"
            return try reading { (connection) throws(PostgresError) in
                try pack(sql, parameters, plan, expectedRows: nil, on: connection)
            }.get()
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
