import StrataSQL
import StrataStore

/// PostgreSQL's SQL.
///
/// PostgreSQL cannot call the evaluator of predicates. What it says in the same way is written in its own words or by the
/// functions of ``functions``, which a database must have; everything else has no SQL, and is left to the evaluator.
package struct PostgresDialect: SQLDialect {
    package init() {}

    package var name: String { "PostgreSQL" }

    // MARK: Names and definitions

    package var ownTables: [String] {
        [
            "_metadata", "_keys", "_commits", "_blobs", "_history", "_history_changes", "_history_values",
            "_history_entities", "_history_consumers", "_history_positions",
        ]
    }
    package var reservedPrefix: String { "pg_" }
    package var nameLimit: Int? { 63 }

    package func quote(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

    package func columnType(_ storage: SlotStorage) -> String {
        switch storage {
        // By bytes, which is the same order on all machines.
        case .text: #"text COLLATE "C""#
        default: type(storage)
        }
    }

    /// The type of the values of a column.
    private func type(_ storage: SlotStorage) -> String {
        switch storage {
        case .integer, .key: "bigint"
        case .boolean: "boolean"
        case .double: "double precision"
        case .date: "timestamptz"
        case .text: "text"
        case .decimal: "numeric"
        case .bytes: "bytea"
        case .uuid: "uuid"
        // Longitude and latitude.
        case .geoPoint: "point"
        }
    }

    package var pairTableEnd: String { "" }

    package func indexTerm(_ column: String, _ storage: SlotStorage, descending: Bool) -> String {
        ordered(column, ascending: !descending)
    }

    package func uniqueSearch(_ column: String, _ storage: SlotStorage, _ parameter: String) -> String {
        "\(column) = \(parameter)"
    }

    package func spatialObjects(
        _ name: String, _ column: ColumnLayout, of table: TableLayout, _ names: inout NamePool
    ) -> [SchemaObject] {
        let sql = "CREATE INDEX \(quote(name)) ON \(table.quoted) USING gist (\(column.quoted))"
        return [SchemaObject(name: name, kind: "index", sql: sql)]
    }

    /// PostgreSQL finds other words in a text than Strata does.
    package func fullTextObjects(
        _ name: String, _ columns: [ColumnLayout], of table: TableLayout, _ names: inout NamePool
    ) -> [SchemaObject] { [] }

    // MARK: Parameters

    /// The protocol counts them in 16 bits.
    package var parameterLimit: Int { 60_000 }

    package func parameter(_ number: Int, _ kind: SQLKind, isList: Bool) -> String {
        "$\(number)::\(type(kind))\(isList ? "[]" : "")"
    }

    /// The list has the values as text.
    package func furtherParameter(_ position: Int, _ kind: SQLKind) -> String {
        "($\(parameterLimit + 1)::text[])[\(position + 1)]::\(type(kind))"
    }

    /// The type of values of a kind.
    func type(_ kind: SQLKind) -> String {
        switch kind {
        case .integer, .object: "bigint"
        case .double: "double precision"
        case .boolean: "boolean"
        case .number, .decimal: "numeric"
        case .text, .uri: "text"
        case .date: "timestamptz"
        case .uuid: "uuid"
        case .point: "point"
        case .json: "json"
        case .bytes, .external: "bytea"
        }
    }

    // MARK: Conditions

    package func constant(_ flag: Bool) -> String { flag ? "TRUE" : "FALSE" }

    package func equality(_ sql: String, constant: String, wants: Bool) -> String {
        wants ? "\(sql) = \(constant)" : "(\(sql) = \(constant)) IS NOT TRUE"
    }

    package func sameness(_ a: String, _ b: String, wants: Bool) -> String {
        "\(a) IS \(wants ? "NOT " : "")DISTINCT FROM \(b)"
    }

    package func selective(_ sql: String) -> String { sql }

    package func membership(_ sql: String, _ list: String, isSearched: Bool) -> String { "\(sql) = ANY(\(list))" }

    // MARK: Order and size

    package func ordered(_ sql: String, ascending: Bool) -> String {
        // A constant would be the number of a column.
        (sql == "NULL" ? "(SELECT NULL)" : sql) + (ascending ? " NULLS FIRST" : " DESC NULLS LAST")
    }

    /// Members of JSON may be of any kind.
    package func ordered(_ member: SQLMember, _ options: ComparisonOptions) -> String? { nil }

    package func limit(_ limit: String?, offset: String?) -> String {
        (limit.map { " LIMIT \($0)" } ?? "") + (offset.map { " OFFSET \($0)" } ?? "")
    }

    package var wholeGroup: String { " GROUP BY ()" }

    // MARK: Rows

    package func select(_ plan: RowPlan, _ source: RowSelection, skippingKnown: Bool) -> String {
        let columns = plan.columns.joined(separator: ", ")
        switch source {
        case .table(let condition):
            return "SELECT \(columns) FROM \(plan.table) AS t0" + (condition.map { " WHERE \($0)" } ?? "")
                + " ORDER BY t0._id"
        case .keys(let from, _), .sorted(let from): return "SELECT \(columns) FROM \(from)"
        }
    }

    // MARK: Writing

    package var insertHead: String { "INSERT INTO" }
    package var updateHead: String { "UPDATE" }

    package func writeParameter(_ number: Int, _ storage: SlotStorage) -> String { "$\(number)::\(type(storage))" }

    package func fileName(_ column: String) -> String { "NULL::text" }
}
