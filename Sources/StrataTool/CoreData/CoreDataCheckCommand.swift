import ArgumentParser
import StrataCoreData

/// `strata coredata check`: the rules of Core Data's format.
struct CoreDataCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Checks a store against the rules of Core Data's format.",
        discussion: """
            Checks versions and hashes, entities and keys, tables and indexes, kinds of values, references, orders, pairs, \
            and external files. The store is only read. The exit code is 0 if it keeps all rules, otherwise 1.
            """)

    @Argument(help: "A store of Core Data or SwiftData.", completion: .file())
    var path: String

    @Option(help: "The model: .xcdatamodeld, .xcdatamodel, .momd or .mom.", completion: .file())
    var model: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let problems: [CoreDataFormatProblem]
        do throws(StoreError) {
            problems = try CoreDataStore.check(
                at: path, model: model.map { .file(path: $0) } ?? .automatic)
        } catch {
            Output.fail(error.description)
            throw ExitCode.failure
        }
        if json {
            try Output.json(Report(problems: problems.map(Report.Problem.init)))
        } else {
            for problem in problems { print(problem) }
            print(problems.isEmpty ? "the store keeps all rules" : "\(problems.count) rules are broken")
        }
        if !problems.isEmpty { throw ExitCode.failure }
    }

    /// The problems as JSON. The stored properties are the members.
    private struct Report: Encodable {
        struct Problem: Encodable {
            let kind: String
            let subject: String
            let reason: String

            init(_ problem: CoreDataFormatProblem) {
                kind = problem.kind.rawValue
                subject = problem.subject
                reason = problem.reason
            }
        }

        let problems: [Problem]
    }
}
