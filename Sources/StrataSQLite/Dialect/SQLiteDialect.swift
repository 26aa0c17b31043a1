import Foundation
import StrataCSQLite
import StrataSQL
import StrataStore

/// SQLite's SQL. What it lacks, Strata's own functions do: they ask the evaluator of predicates, so that both give one answer.
struct SQLiteDialect: SQLDialect {
    /// The kind of store, for messages; stores of other formats in SQLite files have names of their own.
    var name = "SQLite"

    // MARK: Names and definitions

    var ownTables: [String] { ["_metadata", "_keys", DroppedFiles.table] + HistoryTables.all }
    var reservedPrefix: String { "sqlite_" }
    var nameLimit: Int? { nil }

    func quote(_ name: String) -> String {
        Identifiers.quote(name, allowsUppercase: true) { sqlite3_keyword_check($0, Int32($0.utf8.count)) != 0 }
    }

    func columnType(_ storage: SlotStorage) -> String {
        switch storage {
        case .integer, .boolean, .key: "INTEGER"
        case .double, .date: "REAL"
        case .text, .decimal: "TEXT"
        case .bytes, .uuid, .geoPoint: "BLOB"
        }
    }

    var pairTableEnd: String { " WITHOUT ROWID" }

    func indexTerm(_ column: String, _ storage: SlotStorage, descending: Bool) -> String {
        (storage == .decimal ? Self.decimalCollated(column) : column) + (descending ? " DESC" : "")
    }

    func uniqueSearch(_ column: String, _ storage: SlotStorage, _ parameter: String) -> String {
        let equality = "\(column) = \(parameter)"
        return storage == .decimal ? Self.decimalCollated(equality) : equality
    }

    // MARK: Parameters

    /// SQLite allows at least 999.
    var parameterLimit: Int { 900 }

    func parameter(_ number: Int, _ kind: SQLKind, isList: Bool) -> String { "?\(number)" }

    func furtherParameter(_ position: Int, _ kind: SQLKind) -> String {
        "strata_value(?\(parameterLimit + 1), \(position))"
    }

    // MARK: Conditions

    func constant(_ flag: Bool) -> String { flag ? "1" : "0" }

    func equality(_ sql: String, constant: String, wants: Bool) -> String {
        "\(sql) \(wants ? "=" : "IS NOT") \(constant)"
    }

    func sameness(_ a: String, _ b: String, wants: Bool) -> String { "\(a) IS \(wants ? "" : "NOT ")\(b)" }

    /// SQLite takes a range with one end for a quarter of the table, and rather reads all of it than sort the keys that an
    /// index gives. Who keeps an index asks for little of it.
    func selective(_ sql: String) -> String { "likelihood(\(sql), 0.01)" }

    func membership(_ sql: String, _ list: String, isSearched: Bool) -> String {
        isSearched ? "strata_listed(\(list), \(sql))" : "\(sql) IN (SELECT value FROM strata_list(\(list)))"
    }

    // MARK: Values

    /// The term on the left of a comparison or in an order: decimals by number, text by its bytes.
    ///
    /// In SQLite, the collation of an operand of a function or CASE can apply to the enclosing comparison, and that of the
    /// left side comes first. So the left side declares the collation.
    private func compared(_ term: SQLTerm) -> String {
        switch term.kind {
        case .decimal: Self.decimalCollated(term.isDecimalText ? term.sql : "strata_decimal(\(term.sql))")
        case .text, .uri: Self.byteCollated(term.sql)
        default: term.sql
        }
    }

    private static func decimalCollated(_ sql: String) -> String {
        "\(sql) COLLATE \(SQLFunctions.decimalCollation)"
    }

    private static func byteCollated(_ sql: String) -> String {
        sql.contains(SQLFunctions.decimalCollation) ? "\(sql) COLLATE BINARY" : sql
    }

    func comparand(
        _ term: SQLTerm, _ form: ComparisonForm, with constant: SQLKind, _ options: ComparisonOptions
    ) -> SQLComparand? {
        let sql =
            switch form {
            case .asItIs: term.kind == .point ? "strata_point(\(term.sql))" : compared(term)
            case .folded: folded(term, options)
            case .decimal: Self.decimalCollated("strata_decimal(\(term.sql))")
            }
        return SQLComparand(sql, constant)
    }

    func comparands(_ a: SQLTerm, _ b: SQLTerm, _ options: ComparisonOptions) -> (left: String, right: String)? {
        if a.kind.isPlainNumber, b.kind.isPlainNumber { return (a.sql, b.sql) }
        if a.kind.isNumber, b.kind.isNumber {
            return (Self.decimalCollated("strata_decimal(\(a.sql))"), "strata_decimal(\(b.sql))")
        }
        if a.kind == .text, b.kind == .text { return texts(folded(a, options), folded(b, options)) }
        if a.kind.isText { return texts(a.sql, b.sql) }
        if a.kind == .point { return ("strata_point(\(a.sql))", "strata_point(\(b.sql))") }
        return (a.sql, b.sql)
    }

    /// Two texts, of which the left says that they compare by bytes if a collation could reach out of either.
    private func texts(_ a: String, _ b: String) -> (left: String, right: String) {
        (b.contains(SQLFunctions.decimalCollation) ? "\(a) COLLATE BINARY" : Self.byteCollated(a), b)
    }

    func rounded(_ value: SQLValue, for op: ComparisonOperator) -> SQLValue { value }

    func canonical(_ term: SQLTerm) -> String {
        term.kind == .point ? "strata_point(\(term.sql))" : compared(term)
    }

    func unindexed(_ sql: String) -> String { "+" + sql }

    func unified(_ term: SQLTerm, as kind: SQLKind) -> String? { term.sql }

    /// A column of floating-point numbers would make its own of the whole numbers of the other side, and round them.
    func side(_ term: SQLTerm, as kind: SQLKind) -> String? { "+" + canonical(term) }

    /// Text without the differences that the options ignore. Where the model keeps the attribute in canonical form, that
    /// is the text without case and accents, and an index may serve.
    private func folded(_ term: SQLTerm, _ options: ComparisonOptions) -> String {
        if options.isEmpty || options.contains(.normalized) || term.kind != .text { return compared(term) }
        if options == [.caseInsensitive, .diacriticInsensitive], let column = term.canonicalColumn { return column }
        return Self.byteCollated("strata_fold(\(term.sql), \(options.rawValue))")
    }

    func search(_ text: String, _ op: ComparisonOperator, _ part: String) -> String {
        switch op {
        case .contains: "instr(\(text), \(part)) > 0"
        case .beginsWith: "strata_begins(\(text), \(part))"
        default: "strata_ends(\(text), \(part))"
        }
    }

    func endOfPrefix(_ text: String) -> SQLValue {
        // The last byte of UTF-8 is at most 0xF4, so the next one always exists; the bytes need not be text, because they
        // are compared one by one. Folding only accents leaves nothing, and all texts begin with that.
        var end = Array(text.utf8)
        if end.isEmpty { return .blob(Data()) }
        end[end.count - 1] += 1
        return .utf8(end)
    }

    // MARK: Order and size

    /// NULL comes before all values as it is.
    func ordered(_ sql: String, ascending: Bool) -> String { ascending ? sql : sql + " DESC" }

    /// Numbers come before text. Arrays and objects have no order among each other.
    func ordered(_ member: SQLMember, _ options: ComparisonOptions) -> String? {
        let scalar = call(JSONFunctions.scalar, member)
        let text = folded(SQLTerm(sql: scalar, kind: .text), options)
        return text == scalar ? scalar : "CASE typeof(\(scalar)) WHEN 'text' THEN \(text) ELSE \(scalar) END"
    }

    func limit(_ limit: String?, offset: String?) -> String {
        " LIMIT \(limit ?? "-1")" + (offset.map { " OFFSET \($0)" } ?? "")
    }

    var wholeGroup: String { " GROUP BY NULL" }

    // MARK: Rows

    func select(_ plan: RowPlan, _ source: RowSelection, skippingKnown: Bool) -> String {
        // A subquery with a limit keeps its order, and no condition is moved into it.
        switch source {
        case .table(let condition): plan.selectAll(condition, skippingKnown: skippingKnown)
        case .sorted(let from): plan.select(inOrderOf: from + " LIMIT -1", skippingKnown: skippingKnown)
        case .keys(let from, let isLimited):
            plan.select(keysFrom: isLimited ? from : from + " LIMIT -1", alias: "t0", skippingKnown: skippingKnown)
        }
    }

    // MARK: Writing

    /// By default, SQLite copies each page before a statement for many rows changes it, so that it can take back the rows
    /// before one that violates a constraint; that costs more than the rows. All transactions of this store end there, or
    /// go on after the rows that were written.
    var insertHead: String { StatementRows.insert }
    /// The same copies are made for one row if it has triggers, such as those of history. SQLite checks all constraints of a
    /// row before it writes it.
    var updateHead: String { StatementRows.update }

    func writeParameter(_ number: Int, _ storage: SlotStorage) -> String { "?" }

    func fileName(_ column: String) -> String { "CASE WHEN typeof(\(column)) = 'text' THEN \(column) END" }
}

extension StatementRows {
    /// What an insert of many rows begins with; see ``SQLiteDialect/insertHead``.
    package static var insert: String { "INSERT OR FAIL INTO" }
    /// The same for updates. Only for those whose failure ends the transaction: it is not known which rows were
    /// written.
    package static var update: String { "UPDATE OR FAIL" }
}

extension Identifiers {
    /// The name as it may appear in SQL: as it is where that is possible, otherwise in double quotes.
    package static func quote(_ name: String) -> String { SQLiteDialect().quote(name) }
}
