import StrataSQL
import StrataStore

extension SQLiteStore {
    public func fetch(
        _ plan: FetchPlan, known: KnownRows?, cancellation: ReadCancellation?
    ) throws(StoreError) -> RowBatch {
        let answer = known == nil ? FetchCompiler.Answer.rows : .unknownRows
        let scan = ListScan(plan, model)
        let (entityIndex, limit) = (plan.entityIndex, plan.limit)
        var shape = FetchShape(plan, answer)
        return try pool.read(cancellation) { (connection) throws(StoreError) in
            if let scan, try isWorthwhile(scan, entityIndex, on: connection) {
                shape = FetchShape(plan, answer, scansLists: true)
            }
            let hasBegun = try narrowToNearest(&shape, of: plan, on: connection)
            defer { if hasBegun { connection.rollback() } }
            let statement = try bound(shape, of: plan, on: connection)
            return try connection.rows.collect(statement, rowPlans[entityIndex], known: known, expectedRows: limit)
        }
    }

    public func fetchIdentities(
        _ plan: FetchPlan, cancellation: ReadCancellation?
    ) throws(StoreError) -> [RowIdentity] {
        let rowPlan = rowPlans[plan.entityIndex]
        return try pool.read(cancellation) { (connection) throws(StoreError) in
            var shape = FetchShape(plan, .identities)
            let hasBegun = try narrowToNearest(&shape, of: plan, on: connection)
            defer { if hasBegun { connection.rollback() } }
            let statement = try bound(shape, of: plan, on: connection)
            // A row that cannot be understood ends the walk before its time.
            defer { statement.reset() }
            var result: [RowIdentity] = []
            while try statement.step() {
                let key = statement.integer(0)
                guard RowPlan.keys.contains(key) else { throw rowPlan.unsoundHeader(key) }
                let shape =
                    rowPlan.hasEntityColumn
                    ? try rowPlan.shape(named: statement.textBytes(1), key: key) : rowPlan.shapes[0]
                result.append(RowIdentity(entityIndex: shape.entityIndex, key: key))
            }
            return result
        }
    }

    public func count(_ plan: FetchPlan, cancellation: ReadCancellation?) throws(StoreError) -> Int {
        let shape = FetchShape(plan, .count)
        return try pool.read(cancellation) { (connection) throws(StoreError) in
            let statement = try bound(shape, of: plan, on: connection)
            guard try statement.step() else { return 0 }
            defer { statement.reset() }
            return Int(statement.integer(0))
        }
    }

    /// The prepared statement of a fetch with its values.
    func bound(_ shape: FetchShape, of plan: FetchPlan, on connection: Connection) throws(StoreError) -> Statement {
        let fetch: PreparedFetch
        if let known = connection.fetches.find(shape.key) {
            fetch = known
        } else {
            let compiled = try FetchCompiler(schema: schema, rowPlans: rowPlans).compile(shape, of: plan)
            fetch = try prepare(compiled.sql, compiled.parameters, on: connection)
            if compiled.isKept { connection.fetches.insert(fetch, shape.key) }
        }
        try fetch.bind(shape.constants, plan)
        return fetch.statement
    }

    /// Prepares a statement; a very large one is not cached.
    func prepare(
        _ sql: String, _ parameters: [FetchParameter], on connection: Connection
    ) throws(StoreError) -> PreparedFetch {
        let isLarge = sql.utf8.count >= CompiledFetch.sizeLimit
        return PreparedFetch(
            statement: isLarge ? try connection.prepare(sql, persistent: false) : try connection.statement(sql),
            parameters: parameters)
    }

    public func rows(entityIndex: Int, keys: [Int64]) throws(StoreError) -> RowBatch {
        if keys.isEmpty { return .empty }
        return try pool.read { (connection) throws(StoreError) in
            try rows(entityIndex: entityIndex, keys: keys, on: connection)
        }
    }

    package func rows(entityIndex: Int, keys: [Int64], on connection: Connection) throws(StoreError) -> RowBatch {
        let sql = keyQueries[entityIndex]
        let statement = try connection.statement(keys.count == 1 ? sql.one : sql.many)
        if keys.count == 1 {
            statement.bind(keys[0], at: 1)
        } else {
            statement.bind(ValueList(keys: Self.ascending(keys)), at: 1)
        }
        return try connection.rows.collect(statement, rowPlans[entityIndex], expectedRows: keys.count)
    }

    /// The keys in order, each once: neighbours in a table are read one after the other.
    private static func ascending(_ keys: [Int64]) -> [Int64] {
        if zip(keys, keys.dropFirst()).allSatisfy({ $0 < $1 }) { return keys }
        let sorted = keys.sorted()
        var result: [Int64] = []
        result.reserveCapacity(sorted.count)
        for key in sorted where key != result.last { result.append(key) }
        return result
    }

    /// What follows a column that is one of some keys: a single parameter however many there are.
    static func keyCondition(_ count: Int) -> String {
        count == 1 ? "= ?" : "IN (SELECT value FROM strata_list(?))"
    }

    func bind(_ keys: [Int64], to statement: Statement) {
        if keys.count == 1 { statement.bind(keys[0], at: 1) } else { statement.bind(ValueList(keys: keys), at: 1) }
    }
}

/// The statements that read rows of an entity by key.
struct KeyQuery: Sendable {
    let one: String
    let many: String

    init(layout: StoreLayout, rowPlan: RowPlan, entityIndex: Int) {
        let table = "\(layout.table(entityIndex).quoted) AS t0"
        let condition = layout.entityCondition(entityIndex, subentities: true, alias: "t0")
        one = rowPlan.select(from: "\(table) WHERE t0._id = ?" + (condition.map { " AND \($0)" } ?? ""))
        // CROSS JOIN keeps the order of the tables, so that the list is walked once and in its order.
        many = rowPlan.select(
            from: "strata_list(?) AS l CROSS JOIN \(table) ON t0._id = l.value"
                + (condition.map { " WHERE \($0)" } ?? ""))
    }
}
