import Foundation
import StrataSQLite
import StrataStore
import Testing

private final class Progress: Sendable {
    private let state = Guarded((isDone: false, reads: 0))
    var isDone: Bool { state.withLock { $0.isDone } }
    var reads: Int { state.withLock { $0.reads } }
    func countRead() { state.withLock { $0.reads += 1 } }
    func finish() { state.withLock { $0.isDone = true } }
}

@Suite struct ConcurrencyTests {
    @Test func keysAreNeverGivenTwice() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.sqlite")
        let model = try TestModel.make()
        let stores = try (0..<3).map { _ in try SQLiteStore.open(model: model, location: .file(path: path)) }
        let ranges = try await withThrowingTaskGroup(of: [Range<Int64>].self) { group in
            for store in stores {
                group.addTask { try (0..<40).map { try store.allocateKeys($0 % 7 + 1, rootIndex: 0) } }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let sorted = ranges.sorted { $0.lowerBound < $1.lowerBound }
        #expect(sorted.first?.lowerBound == 1)
        for (a, b) in zip(sorted, sorted.dropFirst()) { #expect(a.upperBound == b.lowerBound) }
        let person = try stores[0].entity("Person").index
        #expect(try stores[0].allocateKeys(5, rootIndex: person) == 1..<6)
        // Rows that came by other ways are passed over.
        try Shell(path: path).run("INSERT INTO person(_id, _version) VALUES(1000, 1)")
        #expect(try stores[1].allocateKeys(1, rootIndex: person) == 1001..<1002)
        stores.forEach { $0.close() }
    }

    /// Readers see whole commits while a writer works: the sum of two rows never changes.
    @Test func readersSeeWholeCommits() async throws {
        let folder = try TemporaryFolder()
        let store = try SQLiteStore.open(model: try TestModel.make(), location: .file(path: folder.file("a.sqlite")))
        try store.insert(("Thing", 1, ["large": 50]), ("Thing", 2, ["large": 50]))
        let large = try #require(try store.entity("Thing").slot(named: "large")).index
        let progress = Progress()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    while !progress.isDone {
                        let rows = try store.fetch(FetchPlan(entityIndex: 0)).rows
                        #expect(rows.map { Int64.load($0.row, large) }.reduce(0, +) == 100)
                        #expect(rows[0].row.version == rows[1].row.version)
                        progress.countRead()
                        await Task.yield()
                    }
                }
            }
            group.addTask {
                for round in 1...200 {
                    var changes = ChangeSet()
                    changes.updates = [
                        try store.update(
                            "Thing", 1, base: Int64(round), ["large": .integer(Int64(round % 50))], changed: ["large"]),
                        try store.update(
                            "Thing", 2, base: Int64(round), ["large": .integer(Int64(100 - round % 50))],
                            changed: ["large"]),
                    ]
                    guard case .committed = try store.commit(changes) else { throw MissingName(name: "no conflict") }
                }
                progress.finish()
            }
            try await group.waitForAll()
        }
        #expect(progress.reads > 0)
        store.close()
    }

    /// Optimistic counters of several stores over one file: each increment is counted once.
    @Test func versionsKeepWritersApart() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.sqlite")
        let model = try TestModel.make()
        let first = try SQLiteStore.open(model: model, location: .file(path: path))
        try first.insert(("Thing", 1, ["large": 0]))
        let large = try #require(try first.entity("Thing").slot(named: "large")).index
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let store = try SQLiteStore.open(model: model, location: .file(path: path))
                    defer { store.close() }
                    var done = 0
                    while done < 25 {
                        let batch = try store.rows(entityIndex: 0, keys: [1])
                        let (version, count) = withExtendedLifetime(batch) {
                            (batch[0].row.version, Int64.load(batch[0].row, large))
                        }
                        var changes = ChangeSet()
                        changes.updates = [
                            try store.update(
                                "Thing", 1, base: version, ["large": .integer(count + 1)], changed: ["large"])
                        ]
                        if case .committed = try store.commit(changes) { done += 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try first.values("Thing", 1)?["large"] == 100)
        first.close()
    }

    @Test func closingWhileOthersReadIsSafe() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("a.sqlite")
        let store = try SQLiteStore.open(model: try TestModel.make(), location: .file(path: path))
        try store.insert(("Thing", 1, [:]))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    while true {
                        do {
                            _ = try store.fetch(FetchPlan(entityIndex: 0))
                            await Task.yield()
                        } catch {
                            #expect(error as? StoreError == .closed(path: path))
                            return
                        }
                    }
                }
            }
            group.addTask {
                try? await Task.sleep(for: .milliseconds(20))
                store.close()
            }
        }
        #expect(throws: StoreError.closed(path: path)) { try store.allocateKeys(1, rootIndex: 0) }
    }
}
