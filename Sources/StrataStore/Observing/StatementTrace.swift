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
}
