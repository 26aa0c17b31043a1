import Foundation
import StrataStore

/// How a database writes what Strata asks for: all that differs between the SQL of one engine and of another.
///
/// Plans, layouts and compilers say what is requested; a dialect says it in the words of its engine. It holds no connection and
/// no state. Statements are compiled once for each shape of a fetch, so that a dialect is asked while a statement is made,
/// and not for each row.
///
/// A method that returns nil says that the engine has no such thing: the request is refused with an error that names the
/// part, or that part is left to the evaluator.
package protocol SQLDialect: Sendable {
    /// The kind of store, for messages.
    var name: String { get }

    // MARK: Names and definitions

    /// The names of the tables with the data of the store itself.
    var ownTables: [String] { get }
    /// What the names of the engine's own tables begin with, in lower case.
    var reservedPrefix: String { get }
    /// How long names may be, in bytes of UTF-8; nil for no limit.
    var nameLimit: Int? { get }
    /// A name as it appears in SQL.
    func quote(_ name: String) -> String
    /// The declared type of a column.
    func columnType(_ storage: SlotStorage) -> String
    /// What follows the columns of a table of pairs, whose primary key are its two keys.
    var pairTableEnd: String { get }
    /// A column as a term of an index.
    func indexTerm(_ column: String, _ storage: SlotStorage, descending: Bool) -> String
    /// A column that equals a parameter, as the unique index of the column compares.
    func uniqueSearch(_ column: String, _ storage: SlotStorage, _ parameter: String) -> String
    /// What makes and keeps the index of points in a column; empty if the engine has none.
    func spatialObjects(_ name: String, _ column: ColumnLayout, of table: TableLayout, _ names: inout NamePool)
        -> [SchemaObject]
    /// What makes and keeps the index of the words in columns; empty if the engine has none.
    func fullTextObjects(_ name: String, _ columns: [ColumnLayout], of table: TableLayout, _ names: inout NamePool)
        -> [SchemaObject]

    // MARK: Parameters

    /// How many parameters a statement has; the rest are in a list, which is the last.
    var parameterLimit: Int { get }
    /// A parameter by its number, with values of a kind.
    func parameter(_ number: Int, _ kind: SQLKind, isList: Bool) -> String
    /// A value of the list after all other parameters.
    func furtherParameter(_ position: Int, _ kind: SQLKind) -> String

    // MARK: Conditions

    /// A condition that always holds, or never.
    func constant(_ flag: Bool) -> String
    /// Whether a value equals a constant, or differs from it; the value may be NULL, which differs from all constants.
    func equality(_ sql: String, constant: String, wants: Bool) -> String
    /// Whether two values are equal or both NULL, or the opposite.
    func sameness(_ a: String, _ b: String, wants: Bool) -> String
    /// A range that an index begins with: few rows are expected in it.
    func selective(_ sql: String) -> String
    /// A value that is one of a list, which is a parameter.
    /// - Parameter isSearched: Whether each row is asked, instead of looking up each element.
    func membership(_ sql: String, _ list: String, isSearched: Bool) -> String

    // MARK: Values

    /// A term and a constant of a kind as they compare; nil if the engine cannot compare them as ``ValueComparison`` does.
    func comparand(_ term: SQLTerm, _ form: ComparisonForm, with constant: SQLKind, _ options: ComparisonOptions)
        -> SQLComparand?
    /// Two terms as they compare; nil as above. Called only for kinds that have a common one.
    func comparands(_ a: SQLTerm, _ b: SQLTerm, _ options: ComparisonOptions) -> (left: String, right: String)?
    /// The value that is bound where ``SQLComparand/rounds`` says so.
    func rounded(_ value: SQLValue, for op: ComparisonOperator) -> SQLValue
    /// A term where equal values must be the same to the engine: for `DISTINCT`, `GROUP BY` and `UNION`.
    func canonical(_ term: SQLTerm) -> String
    /// A term of `GROUP BY` for an engine that would follow an index from group to group and look up each row in it, where to
    /// read all rows in their order and to sort them takes less time.
    func unindexed(_ sql: String) -> String
    /// Whether the engine tells equal values of a kind.
    func tellsEqual(_ kind: SQLKind) -> Bool
    /// A term among values of another kind, in a branch of `CASE`.
    func unified(_ term: SQLTerm, as kind: SQLKind) -> String?
    /// A term among values of another kind, on a side of `UNION`.
    func side(_ term: SQLTerm, as kind: SQLKind) -> String?
    /// Whether a text contains another, begins or ends with it.
    func search(_ text: String, _ op: ComparisonOperator, _ part: String) -> String
    /// The end of the range of texts that begin with a text.
    func endOfPrefix(_ text: String) -> SQLValue

    // MARK: Order and size

    /// A term of `ORDER BY`, with NULL before all values.
    func ordered(_ sql: String, ascending: Bool) -> String
    /// The term of `ORDER BY` for a member of JSON.
    func ordered(_ member: SQLMember, _ options: ComparisonOptions) -> String?
    /// `LIMIT` and `OFFSET`, each by its parameter.
    func limit(_ limit: String?, offset: String?) -> String
    /// `GROUP BY` for one group of all rows.
    var wholeGroup: String { get }

    // MARK: Functions

    /// What an operation gives for each row.
    /// - Parameters:
    ///   - kind: The kind of the result.
    ///   - evaluator: The evaluator's answer, given the constants of the condition, for an engine that can call it.
    func call(
        _ operation: SQLOperation, _ arguments: [SQLTerm], _ kind: SQLKind, _ parameters: inout FetchParameters,
        _ evaluator: @escaping @Sendable ([Value]) throws(StoreError) -> SQLCall
    ) -> String?
    /// An aggregate function over the values of rows that are not NULL.
    /// - Parameter clampsSums: Whether sums of whole numbers are clamped to 64 bits.
    func aggregate(
        _ function: FetchFunction, _ value: SQLTerm, _ kind: SQLKind, clampsSums: Bool,
        _ parameters: inout FetchParameters, _ evaluator: @escaping @Sendable ([Value]) throws(StoreError) -> SQLCall
    ) -> SQLTerm?
    /// The sum of a derived attribute.
    func derivedSum(_ value: String, of storage: SlotStorage, as result: SlotStorage) -> String
    /// The distance of two points.
    func distance(_ a: String, _ b: String, radius: String) -> String
    /// The rows whose points lie in one of two areas, as a condition on the key or the point of the row. The bounds of an
    /// area are south, north, west and east.
    func areaSearch(_ index: SpatialIndex, key: String, point: String, _ areas: [[String]]) -> String
    /// The rows whose words an index finds.
    func wordSearch(_ index: FullTextIndex, key: String, _ query: String) -> String

    // MARK: JSON

    /// A member of JSON text.
    func member(_ member: SQLMember, as form: JSONForm) -> String

    // MARK: Rows

    /// The statement that reads rows.
    /// - Parameter skippingKnown: Whether rows that the reader knows may be left out but for their headers.
    func select(_ plan: RowPlan, _ source: RowSelection, skippingKnown: Bool) -> String

    // MARK: Writing

    /// What inserts begin with, before the name of the table.
    var insertHead: String { get }
    /// What the update of one row begins with, before the name of the table. If it fails, the row is as before.
    var updateHead: String { get }
    /// The next parameter of a statement that writes, by its number.
    func writeParameter(_ number: Int, _ storage: SlotStorage) -> String
    /// The name of the file with the value of a column, or NULL.
    func fileName(_ column: String) -> String
}

/// How a column is written that is compared with values of a kind.
package enum ComparisonForm: Sendable {
    case asItIs
    /// As the options of the comparison say.
    case folded
    /// By its decimal value, which an engine's own numbers may not hold.
    case decimal
}

/// A term as it compares with a constant.
package struct SQLComparand {
    /// The term, perhaps inside a function, with the collation by which it compares.
    package let sql: String
    /// The kind of the parameter that it is compared with.
    package let kind: SQLKind
    /// Whether the constant must be rounded for the operator; see ``SQLDialect/rounded(_:for:)``.
    package let rounds: Bool
    /// What follows the parameter: a cast to the type that compares.
    package let suffix: String

    package init(_ sql: String, _ kind: SQLKind, rounds: Bool = false, suffix: String = "") {
        self.sql = sql
        self.kind = kind
        self.rounds = rounds
        self.suffix = suffix
    }
}

/// What a condition computes of values of one row.
package enum SQLOperation: Sendable {
    case function(FetchFunction)
    case method(FetchMethod)
    case cast(CastType)
    case like(ComparisonOptions)
    case matches(ComparisonOptions)
    /// Whether one of the texts after the query has its words.
    case matchesText
    case near
    /// The arguments are two points, a distance and the earth's radius.
    case within(GeoUnit)
    case box
    /// An aggregate function over the arguments.
    case aggregate(FetchFunction)
    /// A comparison with JSON.
    case json
    /// A number that is drawn for each row.
    case draw

    /// What it is called in messages.
    package var name: String {
        switch self {
        case .function(let function), .aggregate(let function): function.rawValue
        case .method(let method): method.rawValue
        case .cast(let type): "CAST as \(type.rawValue)"
        case .like: "LIKE"
        case .matches: "MATCHES"
        case .matchesText: "MATCHESTEXT"
        case .near: "near"
        case .within(let unit): unit.rawValue
        case .box: "withinBox"
        case .json: "a comparison with JSON"
        case .draw: "random"
        }
    }
}

/// What a member of JSON is read as.
package enum JSONForm: Sendable {
    /// JSON text; NULL for null and where there is none.
    case fragment
    /// A member that is text; NULL for all others.
    case text
    /// A member that is a number, or a truth value as 1 or 0; NULL for all others.
    case number
}

/// Where the rows of a statement come from.
package enum RowSelection {
    /// The whole table, by key, or what a condition on `t0` leaves of it.
    case table(condition: String?)
    /// What follows `FROM`, where the table is `t0`, in its order: best by the keys first and then the rows.
    case keys(String, isLimited: Bool)
    /// What follows `FROM`, in its order; all that the condition leaves.
    case sorted(String)
}

extension SQLDialect {
    package func tellsEqual(_ kind: SQLKind) -> Bool { true }

    /// A condition that is false where it was NULL.
    package func coalesced(_ sql: String) -> String { "coalesce(\(sql), \(constant(false)))" }

    package func unsupported(_ feature: String) -> StoreError { .unsupported(store: name, feature: feature) }
}
