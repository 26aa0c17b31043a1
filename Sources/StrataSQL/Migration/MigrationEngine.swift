import StrataStore

/// What differs between engines when a plan of a migration is carried out.
///
/// The parts of a migration write SQL that all engines understand, and ask the engine for the rest. It works in the transaction of
/// the migration.
package protocol MigrationEngine: AnyObject {
    /// What errors call the store.
    var path: String { get }

    /// Runs a statement.
    func execute(_ sql: String) throws(StoreError)
    /// The first value of the first row as a number; nil if there is no row.
    func integer(_ sql: String) throws(StoreError) -> Int64?
    /// The first value of each row, which is text.
    func texts(_ sql: String) throws(StoreError) -> [String]

    // MARK: Values

    /// A constant as the column of a slot keeps it. Nil is ``null(for:)``.
    func constant(
        _ value: Value, for slot: SlotDescription, of entity: EntityDescription
    ) throws(StoreError) -> String
    /// A constant that may be the default of a column that is added; nil if there is no such literal.
    func defaultLiteral(_ value: Value) -> String?
    /// No value, with the type of a slot.
    func null(for slot: SlotDescription) -> String
    /// A value in another type; nil where it does not fit.
    /// - Parameters:
    ///   - sql: The value.
    ///   - rows: The rows that the value is about: what follows `FROM`.
    func converted(_ sql: String, _ conversion: MigrationConversion, rows: String) throws(StoreError) -> String
    /// What a derived attribute computes from a text.
    /// - Parameters:
    ///   - slot: The slot of the derived attribute.
    ///   - rows: The rows that the value is about: what follows `FROM`.
    func derived(
        _ derivation: Derivation, _ sql: String, for slot: SlotDescription, of entity: EntityDescription, rows: String
    ) throws(StoreError) -> String
    /// A new UUID each time, for a slot.
    func newUUID(for slot: SlotDescription) -> String
    /// The bytes of a column that may keep the name of a value that is elsewhere.
    /// - Parameter table: The table as it is called at the moment.
    func inlined(_ column: ColumnLayout, of table: String) -> String
    /// Further columns that belong to a column, as they appear in SQL. If one of them is not null, the column has a value, too.
    func companions(of column: ColumnLayout) -> [String]

    // MARK: Tables

    /// The name of a temporary table, as it appears in SQL.
    func temporary(_ name: String) -> String
    /// Makes a table of a layout under a name, as it appears in SQL.
    func createTable(_ table: Int, of layout: StoreLayout, named name: String) throws(StoreError)
    /// Makes a table of pairs of a layout under a name, as it appears in SQL.
    func createPairs(_ pairs: PairTable, of layout: StoreLayout, named name: String) throws(StoreError)
    /// What follows `ADD COLUMN`, for a column and those that belong to it.
    func definitions(of column: Int, in table: Int, of layout: StoreLayout) -> [String]
    /// The type of a column, which is the same where values need not be written again.
    func type(of column: Int, in table: Int, of layout: StoreLayout) -> String
    /// Whether a column with a reference can be dropped.
    var dropsKeyColumns: Bool { get }
    /// What follows `INSERT`, and what follows the query, so that rows that exist already are left out.
    var insertOfNewRows: (head: String, end: String) { get }
    /// Drops the indexes, constraints and triggers of tables that change.
    /// - Parameters:
    ///   - tables: The tables that the store has, by their present names as these appear in SQL.
    ///   - untouched: Those that neither move nor lose a column.
    func dropIndexes(of tables: [String], keeping untouched: [String]) throws(StoreError)
    /// Runs a closure in which names of tables change but not the references to them.
    func withoutReferences(_ body: () throws(StoreError) -> Void) throws(StoreError)

    // MARK: Keys

    /// The next key of each hierarchy, by the names of their topmost entities.
    func nextKeys() throws(StoreError) -> [String: Int64]
    /// Writes the next key of each hierarchy, and only these.
    func setNextKeys(_ keys: [String: Int64]) throws(StoreError)
}

/// How the values of a slot become those of another one.
package struct MigrationConversion {
    package let conversion: ValueConversion
    package let pastEntity: EntityDescription
    package let before: SlotDescription
    package let entity: EntityDescription
    package let slot: SlotDescription
}
