import StrataCSQLite
import StrataSQL
import StrataStore

/// How SQLite packs the rows of a plan.
///
/// The rows go through one aggregate function of the store, `strata_collect`, instead of coming back one at a time:
/// SQLite hands it all columns of a row in a single call, where a step loop makes one call for each of them. The call
/// must read the table directly; values that pass through a subquery are copied, which costs as much as the call saves.
extension RowPlan {
    /// SQLite takes at most 127 arguments in a call unless it was built otherwise; wider rows take several calls.
    static let argumentLimit = 100

    /// The statement that packs all rows of what follows `FROM`.
    func select(from: String) -> String { "SELECT \(Self.calls(columns)) FROM \(from)" }

    /// The statement that packs all rows of the table by key: without an index to walk, SQLite goes through the table,
    /// which is in the order of the keys.
    /// - Parameters:
    ///   - condition: What keeps the rows of an entity apart from others, if anything.
    ///   - skippingKnown: As in ``select(keysFrom:alias:skippingKnown:)``.
    func selectAll(_ condition: String?, skippingKnown: Bool) -> String {
        var test = condition
        if skippingKnown {
            let unknown = unknown(headerColumns(true).map { "t0.\($0)" })
            // CASE, because SQLite may ask the sides of an AND in any order, and rows of others must not be asked for.
            test = condition.map { "CASE WHEN \($0) THEN \(unknown) ELSE 0 END" } ?? unknown
        }
        return select(from: "\(table) AS t0 NOT INDEXED" + (test.map { " WHERE \($0)" } ?? ""))
    }

    /// The statement that packs the rows whose keys a subquery gives, in its order: only the keys pass through it, and
    /// the rows are read where the function is called. CROSS JOIN keeps the order of the tables.
    /// - Parameters:
    ///   - keysFrom: What follows `FROM` in the subquery; it must have a limit, or SQLite would take its order for
    ///     useless.
    ///   - alias: The table there.
    ///   - skippingKnown: Whether the reader knows some of the rows, of which it gets headers; their rows are not even
    ///     looked up.
    func select(keysFrom: String, alias: String, skippingKnown: Bool) -> String {
        let keys = headerColumns(skippingKnown).map { "\(alias).\($0)" }.joined(separator: ", ")
        let test = skippingKnown ? " AND " + unknown(headerColumns(true).map { "m.\($0)" }) : ""
        return select(from: "(SELECT \(keys) FROM \(keysFrom)) AS m CROSS JOIN \(table) AS t0 ON t0._id = m._id\(test)")
    }

    /// The statement that packs the rows of a subquery that has an order, in this order: SQLite keeps it for aggregate
    /// functions that it does not know to be indifferent to it.
    /// - Parameters:
    ///   - from: What follows `FROM` in the subquery; with a limit, so that no condition is moved into it.
    ///   - skippingKnown: As in ``select(keysFrom:alias:skippingKnown:)``.
    func select(inOrderOf from: String, skippingKnown: Bool) -> String {
        let names = columns.indices.map { "c\($0)" }
        let list = zip(columns, names).map { "\($0) AS \($1)" }.joined(separator: ", ")
        let test = skippingKnown ? " WHERE " + unknown(Array(names[..<headerColumns(true).count])) : ""
        return "SELECT \(Self.calls(names)) FROM (SELECT \(list) FROM \(from))\(test)"
    }

    /// The columns that make up a header; only the key if no more is requested.
    private func headerColumns(_ isWhole: Bool) -> [String] {
        isWhole ? ["_id", "_version"] + (hasEntityColumn ? ["_entity"] : []) : ["_id"]
    }

    private func unknown(_ columns: [String]) -> String {
        "\(RowCollector.testName)(\(columns.joined(separator: ", ")))"
    }

    private static func calls(_ columns: [String]) -> String {
        stride(from: 0, to: columns.count, by: argumentLimit).map { start in
            let part = columns[start..<min(start + argumentLimit, columns.count)]
            return "\(RowCollector.functionName)(\(part.joined(separator: ", ")))"
        }.joined(separator: ", ")
    }

    func mismatch(_ key: Int64, _ entityIndex: Int, _ field: Field, _ type: Int32) -> StoreError {
        let entity = model.entities[entityIndex]
        let slot = entity.slots[field.slot]
        let found =
            switch type {
            case SQLITE_INTEGER: "an integer"
            case SQLITE_FLOAT: "a real number"
            case SQLITE_TEXT: "text"
            default: "a blob"
            }
        return .invalidData(
            entity: entity.name, property: slot.name, key: key,
            reason: "the column holds \(found) that is not a valid \(slot.type?.name ?? "key")")
    }
}
