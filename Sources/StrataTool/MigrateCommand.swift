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
            its name; a value for objects that have none is given as --fill City.population=0. Versions in the lock file \
            of the model that change the result are stops on the way. The exit code is 1 if a step has no answer.
            """)

    @Argument(
        help: "A SQLite store, or a PostgreSQL database by its URL: postgres://user@host/database.",
        completion: .file())
    var store: String

    @Option(help: "The schema of the database.")
    var schema = "public"

    @Option(help: "The model file to migrate to.", completion: .file(extensions: ["yaml"]))
    var model: String

    @Option(help: "The number of a version in the lock file of the model; the present model if it is left out.")
    var to: Int?

    @Flag(help: "Print the plan. Nothing is written.")
    var plan = false

    @Flag(
        help:
            "Migrate a copy, or a database in a transaction that is taken back, and measure the time. Nothing is kept.")
    var dryRun = false

    @Flag(help: "Migrate the store.")
    var apply = false

    @OptionGroup var answers: MigrationAnswerOptions

    @Flag(help: "Keep the original store next to the new one; not for a database.")
    var keepOriginal = false

    func validate() throws {
        guard [plan, dryRun, apply].filter(\.self).count <= 1 else {
            throw ValidationError("choose one of --plan, --dry-run and --apply")
        }
    }

    func run() throws {
        let target = try to.map { try Output.version($0, of: model) } ?? Output.model(model)
        var migration = MigrationOptions()
        migration.answers = try answers.all(for: target)
        migration.keepsOriginal = keepOriginal
        migration.versions = try Output.versions(of: model)
        do throws(StoreError) {
            let place = StorePlace(store)
            printDeferred(try place.deferredSteps(schema: schema))
            let plan = try place.migrationPlan(to: target, migration, schema: schema)
            print(plan)
            if plan.source.fingerprint == plan.target.fingerprint { return }
            let blocked = SQLiteStore.blockedSteps(of: plan, answers: migration.answers)
            if !blocked.isEmpty {
                Output.fail(StoreError.migrationNeedsAnswers(path: store, steps: blocked).description)
                throw StoreError.migrationNeedsAnswers(path: store, steps: blocked)
            }
            guard dryRun || apply else { return }
            let bar = ProgressBar()
            migration.onProgress = { bar.show($0) }
            let report = try place.migrate(to: target, migration, schema: schema, isTrial: dryRun)
            bar.end()
            let seconds = String(format: "%.2f", report.seconds)
            switch place {
            case .file where dryRun: print("a copy was migrated in \(seconds) s; the store is unchanged")
            case .postgres where dryRun:
                print("the database was migrated in \(seconds) s, and everything taken back; it is unchanged")
            default: print("migrated in \(seconds) s")
            }
            if let original = report.original { print("the store as it was is \(original)") }
        } catch {
            if case .migrationNeedsAnswers = error {} else { Output.fail(error.description) }
            throw ExitCode.failure
        }
    }

    /// The tool does not have the code of such steps.
    private func printDeferred(_ steps: [DeferredMigrationStep]) {
        for step in steps { print("deferred, to be finished by the app: \(step)") }
    }
}
