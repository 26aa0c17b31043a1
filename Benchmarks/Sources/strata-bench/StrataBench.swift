import ArgumentParser
import Foundation

@main
struct StrataBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "strata-bench",
        abstract: "Measures Strata against raw SQLite, GRDB, SQLAlchemy and Django on the same work.",
        subcommands: [
            CompareCommand.self, RunCommand.self, PrepareCommand.self, MicroCommand.self, MigrateCommand.self,
        ])
}

/// The contenders of this program; the Python ones run in a process of their own.
var contenders: [any Contender.Type] {
    [Raw.self, GRDBHand.self, GRDBCodable.self, StrataContender.self, StrataHistoryContender.self]
}

struct FolderOption: ParsableArguments {
    @Option(help: "The folder with the data that fetch-data.py made; stores and copies go there, too.")
    var folder = "Data"
    var url: URL { URL(filePath: folder, directoryHint: .isDirectory) }
}

struct PrepareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prepare", abstract: "Makes the stores that the runs read and copy, where they are missing.")
    @OptionGroup var folder: FolderOption
    @Argument(help: "The contender.") var contender: String
    @Option(name: .shortAndLong, help: "How many cities.") var n = 100_000

    func run() throws {
        let files = StoreFiles(folder: folder.url)
        if contender == TextDates.name { return try files.prepare(TextDates.self, n: n) }
        try files.prepare(try named(contender), n: n)
    }
}

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "One contender, one workload, one process: prints a line of JSON.")
    @OptionGroup var folder: FolderOption
    @Argument(help: "The contender.") var contender: String
    @Argument(help: "The workload.") var workload: Workload
    @Option(name: .shortAndLong, help: "How many cities.") var n = 100_000
    @Option(help: "How many timed runs.") var runs = 2
    @Flag(help: "Begin with the timed runs; nothing is counted then.") var noWarmUp = false

    func run() throws {
        let sample = try Runner(folder: folder.url, warmsUp: !noWarmUp, runs: runs).run(
            named(contender), workload, n: n)
        print(String(decoding: try JSONEncoder().encode(sample), as: UTF8.self))
    }
}

func named(_ name: String) throws -> any Contender.Type {
    guard let found = contenders.first(where: { $0.name == name }) else {
        throw ValidationError(
            "there is no contender \(name), only \(contenders.map { $0.name }.joined(separator: ", "))")
    }
    return found
}

/// The store for the Python contenders, whose libraries keep dates as text.
enum TextDates: Contender {
    static let name = "text-dates"
    static let family = "text"

    static func makeStore(at path: String, data: DataSet, cities: Bool) throws {
        let format = Date.ISO8601FormatStyle().year().month().day().dateSeparator(.dash)
            .time(includingFractionalSeconds: false).dateTimeSeparator(.space)
        try Raw.makeStore(at: path, data: data, cities: cities) { seconds, statement in
            statement.bind(Date(timeIntervalSinceReferenceDate: seconds).formatted(format) + ".000000", 7)
        }
    }

    static func trial(_ bench: Bench) throws -> Trial? { nil }
}
