import ArgumentParser
import Foundation
import StrataModel
import StrataSQLite

/// `strata migrate`: what a store needs to fit a model, a trial on a copy, and the migration itself.
struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Plans, tries or carries out the migration of a store to a model.",
        discussion: """
            Without --dry-run or --apply it prints the plan and writes nothing. A step that loses data needs --accept with \
            its name; a value for objects that have none is given as --fill City.population=0. The exit code is 1 if a \
            step has no answer.
            """)

    @Argument(help: "A SQLite store.", completion: .file())
    var store: String

    @Option(help: "The model file to migrate to.", completion: .file(extensions: ["yaml"]))
    var model: String

    @Option(help: "The number of a version in the lock file of the model; the present model if it is left out.")
    var to: Int?

    @Flag(help: "Print the plan. Nothing is written.")
    var plan = false

    @Flag(help: "Migrate a copy and measure the time. The store is only read.")
    var dryRun = false

    @Flag(help: "Migrate the store.")
    var apply = false

    @Option(help: ArgumentHelp("A step that may lose data.", valueName: "step"))
    var accept: [String] = []

    @Option(help: ArgumentHelp("A value for objects without one, as City.population=0.", valueName: "step=value"))
    var fill: [String] = []

    @Option(help: ArgumentHelp("A step whose values that do not fit become nil.", valueName: "step"))
    var clear: [String] = []

    @Option(
        help: ArgumentHelp(
            "A constraint; of duplicates the first one stays, and what led to others leads to it.", valueName: "step"))
    var keepFirst: [String] = []

    @Option(help: ArgumentHelp("As --keep-first, with the last one.", valueName: "step"))
    var keepLast: [String] = []

    @Flag(help: "Keep the store as it was beside the new one.")
    var keepOriginal = false

    func validate() throws {
        guard [plan, dryRun, apply].filter(\.self).count <= 1 else {
            throw ValidationError("choose one of --plan, --dry-run and --apply")
        }
    }

    func run() throws {
        let target = try to.map { try Output.version($0, of: model) } ?? Output.model(model)
        var options = SQLiteStore.Options()
        options.migration.answers = try answers(target)
        options.migration.keepsOriginal = keepOriginal
        do throws(StoreError) {
            let plan = try SQLiteStore.migrationPlan(for: store, to: target, options: options)
            print(plan)
            if plan.source.fingerprint == plan.target.fingerprint { return }
            let blocked = SQLiteStore.blockedSteps(of: plan, answers: options.migration.answers)
            if !blocked.isEmpty {
                Output.fail(StoreError.migrationNeedsAnswers(path: store, steps: blocked).description)
                throw StoreError.migrationNeedsAnswers(path: store, steps: blocked)
            }
            guard dryRun || apply else { return }
            let bar = ProgressBar()
            options.migration.onProgress = { bar.show($0) }
            let report =
                try dryRun
                ? SQLiteStore.dryRun(store, to: target, options: options)
                : SQLiteStore.migrate(store, to: target, options: options)
            bar.end()
            let seconds = String(format: "%.2f", report.seconds)
            print(dryRun ? "a copy was migrated in \(seconds) s; the store is unchanged" : "migrated in \(seconds) s")
            if let original = report.original { print("the store as it was is \(original)") }
        } catch {
            if case .migrationNeedsAnswers = error {} else { Output.fail(error.description) }
            throw ExitCode.failure
        }
    }

    private func answers(_ model: ManagedObjectModel) throws -> [String: MigrationAnswer] {
        var result: [String: MigrationAnswer] = [:]
        for step in accept { result[step] = .accept }
        for step in clear { result[step] = .clear }
        for step in keepFirst { result[step] = .keepFirst }
        for step in keepLast { result[step] = .keepLast }
        for text in fill {
            guard let equals = text.firstIndex(of: "=") else {
                throw ValidationError("--fill \(text) is not of the form City.population=0")
            }
            let step = String(text[..<equals])
            let parts = step.split(separator: ".").map(String.init)
            guard parts.count >= 2, let entity = model.entity(named: parts[0]),
                let type = entity.slot(named: parts.dropFirst().joined(separator: "."))?.type
            else { throw ValidationError("--fill \(text): the model has no attribute \(step)") }
            let value = String(text[text.index(after: equals)...])
            guard let converted = ValueConversion(from: .string, to: type).convert(.string(value)) else {
                throw ValidationError("--fill \(text): '\(value)' is no \(type.name)")
            }
            result[step] = .fill(converted)
        }
        return result
    }
}
