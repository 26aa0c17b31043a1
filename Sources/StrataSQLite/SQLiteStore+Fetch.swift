import StrataStore

extension SQLiteStore {
    public func fetch(_ plan: FetchPlan) throws(StoreError) -> RowBatch {
        let compiled = try FetchCompiler(layout: layout, rowPlans: rowPlans).compile(plan, .rows)
        return try pool.read { (connection) throws(StoreError) in
            let statement = try bound(compiled, on: connection)
            var builder = RowBatchBuilder(expectedRows: plan.limit)
            try rowPlans[plan.entityIndex].readAll(statement, into: &builder)
            return builder.finish()
        }
    }

    public func fetchKeys(_ plan: FetchPlan) throws(StoreError) -> [Int64] {
        let compiled = try FetchCompiler(layout: layout, rowPlans: rowPlans).compile(plan, .keys)
        return try pool.read { (connection) throws(StoreError) in
            let statement = try bound(compiled, on: connection)
            var keys: [Int64] = []
            while try statement.step() { keys.append(statement.integer(0)) }
            return keys
        }
    }

    public func count(_ plan: FetchPlan) throws(StoreError) -> Int {
        let compiled = try FetchCompiler(layout: layout, rowPlans: rowPlans).compile(plan, .count)
        return try pool.read { (connection) throws(StoreError) in
            let statement = try bound(compiled, on: connection)
            guard try statement.step() else { return 0 }
            defer { statement.reset() }
            return Int(statement.integer(0))
        }
    }

    public func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch {
        if keys.isEmpty { return .empty }
        return try pool.read { (connection) throws(StoreError) in
            try rows(entityIndex: entityIndex, keys: keys, on: connection)
        }
    }

    func rows(entityIndex: Int, keys: [Int64], on connection: Connection) throws(StoreError) -> RowBatch {
        let sql = keyQueries[entityIndex]
        let statement = try connection.statement(keys.count == 1 ? sql.one : sql.many)
        bind(keys, to: statement)
        var builder = RowBatchBuilder(expectedRows: keys.count)
        try rowPlans[entityIndex].readAll(statement, into: &builder)
        return builder.finish()
    }

    public func memberRows(entityIndex: Int, relationshipIndex: Int, owners: [Int64]) throws(StoreError) -> RowBatch {
        if owners.isEmpty { return .empty }
        let relationship = model.entities[entityIndex].relationships[relationshipIndex]
        let destination = relationship.destinationIndex
        guard case .inverseSlot(let slot) = relationship.storage, let column = layout.column(destination, slot)?.quoted
        else {
            throw .unsupported(
                store: "SQLite",
                feature:
                    "memberRows of \(relationship.declaringEntity).\(relationship.name), which is kept as pairs"
            )
        }
        var sql = "SELECT \(rowPlans[destination].columns) FROM \(layout.table(destination).quoted) AS t0"
        sql += " WHERE t0.\(column) \(Self.keyCondition(owners.count))"
        if let condition = layout.entityCondition(destination, subentities: true, alias: "t0") {
            sql += " AND \(condition)"
        }
        sql += " ORDER BY t0.\(column)"
        if let order = layout.orderColumn(entityIndex, relationshipIndex) {
            sql += ", t0.\(order) IS NULL, t0.\(order)"
        }
        sql += ", t0._id"
        return try pool.read { (connection) throws(StoreError) in
            let statement = try connection.statement(sql)
            bind(owners, to: statement)
            var builder = RowBatchBuilder()
            try rowPlans[destination].readAll(statement, into: &builder)
            return builder.finish()
        }
    }

    public func memberKeys(
        entityIndex: Int, relationshipIndex: Int, owners: [Int64]
    ) throws(StoreError) -> [(owner: Int64, member: Int64)] {
        if owners.isEmpty { return [] }
        let sql = try memberKeysQuery(entityIndex, relationshipIndex, ownerCount: owners.count)
        return try pool.read { (connection) throws(StoreError) in
            let statement = try connection.statement(sql)
            bind(owners, to: statement)
            var result: [(owner: Int64, member: Int64)] = []
            while try statement.step() { result.append((statement.integer(0), statement.integer(1))) }
            return result
        }
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
        guard case .inverseSlot(let slot) = relationship.storage, let column = layout.column(destination, slot)?.quoted
        else {
            throw .unsupported(
                store: "SQLite",
                feature: "memberKeys of \(relationship.declaringEntity).\(relationship.name), which leads to one object"
            )
        }
        // Without an order and a condition, the index of the column has all that is asked for.
        let condition = layout.entityCondition(destination, subentities: true, alias: nil).map { " AND \($0)" } ?? ""
        let order = layout.orderColumn(entityIndex, relationshipIndex).map { "\($0) IS NULL, \($0), " } ?? ""
        return """
            SELECT \(column), _id FROM \(layout.table(destination).quoted) \
            WHERE \(column) \(Self.keyCondition(ownerCount))\(condition) ORDER BY \(column), \(order)_id
            """
    }

    /// What follows a column that is one of some keys: a single parameter however many there are.
    static func keyCondition(_ count: Int) -> String {
        count == 1 ? "= ?" : "IN (SELECT value FROM strata_list(?))"
    }

    private func bind(_ keys: [Int64], to statement: Statement) {
        if keys.count == 1 { statement.bind(keys[0], at: 1) } else { statement.bind(ValueList(keys: keys), at: 1) }
    }

    private func bound(_ compiled: CompiledFetch, on connection: Connection) throws(StoreError) -> Statement {
        let statement = try connection.statement(compiled.sql)
        for (index, value) in compiled.bindings.enumerated() { statement.bind(value, at: Int32(index + 1)) }
        return statement
    }
}

/// The statements that read rows of an entity by key.
struct KeyQuery: Sendable {
    let one: String
    let many: String

    init(layout: StoreLayout, rowPlan: RowPlan, entityIndex: Int) {
        let from = "SELECT \(rowPlan.columns) FROM \(layout.table(entityIndex).quoted) AS t0 WHERE t0._id "
        let condition = layout.entityCondition(entityIndex, subentities: true, alias: "t0").map { " AND \($0)" } ?? ""
        one = from + SQLiteStore.keyCondition(1) + condition
        many = from + SQLiteStore.keyCondition(2) + condition
    }
}
