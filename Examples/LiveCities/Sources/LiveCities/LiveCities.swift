import ArgumentParser
import Foundation
import Hummingbird
import Strata

/// The commands.
@main
struct LiveCities: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "live-cities",
        abstract: "Shows the largest cities of the Gazetteer on a web page that follows the store.",
        subcommands: [Serve.self, Edit.self], defaultSubcommand: Serve.self)

    struct Serve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Serves the page.")
        @Argument(help: "The store.") var store = "gazetteer.sqlite"
        @Option(help: "The port at 127.0.0.1; 0 for any that is free.") var port = 8080
        @Option(help: "How many cities the page shows.") var top = 40
        @Flag(help: "Start a second process that edits cities, so that there is something to see.") var edit = false

        func run() async throws {
            let list = try await LiveList(PersistentContainer(GazetteerModel.self, at: .file(path: store)), top: top)
            let editor = edit ? try startEditor() : nil
            defer { editor?.terminate() }
            let service = Application(
                router: routes(list),
                configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
                onServerRunning: { channel in
                    print("Open http://127.0.0.1:\(channel.localAddress?.port ?? port)/ in a browser; end with Ctrl-C.")
                })
            try await service.runService()
        }

        /// Runs this program again, with `edit`.
        private func startEditor() throws -> Process {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            process.arguments = ["edit", store, "--top", String(top)]
            try process.run()
            return process
        }
    }

    struct Edit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Changes populations of cities: of a city that you name, or of random ones until you press Ctrl-C.")
        @Argument(help: "The store.") var store = "gazetteer.sqlite"
        @Option(help: "The name of a city.") var city: String?
        @Option(help: "Its new population.") var population: Int64?
        @Option(help: "Among how many of the largest cities the random ones are.") var top = 40
        @Option(help: "The milliseconds between two random edits.") var pause = 800

        func validate() throws {
            guard (city == nil) == (population == nil) else {
                throw ValidationError("--city and --population go together")
            }
        }

        func run() async throws {
            let editor = try Editor(.file(path: store))
            if let city, let population {
                guard try await editor.set(population, of: city) else {
                    throw ValidationError("there is no city \(city)")
                }
            } else {
                while true {
                    print(try await editor.editOne(amongLargest: top))
                    try await Task.sleep(for: .milliseconds(pause))
                }
            }
        }
    }
}
