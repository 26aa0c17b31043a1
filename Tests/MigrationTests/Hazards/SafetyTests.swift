import Foundation
import Strata
import Testing

/// What the world can do to a migration.
@Suite struct SafetyTests {
    let file: VersionedFile

    init() throws { file = try VersionedFile() }

    private func model(_ kind: Int) throws -> ManagedObjectModel {
        try version {
            Entity("Item") {
                Attribute("name", .string)
                switch kind {
                case 0: Attribute("value", .integer64)
                case 1: Attribute("value", .string)
                default:
                    Attribute("value", .integer64)
                    Attribute("note", .string).optional()
                }
                Relationship("next", to: "Item", .optionalToOne, inverse: "previous")
                Relationship("previous", to: "Item", .toMany, inverse: "next")
            }
        }
    }

    private func fill(_ count: Int) throws {
        try file.open(try model(0)) { context throws in
            var last: ManagedObject?
            for number in 0..<count {
                let item = try context.make("Item", ["name": "item \(number)", "value": Int64(number)])
                item["next"] = last
                last = item
            }
        }
    }

    @Test("A full disk leaves the old store")
    func fullDisk() throws {
        try fill(2000)
        // The pages that the file has, and no more.
        let pages = try #require(Int(try file.sql("PRAGMA page_count")[0][0]))
        let later = try model(1)
        #expect(throws: StoreError.diskFull(path: file.path)) {
            try SQLiteStore.migrateLimited(file.path, to: later, pages: pages + 2)
        }
        try file.open(try model(0)) { context throws in
            #expect(try context.count(FetchRequest<ManagedObject>(entity: "Item")) == 2000)
        }
        try file.checkSoundness()
        try file.open(later) { context throws in #expect(try context.all("Item").last?["value"] as? String == "1999") }
    }

    @Test("A cancelled migration leaves the old store, at every step")
    func cancellation() throws {
        try fill(500)
        let later = try model(1)
        let steps = Counter()
        _ = try SQLiteStore.dryRun(file.path, to: later, options: counting(steps, cancelAt: .max))
        #expect(steps.value > 2)
        for step in 1..<steps.value {
            let options = counting(Counter(), cancelAt: step)
            #expect(throws: StoreError.cancelled) { try SQLiteStore.migrate(file.path, to: later, options: options) }
        }
        try file.open(try model(0)) { context throws in #expect(try context.texts("Item", "value").last == "499") }
        try file.checkSoundness()
    }

    private func counting(_ counter: Counter, cancelAt step: Int) -> SQLiteStore.Options {
        var options = SQLiteStore.Options()
        let cancellation = ReadCancellation()
        options.migration.cancellation = cancellation
        options.migration.onProgress = { _ in if counter.next() == step { cancellation.cancel() } }
        return options
    }

    @Test("Progress comes from 0 to 1 while a task migrates, and cancelling the task stops it")
    func asynchronous() async throws {
        try fill(300)
        let later = try model(1)
        let seen = Fractions()
        let report = try await SQLiteStore.migrate(file.path, to: later) { seen.add($0.fraction) }
        #expect(seen.values == seen.values.sorted() && seen.values.last == 1 && seen.values.count > 2)
        #expect(report.steps.map(\.id) == ["Item.value"] && report.seconds > 0)
        let path = file.path
        let back = try model(0)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await SQLiteStore.migrate(path, to: back) { _ in }
        }
        await #expect(throws: StoreError.cancelled) { try await task.value }
        try file.open(later) { context throws in #expect(try context.texts("Item", "value").first == "0") }
    }

    @Test("A dry run measures the time and writes nothing")
    func dryRun() throws {
        try fill(300)
        let before = try Data(contentsOf: URL(fileURLWithPath: file.path))
        let report = try SQLiteStore.dryRun(file.path, to: try model(1))
        #expect(report.seconds > 0 && report.steps.count == 1)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == before)
        let left = try FileManager.default.contentsOfDirectory(atPath: file.folder.path)
        #expect(left.allSatisfy { !$0.contains("dry-run") }, "\(left)")
    }

    @Test("A plan counts rows and writes nothing")
    func plan() throws {
        try fill(30)
        let plan = try SQLiteStore.migrationPlan(for: file.path, to: try model(1))
        #expect(plan.steps.map(\.id) == ["Item.value"] && plan.steps[0].rows == 30)
        #expect(plan.description.contains("was integer64, is string"))
        try file.open(try model(0)) { _ in }
    }

    @Test("The store as it was is kept beside the new one, and opens with its own model")
    func originals() throws {
        try fill(10)
        var options = SQLiteStore.Options()
        options.migration.keepsOriginal = true
        let report = try SQLiteStore.migrate(file.path, to: try model(1), options: options)
        let original = try #require(report.original)
        let container = try PersistentContainer(model: try model(0), at: .file(path: original))
        #expect(try container.newContext().texts("Item", "value").last == "9")
        container.close()
    }

    @Test("A store that is open while somebody migrates the file reads on, and refuses to write with a typed error")
    func staleWriter() throws {
        try fill(3)
        let stale = try PersistentContainer(model: try model(0), at: .file(path: file.path))
        defer { stale.close() }
        let context = stale.newContext()
        #expect(try context.texts("Item", "value") == ["0", "1", "2"])
        try file.open(try model(2)) { try $0.make("Item", ["name": "new", "value": Int64(9), "note": "n"]) }
        #expect(try stale.newContext().texts("Item", "value") == ["0", "1", "2", "9"])
        try context.make("Item", ["name": "stale", "value": Int64(1)])
        do {
            try context.save()
            Issue.record("saved")
        } catch {
            guard case .store(.migratedElsewhere(let path)) = error else {
                Issue.record("\(error)")
                return
            }
            #expect(path == file.path)
        }
        #expect(context.hasChanges)
        try file.open(try model(2)) { context throws in
            #expect(try context.texts("Item", "name") == ["item 0", "item 1", "item 2", "new"])
        }
    }

    @Test("Several that open the file at once migrate it once")
    func atOnce() async throws {
        try fill(500)
        let later = try model(1)
        let path = file.path
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    let container = try PersistentContainer(model: later, at: .file(path: path))
                    defer { container.close() }
                    return try container.newContext().texts("Item", "value").last
                }
            }
            for try await last in group { #expect(last == "499") }
        }
        try file.checkSoundness()
    }

    @Test("A damaged source is refused with a typed error, and stays as it is")
    func damaged() throws {
        try fill(3)
        let later = try model(1)
        try file.sql("ALTER TABLE item RENAME COLUMN value TO other")
        guard case .corrupt(_, let reason)? = file.refusal(later) else {
            Issue.record("opened")
            return
        }
        #expect(reason.contains("value") && reason.contains("item"))
        try file.sql("ALTER TABLE item RENAME COLUMN other TO value")
        try file.sql("UPDATE _metadata SET value = 'nonsense' WHERE key = 'declarations'")
        guard case .corrupt? = file.refusal(later) else {
            Issue.record("opened")
            return
        }
    }

    @Test("In development a file that cannot be migrated is moved aside")
    func erasing() throws {
        try fill(3)
        let later = try version { Entity("Other") { Attribute("name", .string) } }
        #expect(file.blocked(later) == ["Item"])
        var options = SQLiteStore.Options()
        options.migration.erasesOnMismatch = true
        try file.open(later, options) { context throws in #expect(try context.all("Other").isEmpty) }
        let container = try PersistentContainer(model: try model(0), at: .file(path: file.path + ".erased"))
        #expect(try container.newContext().texts("Item", "value") == ["0", "1", "2"])
        container.close()
    }
}

private final class Counter: Sendable {
    private let lock = NSLock()
    private nonisolated(unsafe) var count = 0
    var value: Int { lock.withLock { count } }
    func next() -> Int {
        lock.withLock {
            count += 1
            return count
        }
    }
}

private final class Fractions: Sendable {
    private let lock = NSLock()
    private nonisolated(unsafe) var list: [Double] = []
    var values: [Double] { lock.withLock { list } }
    func add(_ value: Double) { lock.withLock { list.append(value) } }
}
