import StrataCSQLite
import StrataSQL
import StrataStore

extension CommitWriter {
    /// From so many new rows of a table on, its indexes are created again if it has few other rows.
    private static let manyRows = 5000

    /// Writes new rows, table by table, in the order of their keys.
    func writeInserts() throws(StoreError) {
        let inserts = ascending(changes.inserts) { $0.row.row }
        let tables = store.layout.tableOfEntity
        var start = 0
        while start < inserts.count {
            let table = tables[inserts[start].row.row.entityIndex]
            var end = start + 1
            while end < inserts.count, tables[inserts[end].row.row.entityIndex] == table { end += 1 }
            // Before the rows of the next table come: the check of their references may need these indexes.
            try withoutIndexes(of: table, count: end - start) { () throws(StoreError) in
                try write(inserts[start..<end])
            }
            start = end
        }
    }

    private func write(_ inserts: ArraySlice<ChangeSet.Insert>) throws(StoreError) {
        var rest = inserts
        while let first = rest.first {
            let entityIndex = first.row.row.entityIndex
            let run = rest.prefix { $0.row.row.entityIndex == entityIndex }
            rest = rest[run.endIndex...]
            let plan = store.writePlans[entityIndex]
            var statement: Statement?
            var size = 0
            let columns = Int(WritePlan.leadingParameters) + plan.bindings.count
            for part in StatementRows.parts(run, columns: columns) {
                if size != part.count { statement = try connection.statement(plan.insertSQL(rows: part.count)) }
                size = part.count
                guard let statement else { continue }
                if size == 1 {
                    try write(part[part.startIndex], plan, statement)
                } else {
                    let written = try write(part, plan, statement)
                    if written == part.count { continue }
                    let single = try connection.statement(plan.insertSQL())
                    for insert in part.dropFirst(written) { try write(insert, plan, single) }
                }
            }
        }
    }

    private func write(_ insert: ChangeSet.Insert, _ plan: WritePlan, _ statement: Statement) throws(StoreError) {
        let row = insert.row.row
        _ = try bind(row, plan, statement, 0)
        let code = statement.stepCode()
        let error = code == SQLITE_DONE ? nil : connection.failure(code)
        statement.reset()
        guard let error else { return }
        guard code == uniqueConstraintCode, try addUniqueConflict(plan, row) else {
            throw rejected(error, plan, row.key)
        }
    }

    /// Writes several rows by one statement, up to one that violates a constraint.
    /// - Returns: How many it wrote. The others have to be written one by one, to find all that cannot be.
    private func write(
        _ inserts: ArraySlice<ChangeSet.Insert>, _ plan: WritePlan, _ statement: Statement
    ) throws(StoreError) -> Int {
        var parameter: Int32 = 0
        for insert in inserts { parameter = try bind(insert.row.row, plan, statement, parameter) }
        return try runTogether(statement) ? inserts.count : connection.changes
    }

    /// Binds a new row after a parameter.
    /// - Returns: The last parameter of the row.
    @inline(__always)
    private func bind(
        _ row: RowPointer, _ plan: WritePlan, _ statement: Statement, _ last: Int32
    ) throws(StoreError) -> Int32 {
        statement.bind(row.key, at: last + 1)
        statement.bind(max(1, row.version), at: last + 2)
        var parameter = last + WritePlan.leadingParameters
        for binding in plan.bindings {
            parameter += 1
            try bind(row, binding, plan, statement, parameter)
        }
        return parameter
    }

    /// Changes in the order of table and key, so that tables grow at their ends. Mostly they come in that order already.
    func ascending<T>(_ changes: [T], _ row: (T) -> RowPointer) -> [T] {
        let isSorted = changes.indices.dropFirst().allSatisfy { !precedes(row(changes[$0]), row(changes[$0 - 1])) }
        return isSorted ? changes : changes.sorted { precedes(row($0), row($1)) }
    }

    /// Whether one row is written before another.
    func precedes(_ a: RowPointer, _ b: RowPointer) -> Bool {
        let tables = store.layout.tableOfEntity
        let x = tables[a.entityIndex]
        let y = tables[b.entityIndex]
        return x != y ? x < y : a.key < b.key
    }

    // MARK: Many rows

    /// Inserts many rows into a table that has few without its indexes, and creates these afterwards. Sorting once costs
    /// half as much as finding the place of each row in each index, and far less if the indexes outgrow the page cache. All
    /// of it is part of the transaction.
    ///
    /// If a unique index cannot be created, there is a conflict, but it is not known which: the commit starts again
    /// with indexes.
    private func withoutIndexes(
        of table: Int, count: Int, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        let few = Int64(count / 2)
        guard count >= Self.manyRows, !needsIndexes, try store.maximumRows(of: table, upTo: few, on: connection) <= few
        else {
            return try body()
        }
        let indexes = store.schema.objects.filter { $0.spareTable == table }
        for index in indexes { try connection.execute("DROP INDEX IF EXISTS \(Identifiers.quote(index.name))") }
        try body()
        do throws(StoreError) {
            try connection.withSmallCache(unless: store.options.cacheSize) { () throws(StoreError) in
                for index in indexes { try connection.execute(index.sql) }
            }
        } catch {
            needsIndexes = true
            throw error
        }
    }
}
