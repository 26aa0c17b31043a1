import StrataSQL
import StrataStore

/// How a migration works on SQLite: with the functions of ``MigrationFunctions``, on a connection in the open transaction.
final class SQLiteMigrationEngine: MigrationEngine {
    private let connection: Connection
    private let isMirror: Bool

    init(_ connection: Connection, isMirror: Bool) {
        self.connection = connection
        self.isMirror = isMirror
    }

    var path: String { connection.path }

    func execute(_ sql: String) throws(StoreError) { try connection.execute(sql) }

    func integer(_ sql: String) throws(StoreError) -> Int64? { try connection.integer(sql) }

    func texts(_ sql: String) throws(StoreError) -> [String] { try connection.texts(sql) }

    // MARK: Values

    func constant(_ value: Value, for slot: SlotDescription, of entity: EntityDescription) -> String {
        value.isNull ? "NULL" : "strata_value(\(Identifiers.literal(ValueRecord.text(of: value))))"
    }

    func defaultLiteral(_ value: Value) -> String? {
        switch SQLCoding.encode(value) {
        case .integer(let number): String(number)
        case .double(let number): number.isFinite ? "\(number)" : nil
        case .text(let text): text.utf8.contains(0) ? nil : Identifiers.literal(text)
        default: nil
        }
    }

    func null(for slot: SlotDescription) -> String { "NULL" }

    func converted(_ sql: String, _ conversion: MigrationConversion, rows: String) -> String {
        let types = [conversion.conversion.source, conversion.conversion.target].map { Identifiers.literal($0.name) }
        return "strata_convert(\(sql), \(types[0]), \(types[1]))"
    }

    func derived(
        _ derivation: Derivation, _ sql: String, for slot: SlotDescription, of entity: EntityDescription, rows: String
    ) -> String {
        let kind =
            switch derivation {
            case .lowercase: "lowercase"
            case .uppercase: "uppercase"
            default: "canonical"
            }
        return "strata_derive('\(kind)', \(sql))"
    }

    func newUUID(for slot: SlotDescription) -> String { "strata_new_uuid(\(slot.storage == .uuid ? 0 : 1))" }

    func inlined(_ column: ColumnLayout, of table: String) -> String { "strata_external(\(table).\(column.quoted))" }

    func companions(of column: ColumnLayout) -> [String] { [] }

    // MARK: Tables

    func temporary(_ name: String) -> String { "temp.\(name)" }

    private func schema(_ layout: StoreLayout) -> Schema { Schema(layout: layout, isMirror: isMirror) }

    func createTable(_ table: Int, of layout: StoreLayout, named name: String) throws(StoreError) {
        try execute(schema(layout).statement(of: layout.tables[table], named: name))
    }

    func createPairs(_ pairs: PairTable, of layout: StoreLayout, named name: String) throws(StoreError) {
        try execute(schema(layout).statement(of: pairs, named: name))
    }

    func definitions(of column: Int, in table: Int, of layout: StoreLayout) -> [String] {
        [schema(layout).definition(of: layout.tables[table].columns[column])]
    }

    func type(of column: Int, in table: Int, of layout: StoreLayout) -> String {
        layout.dialect.columnType(layout.tables[table].columns[column].storage)
    }

    var dropsKeyColumns: Bool { false }

    var insertOfNewRows: (head: String, end: String) { ("INSERT OR IGNORE", "") }

    /// They are created again from the model.
    func dropIndexes(of tables: [String], keeping untouched: [String]) throws(StoreError) {
        let names = try IndexReconciler.recordedNames(on: connection)
        var present: [String: (kind: String, table: String)] = [:]
        let statement = try connection.prepare(
            "SELECT name, type, tbl_name FROM sqlite_master WHERE type IN ('trigger', 'index', 'table')",
            persistent: false)
        while try statement.step() { present[statement.text(0)] = (statement.text(1), statement.text(2)) }
        // A full-text or spatial index is a table of its own; its triggers tell whose rows it has.
        func owner(_ name: String) -> String {
            guard let object = present[name] else { return "" }
            return object.kind == "table" ? present[name + "_insert"]?.table ?? "" : object.table
        }
        for kind in ["trigger", "index", "table"] {
            for name in names
            where present[name]?.kind == kind && !untouched.contains(Identifiers.quote(owner(name))) {
                try execute("DROP \(kind.uppercased()) IF EXISTS \(Identifiers.quote(name))")
            }
        }
    }

    func withoutReferences(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try execute("PRAGMA legacy_alter_table = ON")
        try body()
        try execute("PRAGMA legacy_alter_table = OFF")
    }

    // MARK: Keys

    func nextKeys() throws(StoreError) -> [String: Int64] {
        var next: [String: Int64] = [:]
        let list = try connection.prepare("SELECT entity, next FROM _keys", persistent: false)
        while try list.step() { next[list.text(0)] = list.integer(1) }
        return next
    }

    func setNextKeys(_ keys: [String: Int64]) throws(StoreError) {
        try execute("DELETE FROM _keys")
        let insert = try connection.prepare(
            "INSERT OR REPLACE INTO _keys(entity, next) VALUES(?, ?)", persistent: false)
        for (entity, next) in keys {
            insert.bind(entity, at: 1)
            insert.bind(next, at: 2)
            try insert.run()
        }
    }
}
