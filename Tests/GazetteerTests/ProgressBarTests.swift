import Testing

@testable import Gazetteer

@Suite("The progress bar")
struct ProgressBarTests {
    @Test("It shows share, units, rate and the time left")
    func line() {
        let line = ProgressBar.line("Importing", done: 50, of: 200, seconds: 2, width: 100)
        let bar = String(repeating: "█", count: 10) + String(repeating: "░", count: 30)
        #expect(line == "Importing  \(bar)  25 %  50 of 200  25/s  0:06 left")
    }

    @Test("It fits any width, and stays within it at both ends", arguments: [40, 60, 79, 200])
    func widths(width: Int) {
        for done in [0, 1, 17_000, 34_265] {
            let line = ProgressBar.line("Importing", done: done, of: 34_265, seconds: 3.3, width: width)
            #expect(DisplayWidth.of(line) <= width)
            #expect(line.hasPrefix("Importing  "))
        }
        #expect(ProgressBar.line("Importing", done: 0, of: 0, seconds: 0, width: 80).contains("100 %"))
    }

    @Test("It draws seldom, leaves an empty line behind, and uses no escape codes")
    func drawing() {
        let screen = Screen()
        var now = 0.0
        var bar = ProgressBar("Working", total: 1000, terminal: screen.terminal(progress: true), clock: { now })
        for done in 1...1000 {
            now += 0.001
            bar.update(done)
        }
        bar.finish()
        let frames = screen.error.split(separator: "\r", omittingEmptySubsequences: true)
        #expect((20...23).contains(frames.count))
        #expect(frames.last?.allSatisfy { $0 == " " } == true)
        #expect(screen.error.hasSuffix("\r"))
        #expect(!screen.error.contains("\u{1B}"))
        #expect(screen.out.isEmpty)
    }

    @Test("Nothing is drawn where the error output is not a terminal")
    func pipe() {
        let screen = Screen()
        var bar = ProgressBar("Working", total: 10, terminal: screen.terminal(progress: false))
        for done in 1...10 { bar.update(done) }
        bar.finish()
        #expect(screen.error.isEmpty)
    }
}
