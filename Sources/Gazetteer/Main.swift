import ArgumentParser
import Foundation
import Strata

/// Starts the program. Whatever goes wrong is said in one line on the error output, and the exit code is not 0.
@main
enum Main {
    @MainActor
    static func main() async {
        let terminal = Terminal.standard()
        let command: GazetteerCommand
        do {
            command = try GazetteerCommand.parse()
        } catch {
            let code = GazetteerCommand.exitCode(for: error)
            if code == .success {
                terminal.line(GazetteerCommand.fullMessage(for: error))
            } else {
                complain("\(GazetteerCommand.message(for: error)); --help tells more", terminal)
            }
            exit(code.rawValue)
        }
        do {
            try await command.runTour(on: terminal)
        } catch {
            complain("\(error)", terminal)
            exit(ExitCode.failure.rawValue)
        }
    }

    /// Says what is wrong, in one line.
    private static func complain(_ text: String, _ terminal: Terminal) {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        terminal.writeError("Gazetteer: \(DisplayWidth.printable(line))\n")
    }
}
