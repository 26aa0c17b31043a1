import CrashModels
import Foundation
import SeededRandom
import Strata
import Testing

/// A process that is killed while it does a deferred step leaves whole batches, and the next one goes on there.
@Suite(.serialized) struct DeferredKillTests {
    private static let count = 330
    private static let batch = 50

    @Test("Killed at any visit, a step has done the batches before it, and goes on there")
    func killAtVisits() throws {
        try inTemporaryFolder { folder in
            let original = try make(in: folder)
            for visit in [1, 2, 50, 51, 99, 100, 101, 175, 300, 301, 329, 330] {
                let store = folder.appending(path: "visit-\(visit).sqlite")
                try FileManager.default.copyItem(at: original, to: store)
                #expect(try Probe(store: store, count: visit, mode: "deferred").end() == SIGKILL)
                let done = (visit - 1) / Self.batch * Self.batch
                let steps = try SQLiteStore.storeInfo(at: store.path).deferredMigrationSteps
                #expect(steps.map(\.completed) == [done] && steps.map(\.total) == [Self.count], "visit \(visit)")
                #expect(try visits(store) == [1: done, 0: Self.count - done].filter { $0.value > 0 }, "visit \(visit)")
                try finish(store)
            }
        }
    }

    @Test("Killed at random moments, and with several processes at the same time, each object is visited once")
    func killAtRandom() throws {
        try inTemporaryFolder { folder in
            let original = try make(in: folder)
            let seed = RunSeed.value()
            print("deferred kill seed \(seed)")
            var random = SplitMix64(seed: seed)
            var outcomes: [String: Int] = [:]
            for number in 0..<MigrationKillTests.kills {
                let store = folder.appending(path: "killed-\(number).sqlite")
                try FileManager.default.copyItem(at: original, to: store)
                let probes = try (0..<2).map { _ in try Probe(store: store, count: 0, mode: "deferred") }
                for probe in probes { try probe.wait(for: "opened") }
                Thread.sleep(forTimeInterval: Double.random(in: 0...0.05, using: &random))
                probes[0].kill()
                if random.oneIn(2) { probes[1].kill() } else { #expect(probes[1].end() == 0) }
                let found = try visits(store)
                let done = found[1] ?? 0
                outcomes[done == 0 ? "none" : done == Self.count ? "all" : "some", default: 0] += 1
                #expect(found.keys.allSatisfy { $0 <= 1 }, "seed \(seed), kill \(number): \(found)")
                let steps = try SQLiteStore.storeInfo(at: store.path).deferredMigrationSteps
                #expect(steps.first?.completed ?? Self.count == found[1] ?? 0, "seed \(seed), kill \(number)")
                try finish(store)
                for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + suffix) }
            }
            print("deferred kill outcomes: \(outcomes)")
        }
    }

    private func make(in folder: URL) throws -> URL {
        let store = folder.appending(path: "original.sqlite")
        let probe = try Probe(store: store, count: Self.count)
        try probe.wait(for: "saved")
        #expect(probe.end() == 0)
        return store
    }

    /// Lets a process do what is left.
    private func finish(_ store: URL) throws {
        let rest = try Probe(store: store, count: 0, mode: "deferred")
        try rest.wait(for: "visited")
        #expect(rest.end() == 0)
        #expect(try visits(store) == [1: Self.count])
        #expect(try SQLiteStore.storeInfo(at: store.path).deferredMigrationSteps.isEmpty)
        #expect(try SQLiteStore.integrityReport(at: store.path).isSound)
    }

    /// How many objects were visited how often.
    private func visits(_ store: URL) throws -> [Int: Int] {
        let container = try PersistentContainer(model: try CrashModels.visited(), at: .file(path: store.path))
        defer { container.close() }
        let objects = try container.newContext().fetch(FetchRequest<ManagedObject>(entity: "Item"))
        return Dictionary(grouping: objects) { Int($0["visits"] as? Int64 ?? 0) }.mapValues(\.count)
    }
}
