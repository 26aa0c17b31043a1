import ArgumentParser
import Foundation
import StrataCoreData

/// `strata coredata export`: a Core Data store as a store of Strata.
struct CoreDataExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Copies a Core Data store into a new store of Strata.",
        discussion: """
            Prints how many objects were read and written, and every value, reference and object that could not be taken over \
            as it was. The Core Data store is only read. The exit code is 0 if everything was taken over, else 1; the new store \
            is there in both cases. After an error there is none, and the exit code is 2.
            """)

    @Argument(help: "A store of Core Data or SwiftData.", completion: .file())
    var path: String

    @Option(help: ArgumentHelp("The new store, which must not exist.", valueName: "store.sqlite"), completion: .file())
    var to: String

    @Option(help: "The model: .xcdatamodeld, .xcdatamodel, .momd or .mom.", completion: .file())
    var model: String?

    @Option(
        help: ArgumentHelp(
            "The model file of your app; the new store is made for it. Its names are those that 'strata model convert' gives.",
            valueName: "App.strata.yaml"),
        completion: .file(extensions: ["yaml"]))
    var appModel: String?

    @Flag(help: "Print the report as JSON.")
    var json = false

    func run() throws {
        let target = try appModel.map { try Output.model($0) }
        let bar = ProgressBar()
        var options = CoreDataStore.ExportOptions()
        options.onProgress = { bar.show($0) }
        let report: CoreDataExportReport
        do throws(StoreError) {
            report = try CoreDataStore.export(
                path: path, to: to, model: model.map { .file(path: $0) } ?? .automatic, as: target, options: options)
        } catch {
            bar.end()
            Output.fail(error.description)
            throw ExitCode(2)
        }
        bar.end()
        if json { try Output.json(ExportReport(report)) } else { printText(report) }
        if !report.isComplete { throw ExitCode.failure }
    }

    private func printText(_ report: CoreDataExportReport) {
        for warning in report.warnings { Output.fail("warning: \(warning)") }
        func count(_ read: Int, _ written: Int) -> String { read == written ? "\(read)" : "\(written) of \(read)" }
        Output.columns(
            report.entities.map { [$0.entity, count($0.read, $0.written)] }
                + report.pairs.map { [$0.relationship, count($0.read, $0.written) + " pairs"] })
        for problem in report.problems { print(problem) }
        let all = report.problemCounts.values.reduce(0, +)
        if all > 0 { print("\(all) values, references and objects were not taken over as they were") }
        for problem in report.integrityProblems { print("integrity: \(problem)") }
        print("exported to \(to) in \(String(format: "%.2f", report.seconds)) s")
    }
}

/// The report as JSON. The stored properties are the members.
private struct ExportReport: Encodable {
    struct Count: Encodable {
        let name: String
        let read: Int
        let written: Int
    }

    struct Problem: Encodable {
        let kind: String
        let entity: String
        let property: String
        let key: Int64?
        let reason: String
    }

    let entities: [Count]
    let pairs: [Count]
    let problems: [Problem]
    let problemCounts: [String: Int]
    let integrityProblems: [String]
    let warnings: [String]
    let isComplete: Bool
    let seconds: Double

    init(_ report: CoreDataExportReport) {
        entities = report.entities.map { Count(name: $0.entity, read: $0.read, written: $0.written) }
        pairs = report.pairs.map { Count(name: $0.relationship, read: $0.read, written: $0.written) }
        problems = report.problems.map {
            Problem(kind: $0.kind.rawValue, entity: $0.entity, property: $0.property, key: $0.key, reason: $0.reason)
        }
        problemCounts = Dictionary(uniqueKeysWithValues: report.problemCounts.map { ($0.key.rawValue, $0.value) })
        integrityProblems = report.integrityProblems
        warnings = report.warnings
        isComplete = report.isComplete
        seconds = report.seconds
    }
}
