import Foundation

/// Sums up what the statements of a store cost, by their text. A store without it pays nothing for it.
///
///     let statistics = StatementStatistics()
///     var options = SQLiteStore.Options()
///     options.trace = statistics.record
///     // open, fetch, save …
///     for line in statistics.byStatement.prefix(10) { print(line.work.machineSteps, line.runs, line.sql) }
///
/// Safe to share between stores and threads.
public final class StatementStatistics: Sendable {
    /// All runs of one statement.
    public struct Line: Sendable, Hashable {
        /// The statement, with `?` for bound values.
        public let sql: String
        /// How often it ran.
        public fileprivate(set) var runs = 0
        /// How many rows it answered with.
        public fileprivate(set) var rows = 0
        /// How long it took, in seconds, with the reading of the rows.
        public fileprivate(set) var duration = 0.0
        /// What SQLite did for it.
        public fileprivate(set) var work = StatementWork()

        fileprivate init(sql: String) { self.sql = sql }
    }

    // Sound because it is reached with the lock held alone.
    private nonisolated(unsafe) var lines: [String: Line] = [:]
    private let lock = NSLock()

    /// Nothing counted yet.
    public init() {}

    /// Counts a run. For ``SQLiteStore/Options/trace``.
    public func record(_ trace: StatementTrace) {
        lock.withLock {
            var line = lines[trace.sql] ?? Line(sql: trace.sql)
            line.runs += 1
            line.rows += trace.rows
            line.duration += trace.duration
            line.work += trace.work
            lines[trace.sql] = line
        }
    }

    /// One line for each statement, the one with the most work first.
    public var byStatement: [Line] {
        lock.withLock { Array(lines.values) }.sorted {
            ($1.work.machineSteps, $0.sql) < ($0.work.machineSteps, $1.sql)
        }
    }

    /// How many statements ran.
    public var runs: Int { lock.withLock { lines.values.reduce(0) { $0 + $1.runs } } }

    /// The work of all statements.
    public var work: StatementWork { lock.withLock { lines.values.reduce(StatementWork()) { $0 + $1.work } } }

    /// Begins anew.
    public func clear() { lock.withLock { lines = [:] } }
}
