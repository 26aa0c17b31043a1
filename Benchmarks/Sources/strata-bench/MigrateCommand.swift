import ArgumentParser
import CBench
import Foundation
import GRDB
import Strata

/// The CPU time of migrations of one table, next to raw SQLite, GRDB's migrator and Django's.
struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Measures migrations of a table with many rows.",
        discussion: """
            Every contender works on a fresh copy of one file, one after the other in each round, and must leave the same data. \
            The ratio is the median over the rounds of a contender's CPU time against raw's of the same round.
            """)
    @OptionGroup var folder: FolderOption
    @Option(name: .shortAndLong, help: "How many rows.") var n = 1_000_000
    @Option(help: "How many rounds.") var rounds = 5
    @Option(help: "One of the changes only.") var change: String?

    private struct Line {
        let change: MigrationChange
        let contender: String
        var cpu: [Double] = []
        var ratios: [Double] = []
    }

    func run() throws {
        bench_buffer_lines()
        let files = MigrationFiles(folder: folder.url, n: n)
        let base = try files.base()
        let python = PythonMigrations(folder: folder.url)
        print("\(n) rows; CPU time in ms, median of \(rounds) rounds; ratio to raw of the same round")
        for change in MigrationChange.allCases where self.change.map({ $0 == change.rawValue }) ?? true {
            let statements = try MigrationFiles.statements(change, like: try small(change))
            var lines = ["raw", "grdb", "strata", "django"].map { Line(change: change, contender: $0) }
            for _ in 0..<rounds {
                var check: Int64?
                var raw = 0.0
                for index in lines.indices {
                    guard
                        let (cpu, own) = try trial(lines[index].contender, change, statements, base: base, python)
                    else { continue }
                    if lines[index].contender == "raw" { raw = cpu }
                    guard check ?? own == own else {
                        throw BenchError("\(lines[index].contender) \(change.rawValue): the file is different")
                    }
                    check = own
                    lines[index].cpu.append(cpu)
                    lines[index].ratios.append(cpu / raw)
                }
            }
            for line in lines { show(line) }
        }
    }

    /// A file with a few rows that Strata has migrated, for the text of its tables and indexes.
    private func small(_ change: MigrationChange) throws -> String {
        let source = try MigrationFiles(folder: folder.url, n: 10).base()
        let path = folder.url.appending(path: "trial-migrated-\(change.rawValue).sqlite").path
        StoreFiles.remove(path)
        try FileManager.default.copyItem(atPath: source, toPath: path)
        try strata(MigrationFiles.model(change), path)
        return path
    }

    /// - Returns: The CPU time in milliseconds and the check value; nil for a contender that is not installed.
    private func trial(
        _ contender: String, _ change: MigrationChange, _ statements: [String], base: String, _ python: PythonMigrations
    ) throws -> (Double, Int64)? {
        let path = folder.url.appending(path: "trial-migration.sqlite").path
        StoreFiles.remove(path)
        defer { StoreFiles.remove(path) }
        try FileManager.default.copyItem(atPath: base, toPath: path)
        // An app has its model anyway.
        let model = try MigrationFiles.model(change)
        let start = bench_cpu_ns()
        switch contender {
        case "raw": try raw(statements, path)
        case "grdb": try grdb(change, statements, path)
        case "strata": try strata(model, path)
        default:
            return try python.run(change, path).map { ($0, try MigrationFiles.check(change, path)) }
        }
        let end = bench_cpu_ns()
        let expected = change == .rebuild ? 2 : 3
        guard try MigrationFiles.indexes(path) == expected else {
            throw BenchError("\(contender) \(change.rawValue): not \(expected) indexes")
        }
        return (Double(end - start) / 1e6, try MigrationFiles.check(change, path))
    }

    private func raw(_ statements: [String], _ path: String) throws {
        let database = try RawDatabase(path)
        try database.execute("PRAGMA foreign_keys = OFF")
        try database.execute("BEGIN IMMEDIATE")
        for sql in statements { try database.execute(sql) }
        try database.execute("COMMIT")
    }

    private func grdb(_ change: MigrationChange, _ statements: [String], _ path: String) throws {
        let queue = try GRDBHand.open(path)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("change") { database in
            switch change {
            case .add: try database.alter(table: "place") { $0.add(column: "note", .text) }
            case .addDefault:
                try database.alter(table: "place") { $0.add(column: "rank", .integer).notNull().defaults(to: 7) }
            case .rebuild, .convert: for sql in statements { try database.execute(sql: sql) }
            }
        }
        try migrator.migrate(queue)
        try queue.close()
    }

    private func strata(_ model: ManagedObjectModel, _ path: String) throws {
        var options = SQLiteStore.Options()
        options.migration.answers = ["Place.country": .accept, "Country.places": .accept]
        try SQLiteStore.migrate(path, to: model, options: options)
    }

    private func show(_ line: Line) {
        func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
        func padded(_ text: String, _ width: Int) -> String {
            text.padding(toLength: width, withPad: " ", startingAt: 0)
        }
        let name = padded(line.change.rawValue, 11) + padded(line.contender, 8)
        guard !line.cpu.isEmpty else { return print("\(name) not installed") }
        let ratio = median(line.ratios)
        let bound = line.contender == "strata" ? " (bound \(line.change.bound))" : ""
        print("\(name) \(String(format: "%9.1f  %6.2f", median(line.cpu), ratio))\(bound)")
    }
}

/// Django's migrations, in a process of their own.
struct PythonMigrations {
    let folder: URL

    /// - Returns: The CPU time in milliseconds; nil if Django is not installed.
    func run(_ change: MigrationChange, _ path: String) throws -> Double? {
        let python = folder.appending(path: "venv/bin/python")
        guard FileManager.default.isExecutableFile(atPath: python.path) else { return nil }
        let process = Process()
        let pipe = Pipe()
        process.executableURL = python
        process.arguments = ["contenders.py", "migrate", change.rawValue, path]
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0, let cpu = Double(String(decoding: data, as: UTF8.self).dropLast()) else {
            throw BenchError("Django failed at \(change.rawValue)")
        }
        return cpu
    }
}
