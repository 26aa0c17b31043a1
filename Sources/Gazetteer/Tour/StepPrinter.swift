import Foundation

/// Prints the steps of the tour: a title, what the step has to say, and the statements and the time that it took.
final class StepPrinter {
    /// Where to write.
    let terminal: Terminal
    private let log: StatementLog
    private let fullSQL: Bool
    private var number = 0
    private var statementCount = 0

    private static let shownStatements = 6

    /// Makes a printer.
    init(terminal: Terminal, log: StatementLog, fullSQL: Bool) {
        self.terminal = terminal
        self.log = log
        self.fullSQL = fullSQL
    }

    /// How many steps there were, and how many statements they took.
    var totals: (steps: Int, statements: Int) { (number, statementCount) }

    /// Runs a step. What `body` prints is between the title and the statements.
    /// - Returns: How many statements the step took.
    @discardableResult
    func step(_ title: String, _ body: () throws -> Void) throws -> Int {
        let start = begin(title)
        try body()
        return end(start)
    }

    /// Prints a step that waits for others.
    /// - Returns: How many statements the step took.
    @discardableResult
    nonisolated(nonsending) func step(_ title: String, _ body: () async throws -> Void) async throws -> Int {
        let start = begin(title)
        try await body()
        return end(start)
    }

    private func begin(_ title: String) -> ContinuousClock.Instant {
        number += 1
        terminal.line(terminal.styled("\(number)  \(title)", .title))
        _ = log.drain()
        return .now
    }

    private func end(_ start: ContinuousClock.Instant) -> Int {
        let time = ContinuousClock.now - start
        let entries = log.drain()
        statementCount += entries.count
        print(entries, seconds: time.inSeconds)
        return entries.count
    }

    /// Prints a line of a step.
    func say(_ text: String) { terminal.line("   " + DisplayWidth.printable(text)) }

    /// Prints that something is as it should be.
    func confirm(_ text: String) { terminal.line("   \(terminal.styled("✓", .good)) \(DisplayWidth.printable(text))") }

    /// Prints a table.
    func show(_ table: Table) {
        for line in table.lines(for: terminal, indent: 3) { terminal.line(line) }
    }

    private func print(_ entries: [StatementLog.Entry], seconds: Double) {
        let summary = "\(Figures.counted(entries.count, "statement")) · \(Figures.duration(seconds))"
        terminal.line("   " + terminal.styled(summary, .bold))
        let groups = StatementLog.grouped(entries)
        let shown = fullSQL ? groups : Self.costliest(groups)
        for group in shown { terminal.line(terminal.styled(line(group), .dim)) }
        if shown.count < groups.count {
            let rest = entries.count - shown.reduce(0) { $0 + $1.count }
            terminal.line(
                terminal.styled("     … and \(grouped(rest)) more that took less (--full-sql shows all)", .dim))
        }
        terminal.line()
    }

    /// The statements that took most of the time, in the order in which they ran.
    private static func costliest(_ groups: [StatementLog.Group]) -> [StatementLog.Group] {
        let ranked = groups.indices.sorted { (groups[$1].seconds, $0) < (groups[$0].seconds, $1) }
        return ranked.prefix(shownStatements).sorted().map { groups[$0] }
    }

    private func grouped(_ number: Int) -> String { Figures.grouped(number) }

    /// A statement with how often it ran, its rows and its time; shortened to a line of the terminal unless it is
    /// requested in full.
    private func line(_ group: StatementLog.Group) -> String {
        let times = group.count > 1 ? "\(grouped(group.count)) × " : ""
        let rows = group.rows > 0 ? "\(Figures.counted(group.rows, "row")), " : ""
        let end = "  \(rows)\(Figures.duration(group.seconds))"
        let sql = times + DisplayWidth.printable(group.sql)
        if fullSQL { return "     " + sql + end }
        let room = max(20, terminal.width - 5 - DisplayWidth.of(end))
        return "     " + DisplayWidth.truncate(sql, to: room) + end
    }
}
