import StrataCSQLite
import StrataSQL
import StrataStore

extension SQLiteStore {
    /// Whether a fetch passes over the table of an entity instead of looking up each element of a list.
    func isWorthwhile(_ scan: ListScan, _ entityIndex: Int, on connection: Connection) throws(StoreError) -> Bool {
        let most = Int64(scan.count) * 4
        return try maximumRows(of: layout.tableOfEntity[entityIndex], upTo: most, on: connection) <= most
    }

    /// An upper bound for the number of rows of a table: the distance between the minimum and the maximum of the reserved keys,
    /// and the number of rows with other keys. Counts no more than `limit` of these, and one.
    func maximumRows(of table: Int, upTo limit: Int64, on connection: Connection) throws(StoreError) -> Int64 {
        let name = layout.tables[table].quoted
        let first = StoreKeys.firstUnreserved
        let statement = try connection.statement(
            """
            SELECT (SELECT max(_id) FROM \(name) WHERE _id < \(first)), (SELECT min(_id) FROM \(name)), \
            (SELECT count(*) FROM (SELECT 1 FROM \(name) WHERE _id >= \(first) LIMIT ?1))
            """)
        statement.bind(limit + 1, at: 1)
        guard try statement.step() else { return 0 }
        defer { statement.reset() }
        let others = statement.integer(2)
        if statement.type(0) == SQLITE_NULL { return others }
        let (span, overflow) = statement.integer(0).subtractingReportingOverflow(statement.integer(1))
        return overflow || span > limit ? .max : span + 1 + others
    }
}
