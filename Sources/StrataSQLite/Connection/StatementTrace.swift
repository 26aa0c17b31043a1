import StrataCSQLite

/// A statement that a store has run.
public struct StatementTrace: Sendable, Hashable {
    /// The statement, with `?` for bound values.
    public let sql: String
    /// The time from the first step to the end, in seconds, by a monotonic clock. It includes the reading of the rows.
    public let duration: Double
    /// How many rows the statement answered with.
    public let rows: Int
    /// What SQLite did for it.
    public let work: StatementWork
}

/// What SQLite did for one or more runs of a statement, counted by SQLite itself
/// (https://www.sqlite.org/c3ref/c_stmtstatus_counter.html). The same on a busy machine as on a quiet one.
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

    /// Takes the counts of a statement and sets them back.
    init(taking handle: OpaquePointer) {
        func take(_ counter: Int32) -> Int { Int(sqlite3_stmt_status(handle, counter, 1)) }
        machineSteps = take(SQLITE_STMTSTATUS_VM_STEP)
        fullScanSteps = take(SQLITE_STMTSTATUS_FULLSCAN_STEP)
        sorts = take(SQLITE_STMTSTATUS_SORT)
        automaticIndexRows = take(SQLITE_STMTSTATUS_AUTOINDEX)
    }
}
