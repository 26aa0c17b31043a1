import ArgumentParser
import Foundation
import StrataStackMob

/// The commands.
@main
struct Travel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "travel", abstract: "Keeps the places that you visited, with and without a network.",
        subcommands: [Add.self, Visit.self, List.self, Sync.self], defaultSubcommand: List.self)

    /// What all commands take.
    struct Place: ParsableArguments {
        @Option(help: "The file of the journal.") var journal = "travel.sqlite"
        @Option(help: "The server, as host and port.") var server = "localhost:8080"

        /// Opens the journal. Nothing is sent.
        func open() throws -> Journal {
            var configuration = try StackMobConfiguration(publicKey: "7c1f0b6e-52d4-4b1e-9a36-0d6f2f0a9b55")
            configuration.dialect.host = server
            configuration.dialect.usesExtensions = true
            configuration.sessionStorage = MemorySessionStorage()
            let stack = try StackMobStore.open(
                model: GazetteerModel.model, client: StackMobClient(configuration), location: .file(path: journal),
                options: Journal.options)
            return try Journal(stack.remote)
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Adds a city.")
        @OptionGroup var place: Place
        @Argument(help: "The name of the city.") var name: String
        @Option(help: "The code of its country, such as PE.") var country: String
        @Option(help: "How many people live there.") var population: Int64 = 0

        func run() async throws {
            try await place.open().add(name, country: country, population: population)
        }
    }

    struct Visit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Records a visit to a city.")
        @OptionGroup var place: Place
        @Argument(help: "The name of the city.") var name: String
        @Argument(help: "What you want to remember.") var note: String

        func run() async throws { try await place.open().visit(name, note: note) }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Lists cities and visits.")
        @OptionGroup var place: Place

        func run() async throws {
            let journal = try place.open()
            for line in try await journal.lines() { print(line) }
            let waiting = try journal.waiting()
            if waiting > 0 { print("\(waiting) changes wait to be sent; run: travel sync") }
        }
    }

    struct Sync: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Sends what waits, and fetches what others changed.")
        @OptionGroup var place: Place

        func run() async throws {
            let report = try await place.open().sync.synchronize()
            print("\(report.results.count) sent, \(report.received) received, \(report.removed) removed")
            for change in report.failures { print("refused: \(change)") }
        }
    }
}
