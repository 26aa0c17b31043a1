import StrataSQL
import StrataStore

extension SQLiteStore {
    public func memberRows(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], areAll: Bool
    ) throws(StoreError) -> RowBatch {
        if owners.isEmpty { return .empty }
        let relationship = model.entities[entityIndex].relationships[relationshipIndex]
        let destination = relationship.destinationIndex
        let column = try layout.inverseColumn(of: relationship)
        let table = layout.table(destination).quoted
        let condition =
            layout.entityCondition(destination, subentities: true, alias: "t0").map { " AND \($0)" } ?? ""
        let owned = "t0.\(column) \(Self.keyCondition(owners.count))"
        let members = "\(table) AS t0 WHERE \(owned)\(condition)"
        let rowPlan = rowPlans[destination]
        return try pool.read { (connection) throws(StoreError) in
            let sql: String
            // Nearly every row with an owner has one of these if they are all of a hierarchy. To look up each owner among
            // them took a tenth of the instructions of a prefetch.
            let namesOwners = !areAll || relationship.isOrdered || model.entities[entityIndex].rootIndex != entityIndex
            if !namesOwners {
                sql = rowPlan.select(from: "\(table) AS t0 NOT INDEXED WHERE t0.\(column) IS NOT NULL\(condition)")
            } else if let order = layout.orderColumn(entityIndex, relationshipIndex) {
                sql = rowPlan.select(
                    inOrderOf: "\(members) ORDER BY t0.\(column), t0.\(order) IS NULL, t0.\(order), t0._id LIMIT -1",
                    skippingKnown: false)
            } else if areAll ? true : try isLargePart(owned, of: table, owners: owners, on: connection) {
                sql = rowPlan.select(from: "\(table) AS t0 NOT INDEXED WHERE \(owned)\(condition)")
            } else {
                // The index of the column gives only the keys; in their order the table is read from one end to the
                // other instead of at a random place for each row.
                sql = rowPlan.select(
                    keysFrom: "\(members) ORDER BY t0._id LIMIT -1", alias: "t0", skippingKnown: false)
            }
            let statement = try connection.statement(sql)
            if namesOwners { bind(owners, to: statement) }
            return try connection.rows.collect(statement, rowPlan, expectedRows: nil)
        }
    }

    /// Whether some owners have this many members that it is cheaper to pass over the whole table.
    ///
    /// Counts in the index, at about a twentieth of what it costs to read the rows. The maximum of the reserved keys is an
    /// upper bound for the number of their rows; rows with other keys are left out on both sides.
    private func isLargePart(
        _ owned: String, of table: String, owners: [Int64], on connection: Connection
    ) throws(StoreError) -> Bool {
        guard owners.count >= 32 else { return false }
        let limit = StoreKeys.firstUnreserved
        let statement = try connection.statement(
            """
            SELECT (SELECT count(*) FROM \(table) AS t0 WHERE \(owned) AND t0._id < \(limit)), \
            (SELECT max(_id) FROM \(table) WHERE _id < \(limit))
            """)
        bind(owners, to: statement)
        guard try statement.step() else { return false }
        defer { statement.reset() }
        return statement.integer(0) > statement.integer(1) / 5
    }

    public func memberKeys(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64]
    ) throws(StoreError) -> [(owner: Int64, member: Int64)] {
        if owners.isEmpty { return [] }
        return try pool.read { (connection) throws(StoreError) in
            try memberKeys(
                entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners, on: connection)
        }
    }

    package func memberKeys(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64], on connection: Connection
    ) throws(StoreError) -> [(owner: Int64, member: Int64)] {
        let statement = try connection.statement(
            try memberKeysQuery(entityIndex, relationshipIndex, ownerCount: owners.count))
        bind(owners, to: statement)
        var result: [(owner: Int64, member: Int64)] = []
        while try statement.step() { result.append((statement.integer(0), statement.integer(1))) }
        return result
    }

    private func memberKeysQuery(
        _ entityIndex: Int, _ relationshipIndex: Int, ownerCount: Int
    ) throws(StoreError) -> String {
        if let side = layout.pairs(entityIndex, relationshipIndex) {
            let order = side.order.map { "\($0) IS NULL, \($0), " } ?? ""
            return """
                SELECT \(side.near), \(side.far) FROM \(side.table.quoted) \
                WHERE \(side.near) \(Self.keyCondition(ownerCount)) ORDER BY \(side.near), \(order)\(side.far)
                """
        }
        let relationship = model.entities[entityIndex].relationships[relationshipIndex]
        let destination = relationship.destinationIndex
        let column = try layout.inverseColumn(of: relationship)
        // Without an order and a condition, the index of the column has all that is asked for.
        let condition = layout.entityCondition(destination, subentities: true, alias: nil).map { " AND \($0)" } ?? ""
        let order = layout.orderColumn(entityIndex, relationshipIndex).map { "\($0) IS NULL, \($0), " } ?? ""
        return """
            SELECT \(column), _id FROM \(layout.table(destination).quoted) \
            WHERE \(column) \(Self.keyCondition(ownerCount))\(condition) ORDER BY \(column), \(order)_id
            """
    }
}
