import Foundation
import MigrationWorld
import Strata
import Testing

/// Steps of a migration that are done after the opening.
@Suite struct DeferredStageTests {
    let file: VersionedFile

    init() throws { file = try VersionedFile() }

    private func fill(_ count: Int) throws {
        try file.open(try DeferredVersions.first()) { context throws in
            for number in 0..<count { try context.make("Person", ["name": "First\(number) Last\(number)"]) }
        }
    }

    private func options(_ stages: MigrationStage...) -> SQLiteStore.Options {
        var options = SQLiteStore.Options()
        options.migration.stages = stages
        return options
    }

    private func container(_ model: ManagedObjectModel, _ options: SQLiteStore.Options) throws -> PersistentContainer {
        try PersistentContainer(model: model, at: .file(path: file.path), options: options)
    }

    private static func storeError(_ error: any Error) -> StoreError? {
        guard case PersistenceError.store(let reason) = error else { return nil }
        return reason
    }

    private func visits(_ container: PersistentContainer) throws -> [Int: Int] {
        let people = try container.newContext().all("Person")
        return Dictionary(grouping: people) { Int($0["visits"] as? Int64 ?? 0) }.mapValues(\.count)
    }

    @Test("The file opens without the step, which is done later in batches, for the objects that were there")
    func later() async throws {
        try fill(35)
        let container = try container(try DeferredVersions.second(), options(try DeferredVersions.stage()))
        defer { container.close() }
        let context = container.newContext(automaticallyMergesChanges: true)
        #expect(try context.texts("Person", "initials") == Array(repeating: "nil", count: 35))
        try context.make("Person", ["name": "New Person", "initials": "mine"])
        try await context.save()
        #expect(try container.deferredMigrationSteps().map(\.description) == ["initials: 0 of 35 objects of Person"])
        #expect(try SQLiteStore.storeInfo(at: file.path).deferredMigrationSteps.map(\.name) == ["initials"])

        let seen = Log()
        let count = try await container.finishDeferredMigration { seen.add("\($0.text) \($0.completed)/\($0.total)") }
        #expect(count == 35)
        #expect(seen.lines == ["initials 10/35", "initials 20/35", "initials 30/35", "initials 35/35"])
        #expect(try visits(container) == [1: 35, 0: 1])
        context.processPendingChanges()
        #expect(try context.texts("Person", "initials") == Array(repeating: "FL", count: 35) + ["mine"])
        #expect(try container.deferredMigrationSteps().isEmpty)
        #expect(try await container.finishDeferredMigration() == 0)
        try file.checkSoundness()
    }

    @Test("Nothing is noted where there are no objects, nor in a new file")
    func nothingToDo() throws {
        try fill(0)
        try file.open(try DeferredVersions.second(), options(try DeferredVersions.stage())) { _ in }
        #expect(try SQLiteStore.storeInfo(at: file.path).deferredMigrationSteps.isEmpty)
        let fresh = try VersionedFile()
        try fresh.open(try DeferredVersions.second(), options(try DeferredVersions.stage())) {
            try $0.make("Person", ["name": "A"])
        }
        #expect(try SQLiteStore.storeInfo(at: fresh.path).deferredMigrationSteps.isEmpty)
    }

    @Test("A closure that throws takes back its batch only, and the next call goes on there")
    func throwing() async throws {
        struct Failure: Error {}
        try fill(25)
        let failing = try DeferredVersions.stage { if ($0["name"] as? String) == "First14 Last14" { throw Failure() } }
        let before = try container(try DeferredVersions.second(), options(failing))
        do {
            try await before.finishDeferredMigration()
            Issue.record("finished")
        } catch {
            guard case .store(.migrationFailed(file.path, "deferred step initials", let reason)) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(reason.contains("Failure"))
        }
        #expect(try visits(before) == [1: 10, 0: 15])
        #expect(try before.deferredMigrationSteps().map(\.completed) == [10])
        before.close()

        let after = try container(try DeferredVersions.second(), options(try DeferredVersions.stage()))
        defer { after.close() }
        #expect(try await after.finishDeferredMigration() == 15)
        #expect(try visits(after) == [1: 25])
    }

    @Test("What does not pass validation stops the step with the name of the property")
    func invalid() async throws {
        try fill(5)
        let container = try container(
            try DeferredVersions.second(), options(try DeferredVersions.stage { $0["name"] = nil }))
        defer { container.close() }
        do {
            try await container.finishDeferredMigration()
            Issue.record("finished")
        } catch {
            guard case .store(.migrationFailed(_, _, let reason)) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(reason.contains("name"))
        }
        #expect(try visits(container) == [0: 5])
    }

    @Test("Cancelling the task stops between two objects and keeps the batches before")
    func cancelled() async throws {
        try fill(40)
        let container = try container(try DeferredVersions.second(), options(try DeferredVersions.stage()))
        defer { container.close() }
        let task = Task {
            try await container.finishDeferredMigration { _ in Thread.sleep(forTimeInterval: 0.02) }
        }
        while try container.deferredMigrationSteps().first?.completed ?? 40 < 10 { await Task.yield() }
        task.cancel()
        let result = await task.result
        let left = try container.deferredMigrationSteps().first?.completed ?? 40
        if left < 40 {
            guard case .failure(let error) = result, Self.storeError(error) == .cancelled else {
                Issue.record("\(result)")
                return
            }
        }
        #expect(try visits(container) == [1: left, 0: 40 - left].filter { $0.value > 0 })
        try await container.finishDeferredMigration()
        #expect(try visits(container) == [1: 40])
    }

    @Test("A task that is cancelled before does nothing")
    func cancelledBefore() async throws {
        try fill(20)
        let container = try container(try DeferredVersions.second(), options(try DeferredVersions.stage()))
        defer { container.close() }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await container.finishDeferredMigration()
        }
        guard case .failure(let error) = await task.result else {
            Issue.record("finished")
            return
        }
        #expect(Self.storeError(error) == .cancelled)
        #expect(try visits(container) == [0: 20])
    }

    @Test("Several containers do a step together, and each object is visited once")
    func together() async throws {
        try fill(200)
        let later = try DeferredVersions.second()
        let options = options(try DeferredVersions.stage(batchSize: 3))
        let path = file.path
        let total = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let container = try PersistentContainer(model: later, at: .file(path: path), options: options)
                    defer { container.close() }
                    return try await container.finishDeferredMigration()
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(total == 200)
        let container = try container(later, options)
        defer { container.close() }
        #expect(try visits(container) == [1: 200])
    }

    @Test("Edits between two batches stay, and an edit of an object that was visited meanwhile is a conflict")
    func edits() async throws {
        try fill(30)
        let container = try container(try DeferredVersions.second(), options(try DeferredVersions.stage()))
        defer { container.close() }
        let stale = container.newContext()
        let last = try #require(try stale.all("Person").last)
        last["name"] = "Other Name"
        try await stale.save()
        let edited = try #require(try stale.all("Person").first)
        #expect(edited["initials"] == nil)
        try await container.finishDeferredMigration()
        edited["visits"] = Int64(50)
        await #expect(throws: PersistenceError.self) { try await stale.save() }
        let names = try container.newContext().texts("Person", "initials")
        #expect(names.count == 30 && names.last == "ON")
    }

    @Test("A step may create and delete others, in the same transaction")
    func others() async throws {
        try fill(20)
        let stage = try DeferredVersions.stage(batchSize: 6) { person in
            guard let context = person.context else { return }
            try context.insert(entityNamed: "Entry")["text"] = person["name"]
            let number = person.objectID.key
            if number % 2 == 1, let next = try context.all("Person").first(where: { $0.objectID.key == number + 1 }) {
                context.delete(next)
            }
        }
        let container = try container(try DeferredVersions.second(), options(stage))
        defer { container.close() }
        try await container.finishDeferredMigration()
        #expect(try visits(container) == [1: 10])
        #expect(try container.newContext().all("Entry").count == 10)
        try file.checkSoundness()
    }

    @Test("History records what a step changes, by an author of its own")
    func history() async throws {
        try fill(12)
        var options = options(try DeferredVersions.stage())
        options.history = .on(keeping: .forever)
        let container = try container(try DeferredVersions.second(), options)
        defer { container.close() }
        try await container.finishDeferredMigration()
        let transactions = try container.history(after: nil)
        #expect(transactions.map { $0.author ?? "" } == ["migration", "migration"])
        #expect(transactions.map { $0.changes.count } == [10, 2])
    }

    // MARK: Later migrations

    @Test("A later migration that only adds something leaves the step pending, and it is done with the later model")
    func additionMeanwhile() async throws {
        try fill(25)
        try file.open(try DeferredVersions.second(), options(try DeferredVersions.stage())) { _ in }
        let later = try DeferredVersions.second([Attribute("note", .string).optional()])
        let without = try container(later, .init())
        #expect(try without.deferredMigrationSteps().map(\.name) == ["initials"])
        do {
            try await without.finishDeferredMigration()
            Issue.record("finished")
        } catch {
            guard case .store(.deferredStepPending(file.path, "initials", _)) = error else {
                Issue.record("\(error)")
                return
            }
        }
        without.close()
        let container = try container(later, options(try DeferredVersions.stage()))
        defer { container.close() }
        #expect(try await container.finishDeferredMigration() == 25)
        #expect(try visits(container) == [1: 25])
    }

    @Test("Any other migration does what is left of the step first")
    func runsFirst() async throws {
        try fill(25)
        let container = try container(
            try DeferredVersions.second(),
            options(
                try DeferredVersions.stage {
                    if ($0["name"] as? String) == "First12 Last12" { throw CancellationError() }
                }))
        _ = try? await container.finishDeferredMigration()
        #expect(try visits(container) == [1: 10, 0: 15])
        container.close()
        try file.open(try DeferredVersions.third(), options(try DeferredVersions.stage())) { context throws in
            #expect(Set(try context.texts("Person", "initials")) == ["FL"])
            #expect(Set(try context.texts("Person", "visits")) == ["1"])
            #expect(try context.texts("Person", "fullName").first == "First0 Last0")
        }
        #expect(try SQLiteStore.storeInfo(at: file.path).deferredMigrationSteps.isEmpty)
    }

    @Test("Without its stage the later migration is refused, and the file stays as it was")
    func refused() throws {
        try fill(5)
        try file.open(try DeferredVersions.second(), options(try DeferredVersions.stage())) { _ in }
        guard case .deferredStepPending(file.path, "initials", let reason)? = file.refusal(try DeferredVersions.third())
        else {
            Issue.record("opened")
            return
        }
        #expect(reason.contains("options.migration.stages"))
        try file.open(try DeferredVersions.second()) { context throws in #expect(try context.all("Person").count == 5) }
        #expect(try SQLiteStore.storeInfo(at: file.path).deferredMigrationSteps.map(\.completed) == [0])
    }

    @Test("A file of the first version goes through the step on its way to a later one")
    func onTheWay() throws {
        try fill(15)
        try file.open(try DeferredVersions.third(), options(try DeferredVersions.stage())) { context throws in
            #expect(Set(try context.texts("Person", "initials")) == ["FL"])
        }
        try file.checkSoundness()
    }

    @Test("A custom stage and deferred steps between the same versions: the stage first, the steps in their order")
    func withCustomStage() async throws {
        try fill(4)
        let custom = MigrationStage.custom(from: try DeferredVersions.first(), to: try DeferredVersions.second()) {
            migration in
            try migration.forEach("Person") { _, new in new?["visits"] = Int64(100) }
        }
        let double = MigrationStage.deferred(
            "double", from: try DeferredVersions.first(), to: try DeferredVersions.second(), forEach: "Person"
        ) { $0["visits"] = (($0["visits"] as? Int64) ?? 0) * 2 }
        let container = try container(
            try DeferredVersions.second(), options(try DeferredVersions.stage(), custom, double))
        defer { container.close() }
        #expect(try container.deferredMigrationSteps().map(\.name) == ["initials", "double"])
        #expect(try visits(container) == [100: 4])
        try await container.finishDeferredMigration()
        #expect(try visits(container) == [202: 4])
    }

    @Test("A container that was open before somebody migrated the file does not do steps of the old version")
    func migratedMeanwhile() async throws {
        try fill(5)
        let stale = try container(try DeferredVersions.second(), options(try DeferredVersions.stage()))
        defer { stale.close() }
        // An addition leaves the step pending.
        try file.open(try DeferredVersions.second([Attribute("note", .string).optional()])) { _ in }
        do {
            try await stale.finishDeferredMigration()
            Issue.record("finished")
        } catch {
            #expect(Self.storeError(error) == .migratedElsewhere(path: file.path))
        }
    }

    @Test("Stages that make no sense are refused before anything is changed")
    func nonsense() throws {
        try fill(1)
        let twice = options(try DeferredVersions.stage(), try DeferredVersions.stage())
        #expect(throws: PersistenceError.self) { try file.open(try DeferredVersions.second(), twice) { _ in } }
        let unknown = MigrationStage.deferred(
            "x", from: try DeferredVersions.first(), to: try DeferredVersions.second(), forEach: "Nobody"
        ) { _ in }
        let error = #expect(throws: PersistenceError.self) {
            try file.open(try DeferredVersions.second(), options(unknown)) { _ in }
        }
        guard case .store(.invalidOption(_, "x", let reason))? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.contains("Nobody"))
        try file.open(try DeferredVersions.first()) { context throws in #expect(try context.all("Person").count == 1) }
    }

    @Test("An entry that cannot be read is a typed error")
    func damaged() throws {
        try fill(1)
        try file.open(try DeferredVersions.second(), options(try DeferredVersions.stage())) { _ in }
        try file.sql("UPDATE _metadata SET value = '{}' WHERE key = 'deferred:initials'")
        #expect(throws: StoreError.self) { try SQLiteStore.storeInfo(at: file.path) }
        guard case .corrupt? = file.refusal(try DeferredVersions.third()) else {
            Issue.record("opened")
            return
        }
    }

    @Test("A store that was opened as read-only says so")
    func readOnly() async throws {
        try fill(2)
        try file.open(try DeferredVersions.second(), options(try DeferredVersions.stage())) { _ in }
        var options = options(try DeferredVersions.stage())
        options.isReadOnly = true
        let container = try container(try DeferredVersions.second(), options)
        defer { container.close() }
        #expect(try container.deferredMigrationSteps().count == 1)
        do {
            try await container.finishDeferredMigration()
            Issue.record("finished")
        } catch {
            #expect(Self.storeError(error) == .readOnly(path: file.path))
        }
    }
}

final class Log: Sendable {
    private let lock = NSLock()
    private nonisolated(unsafe) var list: [String] = []
    var lines: [String] { lock.withLock { list } }
    func add(_ line: String) { lock.withLock { list.append(line) } }
}
