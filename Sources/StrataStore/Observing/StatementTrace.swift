/// A statement that a store has run, with its time, its rows and its work.
///
///     var options = SQLiteStore.Options()
///     options.trace = { trace in
///         if trace.duration > 0.1 { print(trace.duration, trace.rows, trace.sql) }
///     }
///
/// Log slow statements with it, or count the statements of a test. `StatementStatistics` sums traces up by statement, and
/// `StrataTesting` has `expectStatements(_:in:_:)` for limits in tests.
///
/// The closure is called on the thread that ran the statement, which still holds its connection: it must return soon and must
/// not use the store. ``sql`` has `?` in place of values, so a log contains no user data, and equal statements have equal
/// texts. ``isTransactionControl`` tells `BEGIN`, `COMMIT` and the like from statements that read or write.
public struct StatementTrace: Sendable, Hashable {
    /// The statement, with `?` for bound values.
    public let sql: String
    /// The time from the first step to the end, in seconds, by a monotonic clock. It includes the reading of the rows.
    public let duration: Double
    /// How many rows the statement answered with.
    public let rows: Int
    /// What SQLite did for it.
    public let work: StatementWork
    /// The server that ran it, if the store has several: the address of a replica, without its password. nil for the primary.
    public let replica: String?

    /// Describes a run of a statement.
    public init(sql: String, duration: Double, rows: Int, work: StatementWork, replica: String? = nil) {
        self.sql = sql
        self.duration = duration
        self.rows = rows
        self.work = work
        self.replica = replica
    }

    /// Whether the statement only begins or ends a transaction or a savepoint, or is a `PRAGMA`: nothing that an application
    /// asks for by itself.
    public var isTransactionControl: Bool {
        ["BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA"].contains { sql.hasPrefix($0) }
    }
}

/// The work that SQLite did for one or more runs of a statement, counted by SQLite itself.
///
///     let statistics = StatementStatistics()
///     var options = SQLiteStore.Options()
///     options.trace = statistics.record
///     let container = try PersistentContainer(GazetteerModel.self, at: .file(path: "cities.sqlite"), options: options)
///     _ = try container.newContext().fetch(City.where { $0.population > 1_000_000 })
///     print(statistics.work.machineSteps, statistics.work.fullScanSteps, statistics.work.sorts)
///
/// The counts are the same on a busy machine as on an idle one, so they suit limits in tests better than times. Many
/// ``fullScanSteps`` or ``sorts`` in a fetch with few results mean that an index is missing; `strata explain` says which one
/// would help. The [counters](https://www.sqlite.org/c3ref/c_stmtstatus_counter.html) are SQLite's; a store on another database
/// leaves them 0. Works can be added.
public struct StatementWork: Sendable, Hashable {
    /// Instructions of SQLite's virtual machine, those of triggers and of foreign keys included.
    public var machineSteps = 0
    /// Steps forward through a whole table, because no index served.
    public var fullScanSteps = 0
    /// Sorts, because no index gave the order.
    public var sorts = 0
    /// Rows put into an index that was made for this one run, because a lasting one is missing.
    public var automaticIndexRows = 0

    /// No work at all.
    public init() {}

    /// The work of two.
    public static func + (a: StatementWork, b: StatementWork) -> StatementWork {
        var sum = a
        sum.machineSteps += b.machineSteps
        sum.fullScanSteps += b.fullScanSteps
        sum.sorts += b.sorts
        sum.automaticIndexRows += b.automaticIndexRows
        return sum
    }

    /// The work of two.
    public static func += (a: inout StatementWork, b: StatementWork) { a = a + b }
}
