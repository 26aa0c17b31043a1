import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore

/// Sets columns of all rows that meet a condition, by one statement. Rows that have the values already keep their version.
struct BulkUpdater {
    let store: SQLiteStore
    let transaction: StoreTransaction
    let update: BulkUpdate

    var connection: Connection { transaction.connection }
    var entity: EntityDescription { store.model.entities[update.fetch.entityIndex] }
    var plan: WritePlan { store.writePlans[entity.index] }

    func run() throws(StoreError) -> BulkResult {
        let fields = try assignedFields()
        if !update.tellsKeys, update.checks.isEmpty, fields.allSatisfy({ faults($0, entity.slots[$0.slot]).isEmpty }) {
            return BulkResult(count: try write(fields, returnsKeys: false).count, change: nil, keys: [:])
        }
        // Beyond this number, nothing uses the rows before.
        var probe = update.fetch
        probe.limit = min(probe.limit ?? .max, BulkResult.mostRows + 1)
        let before = try store.identities(probe, on: connection)
        let isWhole = before.count <= BulkResult.mostRows
        // The rows before say which lists an object has left.
        let oldRows = isWhole ? try store.rows(entityIndex: entity.index, keys: before.map(\.key), on: connection) : nil
        let changed = try write(fields, returnsKeys: true).keys
        try check(fields, changed)
        let root = entity.rootIndex
        guard isWhole, let oldRows else { return BulkResult(count: changed.count, change: nil, keys: [root: changed]) }
        var old: [Int64: RowReference] = [:]
        for row in oldRows.rows { old[row.key] = row }
        var changes = ChangeSet()
        var previous: [RowReference] = []
        let slots = SlotSet(fields.map(\.slot))
        for row in try transaction.rows(entityIndex: entity.index, keys: changed).rows {
            changes.updates.append(.init(row: row, slots: slots, baseVersion: row.version - 1))
            previous.append(old[row.key] ?? row)
        }
        let change = StoreChange(
            changes: changes, effects: CommitEffects(), previousRows: previous, deletedRows: [])
        return BulkResult(count: changed.count, change: change, keys: [root: changed])
    }

    // MARK: Writing

    private func assignedFields() throws(StoreError) -> [WritePlan.Field] {
        var fields: [WritePlan.Field] = []
        for slot in update.slots {
            guard let field = plan.fields.first(where: { $0.slot == slot }) else {
                throw unsupported(slot, "is not stored")
            }
            if field.binding.allowsExternal, store.files != nil {
                throw unsupported(slot, "may be stored in an external file")
            }
            fields.append(field)
        }
        return fields
    }

    private func unsupported(_ slot: Int, _ reason: String) -> StoreError {
        .unsupported(
            store: "SQLite", feature: "a bulk update of \(entity.name).\(entity.slots[slot].name), which \(reason)")
    }

    /// - Parameter returnsKeys: Whether the keys are needed: for SQLite to return them takes longer than to write the rows.
    /// - Returns: The keys of the rows that are different now, and how many they are.
    private func write(
        _ fields: [WritePlan.Field], returnsKeys: Bool
    ) throws(StoreError) -> (keys: [Int64], count: Int) {
        // What the expressions give is computed for all rows before any is written.
        var columns = [FetchColumn("_key", .evaluatedObject)]
        var computed: [Int: String] = [:]
        for field in fields {
            guard case .expression(let expression)? = update.assignments[field.slot] else { continue }
            computed[field.slot] = "c\(columns.count)"
            columns.append(FetchColumn("c\(columns.count)", expression))
        }
        let compiled = try ValueCompiler(
            schema: store.schema, plan: ValuePlan(update.fetch, columns: columns), clampsSums: true
        ).compile()
        for (column, kind) in zip(columns, compiled.kinds).dropFirst() {
            try requireFit(column, kind, fields, computed)
        }
        // After the parameters of the condition, its limit and its offset.
        var next = compiled.parameters.count
        if update.fetch.limit != nil { next += 1 }
        if update.fetch.offset > 0 { next += 1 }
        var constants: [(field: WritePlan.Field, parameter: Int32)] = []
        var sets: [String] = []
        var differences: [String] = []
        for field in fields {
            let value: String
            if let column = computed[field.slot] {
                value = "_v.\(column)"
            } else {
                next += 1
                constants.append((field, Int32(next)))
                value = "?\(next)"
            }
            sets.append("\(field.column) = \(value)")
            if let order = field.orderColumn { sets.append("\(order) = NULL") }
            differences.append("\(plan.table).\(field.column) IS NOT \(value)")
        }
        let sql =
            statement(
                setting: sets.joined(separator: ", "), differing: differences.joined(separator: " OR "),
                rows: computed.isEmpty && compiled.parameters.isEmpty && isAboutAll ? nil : compiled.sql,
                computed: computed.values.sorted(by: Self.isBefore)) + (returnsKeys ? " RETURNING _id" : "")
        let statement = try connection.prepare(sql, persistent: false)
        try PreparedFetch(statement: statement, parameters: compiled.parameters).bind(compiled.constants, update.fetch)
        let writer = CommitWriter(store: store, connection: connection, changes: ChangeSet())
        try withExtendedLifetime(update.constants) { () throws(StoreError) in
            for (field, parameter) in constants {
                try writer.bind(update.constants.row, field.binding, plan, statement, parameter)
            }
        }
        var changed: [Int64] = []
        do throws(StoreError) {
            while try statement.step() { changed.append(statement.integer(0)) }
        } catch {
            guard case .constraint(_, let reason) = error else { throw error }
            throw .constraint(
                entity: entity.name, reason: "the bulk update would break a constraint (\(reason)); nothing was changed"
            )
        }
        return (changed.sorted(), returnsKeys ? changed.count : connection.changes)
    }

    /// Whether the update is about all rows of the table.
    private var isAboutAll: Bool {
        let fetch = update.fetch
        let condition = store.layout.entityCondition(
            entity.index, subentities: fetch.includesSubentities, alias: "t0")
        return fetch.predicate == nil && fetch.limit == nil && fetch.offset == 0 && condition == nil
    }

    /// The statement that writes. SQLite keeps all rows of a join before it writes the first one, so there is a join only if
    /// something is computed.
    /// - Parameter rows: What gives the keys, and the values that are computed; nil for all rows.
    private func statement(setting sets: String, differing: String, rows: String?, computed: [String]) -> String {
        let head = "\(StatementRows.update) \(plan.table) SET \(sets), _version = _version + 1"
        guard let rows else {
            return "\(head) WHERE \(differing)"
        }
        guard computed.isEmpty else {
            let names = (["_k"] + computed).joined(separator: ", ")
            return "WITH _v(\(names)) AS MATERIALIZED (\(rows)) \(head) FROM _v "
                + "WHERE \(plan.table)._id = _v._k AND (\(differing))"
        }
        return "WITH _v(_k) AS (\(rows)) \(head) WHERE _id IN (SELECT _k FROM _v) AND (\(differing))"
    }

    /// `c2` before `c10`.
    private static func isBefore(_ a: String, _ b: String) -> Bool { (a.count, a) < (b.count, b) }

    /// Refuses expressions of which the store cannot say that their values are of the attribute's type.
    private func requireFit(
        _ column: FetchColumn, _ kind: SQLKind, _ fields: [WritePlan.Field], _ computed: [Int: String]
    ) throws(StoreError) {
        guard let field = fields.first(where: { computed[$0.slot] == column.name }) else { return }
        let fits =
            switch field.binding.storage {
            case .integer, .double: kind.isPlainNumber
            case .boolean: kind == .boolean
            case .text: kind.isText
            case .date: kind == .date
            case .uuid: kind == .uuid
            case .geoPoint: kind == .point
            case .bytes: kind == .bytes
            // A sum of decimals is a floating-point number to SQLite.
            case .decimal, .key: false
            }
        if !fits { throw unsupported(field.slot, "cannot be computed in SQL by \(column.expression); set a constant") }
    }
}
