// Inserts objects and saves them in one go, so that a test can kill the process in the middle of the save.
//
//     CrashProbe STORE COUNT
//
// Prints `saving` when all objects are in memory, and `saved` after the save.
//
//     CrashProbe STORE COUNT tasks
//
// Inserts each object in a task and a write of its own, all at the same time, and prints the largest number of threads that
// the process had.
//
//     CrashProbe STORE COUNT ledger
//
// Makes so many transfers between the accounts of a ledger, one save each, while others do the same.
//
//     CrashProbe STORE COUNT idle
//
// Saves so many changes while a background context is idle, and prints the memory of the process in KB after a tenth of them
// and at the end.
//
//     CrashProbe STORE 0 migrate
//
// Migrates the store to a later version. Prints `migrating` before and `migrated` after it. With a number other than 0 the
// process kills itself when the migration says for the so-manieth time how far it is.
//
//     CrashProbe STORE 0 add
//     CrashProbe STORE 0 move
//
// Do so to a version with further attributes, for which columns are added, and to one in which the entity inherits from
// another one, so that its objects get a table of another form.
//
//     CrashProbe STORE 0 stages
//
// Does so through two stages with code of their own.
//
//     CrashProbe STORE 0 deferred
//
// Migrates the store to a version with a deferred step and does the step, which counts in each object how often it was visited.
// With a number other than 0 the process kills itself at the so-manieth visit.

import CrashModels
import Foundation
import SeededRandom
import Strata
import Synchronization

/// Prints a line at once: standard output is a pipe here, which `print` would buffer.
func say(_ word: String) { FileHandle.standardOutput.write(Data((word + "\n").utf8)) }

/// The largest number of threads while many tasks write.
func mostThreads(_ container: PersistentContainer, _ count: Int) async throws -> Int {
    @Sendable func threads() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
    }
    return try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<count {
            group.addTask {
                try await container.write { context in
                    let object = try context.insert(entityNamed: "Item")
                    object["itemId"] = "item-\(number)"
                    object["title"] = "The item with the number \(number)"
                    object["amount"] = Int64(number)
                    object["weight"] = Double(number) / 7
                }
                return threads()
            }
        }
        return try await group.reduce(0, max)
    }
}

/// The resident memory in KB after a tenth of the changes, and after all.
func memoryPastIdleContext(_ container: PersistentContainer, _ count: Int) async throws -> (early: Int, late: Int) {
    func memory() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        return status.firstMatch(of: /VmRSS:\s+(\d+) kB/).flatMap { Int($0.1) } ?? 0
    }
    let size = 1_000
    let context = container.newContext()
    var objects: [ManagedObject] = []
    func insert(_ number: Int) throws {
        let object = try context.insert(entityNamed: "Item")
        object["itemId"] = "item-\(number)"
        object["title"] = "The item with the number \(number)"
        object["amount"] = Int64(number)
        object["weight"] = Double(number) / 7
        objects.append(object)
    }
    for number in 0..<size { try insert(number) }
    try await context.save()
    // It knows all objects, and nobody calls it again.
    let idle = container.newBackgroundContext()
    let known = try await idle.perform { try $0.fetch(FetchRequest<ManagedObject>(entity: "Item")).count }
    guard known == size else { return (0, Int.max) }
    var early = 0
    for round in 0..<count / size {
        for object in objects { object["amount"] = Int64(round) }
        // Deletes and inserts, whose keys are noted in places of their own.
        for object in objects.prefix(10) { context.delete(object) }
        objects.removeFirst(10)
        for number in 0..<10 { try insert((round + 1) * size + number) }
        try await context.save()
        if round == count / size / 10 { early = memory() }
    }
    let late = memory()
    let left = try await idle.perform { try $0.count(FetchRequest<ManagedObject>(entity: "Item")) }
    return left == size ? (early, late) : (0, Int.max)
}

/// A stage that doubles weights, and one that writes notes.
func stages() throws -> [MigrationStage] {
    let later = try CrashModels.later()
    return [
        .custom(from: try CrashModels.first(), to: later) { migration in
            try migration.forEach("Item", batchSize: 100) { old, new in
                new?["weight"] = (old["weight"] as? Double ?? 0) * 2
            }
        },
        .custom(from: later, to: try CrashModels.last()) { migration in
            try migration.forEach("Article", batchSize: 100) { old, new in new?["note"] = old["heading"] }
        },
    ]
}

/// Migrates the store to the version with visits and visits all objects, 50 in a transaction.
func visitAll(_ path: String, dyingAt count: Int) async throws {
    let visits = ReportCounter()
    let first = try CrashModels.first()
    let later = try CrashModels.visited()
    var options = SQLiteStore.Options()
    options.migration.stages = [
        .deferred("visits", from: first, to: later, forEach: "Item", batchSize: 50) { object in
            if visits.next() == count { kill(getpid(), SIGKILL) }
            object["visits"] = (object["visits"] as? Int64 ?? 0) + 1
        }
    ]
    let container = try PersistentContainer(model: later, at: .file(path: path), options: options)
    say("opened")
    try await container.finishDeferredMigration()
    container.close()
}

/// Kills the process at the so-manieth report; never at 0.
func dying(at count: Int) -> @Sendable (MigrationProgress) -> Void {
    let reports = ReportCounter()
    return { _ in if reports.next() == count { kill(getpid(), SIGKILL) } }
}

final class ReportCounter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

do {
    let arguments = CommandLine.arguments
    let modes = ["tasks", "idle", "ledger", "migrate", "add", "move", "stages", "deferred"]
    guard arguments.count == 3 || modes.contains(arguments[3]), let count = Int(arguments[2]) else {
        FileHandle.standardError.write(
            Data("usage: CrashProbe STORE COUNT [\(modes.joined(separator: "|"))]\n".utf8))
        exit(64)
    }
    if arguments.last == "deferred" {
        try await visitAll(arguments[1], dyingAt: count)
        say("visited")
        exit(0)
    }
    if let mode = arguments.last, ["migrate", "add", "move", "stages"].contains(mode) {
        var options = SQLiteStore.Options()
        options.migration.onProgress = dying(at: count)
        if mode == "stages" { options.migration.stages = try stages() }
        say("migrating")
        try SQLiteStore.migrate(arguments[1], to: try CrashModels.target(of: mode), options: options)
        say("migrated")
        exit(0)
    }
    if arguments.last == "ledger" {
        var options = SQLiteStore.Options()
        options.busyTimeout = 60
        let ledger = try PersistentContainer(
            model: try CrashModels.ledger(), at: .file(path: arguments[1]), options: options)
        let context = ledger.newContext()
        var random = SplitMix64(seed: UInt64(getpid()))
        for _ in 0..<count { try Transfer(&random).save(context) }
        say("saved")
        exit(0)
    }
    let model = try CrashModels.first()
    let container = try PersistentContainer(model: model, at: .file(path: CommandLine.arguments[1]))
    if arguments.last == "idle" {
        let (early, late) = try await memoryPastIdleContext(container, count)
        say("memory \(early) \(late)")
        exit(0)
    }
    if arguments.last == "tasks" {
        say("threads \(try await mostThreads(container, count))")
        exit(0)
    }
    let context = container.newContext()
    for number in 0..<count {
        let object = try context.insert(entityNamed: "Item")
        object["itemId"] = "item-\(number)-\(UUID().uuidString)"
        object["title"] = "The item with the number \(number)"
        object["amount"] = Int64(number)
        object["weight"] = Double(number) / 7
    }
    say("saving")
    try context.save()
    say("saved")
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
