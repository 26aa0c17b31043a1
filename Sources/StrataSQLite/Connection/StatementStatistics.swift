import StrataSQL
import StrataStore

/// Sums up what the statements of a store cost, by their text. A store without it pays nothing for it.
///
///     let statistics = StatementStatistics()
///     var options = SQLiteStore.Options()
///     options.trace = statistics.record
///     // open, fetch, save …
///     for line in statistics.byStatement.prefix(10) { print(line.work.machineSteps, line.runs, line.sql) }
///
/// It keeps a limited number of statements. A program whose statements never repeat gets the sum of those with the least work
/// under ``others``.
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

    /// The text of the line with the sum of all statements that have none of their own.
    public static let others = "(others)"

    private let lines = Guarded<[String: Line]>([:])
    private let limit: Int

    /// Creates statistics in which nothing is counted yet.
    /// - Parameter limit: The maximum number of statements with a line of their own, at least 2. Half of the lines are summed
    ///   up when there are more.
    public init(limit: Int = 2000) { self.limit = max(2, limit) }

    /// Counts a run. For ``SQLiteStore/Options/trace``.
    public func record(_ trace: StatementTrace) {
        lines.withLock { lines in
            if lines[trace.sql] == nil, lines.count > limit { Self.reduce(&lines, to: limit / 2) }
            var line = lines[trace.sql] ?? Line(sql: trace.sql)
            line.runs += 1
            line.rows += trace.rows
            line.duration += trace.duration
            line.work += trace.work
            lines[trace.sql] = line
        }
    }

    /// Sums up the lines with the least work.
    private static func reduce(_ lines: inout [String: Line], to count: Int) {
        var others = lines.removeValue(forKey: Self.others) ?? Line(sql: Self.others)
        for line in sorted(lines.values).dropFirst(count) {
            others.runs += line.runs
            others.rows += line.rows
            others.duration += line.duration
            others.work += line.work
            lines[line.sql] = nil
        }
        lines[Self.others] = others
    }

    private static func sorted(_ lines: some Sequence<Line>) -> [Line] {
        lines.sorted { ($1.work.machineSteps, $0.sql) < ($0.work.machineSteps, $1.sql) }
    }

    /// One line for each statement, the one with the most work first.
    public var byStatement: [Line] { Self.sorted(lines.withLock { Array($0.values) }) }

    /// How many statements ran.
    public var runs: Int { lines.withLock { $0.values.reduce(0) { $0 + $1.runs } } }

    /// The work of all statements.
    public var work: StatementWork { lines.withLock { $0.values.reduce(StatementWork()) { $0 + $1.work } } }

    /// Forgets all that was counted.
    public func clear() { lines.withLock { $0 = [:] } }
}
