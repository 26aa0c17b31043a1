// Does in a PostgreSQL database what a test kills it for.
//
//     PostgresKillProbe deferred URL BATCH COUNT
//
// Migrates the store to the second version of DeferredVersions, and does the step of that version, BATCH objects at a time. The
// step counts in each object how often it was visited, and makes an entry for each. Prints `opening`, `opened`, and `visited`
// with the number of objects that this process has visited. If COUNT is not 0, the process kills itself at that visit.
//
//     PostgresKillProbe save URL WRITER SEED
//
// Moves amounts between the accounts of CrashModels.ledger(), in one save each, until it is killed. Prints `found` with the
// number of the writer's last move in the store, and after each save `saved` with the number of the move and with how often
// the save has met conflicts.
//
// An error is printed as `failed` with its text.

#if Postgres
    import CrashModels
    import Foundation
    import MigrationWorld
    import Strata
    import StrataPostgres
    import Synchronization

    /// Prints a line at once: standard output is a pipe here, which `print` would buffer.
    func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Migrates a store and does the deferred step.
    func visitAll(_ url: String, batchSize: Int, dyingAt count: Int) async throws {
        let visits = Atomic(0)
        let stage = try DeferredVersions.stage(batchSize: batchSize) { person in
            if visits.add(1, ordering: .relaxed).newValue == count { kill(getpid(), SIGKILL) }
            try person.context?.insert(entityNamed: "Entry")["text"] = person["name"]
        }
        var options = PostgresStore.Options()
        options.migration.stages = [stage]
        say("opening")
        let container = try PersistentContainer(model: DeferredVersions.second(), at: .postgres(url), options: options)
        say("opened")
        say("visited \(try await container.finishDeferredMigration())")
        container.close()
    }

    /// Saves until somebody kills the process, or for ten minutes if nobody does.
    func save(_ url: String, writer: String, seed: UInt64) throws {
        let container = try PersistentContainer(model: CrashModels.ledger(), at: .postgres(url))
        var process = try SavingProcess(container, writer: writer, seed: seed)
        say("found \(process.last)")
        let end = ContinuousClock.now + .seconds(600)
        while ContinuousClock.now < end {
            let conflicts = try process.move()
            say("saved \(process.last) \(conflicts)")
        }
    }

    do {
        let arguments = CommandLine.arguments
        switch arguments.dropFirst().first {
        case "deferred" where arguments.count == 5:
            guard let size = Int(arguments[3]), let count = Int(arguments[4]) else { fallthrough }
            try await visitAll(arguments[2], batchSize: size, dyingAt: count)
        case "save" where arguments.count == 5:
            guard let seed = UInt64(arguments[4]) else { fallthrough }
            try save(arguments[2], writer: arguments[3], seed: seed)
        default:
            FileHandle.standardError.write(
                Data("usage: PostgresKillProbe deferred URL BATCH COUNT | save URL WRITER SEED\n".utf8))
            exit(64)
        }
    } catch {
        say("failed \(error)")
        exit(1)
    }
#endif
