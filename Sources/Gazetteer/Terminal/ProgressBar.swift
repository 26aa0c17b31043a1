import Foundation

/// A bar on the error output that shows how far a long step is. It draws nothing where that is not a terminal.
///
/// The bar redraws its line with only a carriage return and spaces, so that it works without escape codes too.
struct ProgressBar {
    private let title: String
    private let total: Int
    private let terminal: Terminal
    private let clock: () -> Double
    private let started: Double
    private var lastDrawn = -Double.infinity
    private var drawnWidth = 0

    /// Starts a bar.
    /// - Parameters:
    ///   - title: What is being done.
    ///   - total: How many units there are.
    ///   - terminal: Where to draw.
    ///   - clock: Gives the time in seconds.
    init(
        _ title: String, total: Int, terminal: Terminal,
        clock: @escaping () -> Double = { ProcessInfo.processInfo.systemUptime }
    ) {
        self.title = title
        self.total = total
        self.terminal = terminal
        self.clock = clock
        started = clock()
    }

    /// Shows that so many units are done. Draws at most 20 times a second.
    mutating func update(_ done: Int) {
        guard terminal.showsProgress else { return }
        let now = clock()
        guard now - lastDrawn >= 0.05 || done == total else { return }
        lastDrawn = now
        let line = Self.line(title, done: done, of: total, seconds: now - started, width: terminal.width - 1)
        draw(line)
    }

    /// Removes the bar.
    mutating func finish() {
        guard drawnWidth > 0 else { return }
        draw("")
        terminal.writeError("\r")
        drawnWidth = 0
    }

    private mutating func draw(_ line: String) {
        let width = DisplayWidth.of(line)
        terminal.writeError("\r" + line + String(repeating: " ", count: max(0, drawnWidth - width)))
        drawnWidth = width
    }

    /// The text of a bar: title, bar, share, units, rate, time left, as much of it as there is room for.
    static func line(_ title: String, done: Int, of total: Int, seconds: Double, width: Int) -> String {
        let share = total > 0 ? min(1, Double(done) / Double(total)) : 1
        var parts = ["\(Int(share * 100)) %", "\(Figures.grouped(done)) of \(Figures.grouped(total))"]
        if seconds > 0.5, done > 0 {
            let rate = Double(done) / seconds
            parts.append("\(Figures.grouped(Int(rate)))/s")
            parts.append("\(Figures.clock(Double(max(0, total - done)) / rate)) left")
        }
        func text(_ parts: [String]) -> String { parts.joined(separator: "  ") }
        while parts.count > 1, DisplayWidth.of(title) + DisplayWidth.of(text(parts)) + 14 > width { parts.removeLast() }
        let room = min(40, width - DisplayWidth.of(title) - DisplayWidth.of(text(parts)) - 4)
        guard room >= 4 else { return DisplayWidth.truncate("\(title)  \(parts[0])", to: width) }
        let filled = Int(share * Double(room))
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: room - filled)
        return "\(title)  \(bar)  \(text(parts))"
    }
}
