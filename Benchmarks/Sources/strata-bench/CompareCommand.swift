import ArgumentParser
import CBench
import Foundation

struct CompareCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare", abstract: "Runs everything, prints the table, and writes the results and the chart.")
    @OptionGroup var folder: FolderOption
    @Option(help: "The folder with contenders.py, and for results.json, details.json and results.svg.") var output = "."
    @Flag(help: "One round, without Python, FULL commits and growth: under three minutes.") var quick = false
    @Option(help: "How many cities the main lines have.") var n = 100_000
    @Option(help: "How many rounds the main lines have; 3, or 1 if quick.") var rounds: Int?
    @Option(parsing: .upToNextOption, help: "Only these workloads.") var only: [Workload] = []
    @Option(parsing: .upToNextOption, help: "Only these contenders besides raw and grdb.") var against: [String] = []
    @Flag(help: "Print, but write no files.") var dry = false

    func run() throws {
        bench_buffer_lines()
        let scripts = URL(filePath: output, directoryHint: .isDirectory)
        var comparison = Comparison(folder: folder.url, scripts: scripts)
        if !quick, !comparison.hasPython {
            print("SQLAlchemy and Django are left out: fetch-data.py could not install them here.\n")
        }
        let lines = lines(hasPython: comparison.hasPython)
        try comparison.prepare(lines)
        var results: [Result] = []
        // A line that fails costs neither those before it nor those after it.
        var failures: [String] = []
        print(Report.header)
        for line in lines {
            do {
                try comparison.run(line)
            } catch {
                failures.append("\(error)")
                print("\(line.workload.rawValue), N = \(line.n), failed: \(error)")
                continue
            }
            let found = comparison.results(line)
            print(Report.rows(found, title: line.workload.title))
            results += found
        }
        let micro = try MicroLines(folder: folder.url, n: n).measure()
        print(Report.micro(micro))
        print(Report.targets(results, n: n))
        if !dry {
            try Report.resultsJSON(results).write(to: scripts.appending(path: "results.json"))
            try Report.detailsJSON(results, micro).write(to: scripts.appending(path: "details.json"))
            try Data(Chart(results: results.filter { $0.n == n }, n: n).svg.utf8).write(
                to: scripts.appending(path: "results.svg"))
        }
        guard failures.isEmpty else { throw BenchError(failures.joined(separator: "\n")) }
    }

    /// What is run, in order.
    private func lines(hasPython: Bool) -> [Line] {
        let swift = [Raw.name, GRDBHand.name, GRDBCodable.name, StrataContender.name, StrataHistoryContender.name]
            .filter {
                against.isEmpty || [Raw.name, GRDBHand.name].contains($0) || against.contains($0)
            }
        // History costs nothing where nothing is written.
        func contenders(for workload: Workload) -> [String] {
            swift.filter { workload.writes || $0 != StrataHistoryContender.name }
        }
        let python = hasPython && !quick ? Comparison.python.filter { against.isEmpty || against.contains($0) } : []
        let rounds = rounds ?? (quick ? 1 : 3)
        var lines: [Line] = []
        for workload in Workload.allCases where only.isEmpty || only.contains(workload) {
            if quick, only.isEmpty, workload.isFull { continue }
            lines.append(
                Line(
                    workload: workload, n: n, contenders: contenders(for: workload) + python, rounds: rounds, runs: 2,
                    warmsUp: true))
        }
        guard !quick, only.isEmpty else { return lines }
        for workload in [Workload.w1, .w3] {
            let swift = contenders(for: workload)
            lines.append(Line(workload: workload, n: 10_000, contenders: swift, rounds: rounds, runs: 3, warmsUp: true))
            lines.append(Line(workload: workload, n: 1_000_000, contenders: swift, rounds: 2, runs: 1, warmsUp: false))
        }
        return lines
    }
}

/// Prints only the micro lines.
struct MicroCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "micro", abstract: "The cost of one read, one write, and of starting up.")
    @OptionGroup var folder: FolderOption
    @Option(name: .shortAndLong, help: "How many cities the store has.") var n = 100_000

    func run() throws {
        try StoreFiles(folder: folder.url).prepare(StrataContender.self, n: n)
        print(Report.micro(try MicroLines(folder: folder.url, n: n).measure()))
    }
}
