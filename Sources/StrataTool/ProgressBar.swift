import Foundation
import StrataSQLite

/// A bar on the terminal; lines of their own where standard error is something else.
final class ProgressBar: Sendable {
    private let isTerminal = isatty(STDERR_FILENO) == 1

    func show(_ progress: MigrationProgress) {
        let width = 30
        let done = Int(progress.fraction * Double(width))
        let bar = String(repeating: "#", count: done) + String(repeating: ".", count: width - done)
        let percent = Int(progress.fraction * 100)
        let line = "[\(bar)] \(percent)% \(progress.text)"
        let text = isTerminal ? "\r\u{1B}[K" + line : line + "\n"
        FileHandle.standardError.write(Data(text.utf8))
    }

    func end() { if isTerminal { FileHandle.standardError.write(Data("\n".utf8)) } }
}
