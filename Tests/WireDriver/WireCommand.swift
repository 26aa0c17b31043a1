import ArgumentParser
import Foundation

/// `strata-wire`: what a dialect makes of cases, one per line.
@main
struct WireCommand: AsyncParsableCommand {
    /// The dialects that there are cases for.
    enum Dialect: String, ExpressibleByArgument, CaseIterable {
        case stackmob, maxleap, parse, azure

        var driver: any WireDriver.Type {
            switch self {
            case .stackmob: StackMobWire.self
            case .maxleap: MaxLeapWire.self
            case .parse: ParseWire.self
            case .azure: AzureWire.self
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "strata-wire",
        abstract: "Answers cases of a wire protocol, one JSON object a line.",
        discussion: """
            Each line of standard input is a case: {"id": text, "area": text, …} with the input of its area. For each a line \
            is printed: {"id": …, "actual": {…}} with what the dialect makes of it – requests, values, what a session or a \
            store does. A member "expect" is not looked at. A line that is no case gets an answer with an error, and the \
            next is read; one of blanks alone gets none. The page of the dialect in Documentation lists \
            the areas.
            """)

    @Option(help: "The dialect.")
    var dialect: Dialect

    func run() async throws {
        var isFirst = true
        while var line = readLine() {
            // Some editors begin a file with a byte order mark.
            if isFirst, line.first == "\u{FEFF}" { line.removeFirst() }
            isFirst = false
            if line.allSatisfy(\.isWhitespace) { continue }
            let answer = await dialect.driver.answer(to: line)
            FileHandle.standardOutput.write(Data((answer + "\n").utf8))
        }
    }
}
