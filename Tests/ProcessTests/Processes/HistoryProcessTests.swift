import CrashModels
import Foundation
import SeededRandom
import Strata
import Testing

/// History of a file that other processes write.
@Suite(.serialized) struct HistoryProcessTests {
    private static let objects = 20_000

    private func recording(in folder: URL) throws -> (PersistentContainer, URL) {
        let path = folder.appending(path: "history.sqlite")
        var options = SQLiteStore.Options()
        options.history = .on(keeping: .days(1))
        return (
            try PersistentContainer(model: try CrashModels.first(), at: .file(path: path.path), options: options), path
        )
    }

    @Test("A process that did not ask for history records what it saves, while this one is open")
    func otherProcess() throws {
        try inTemporaryFolder { folder in
            let (container, path) = try recording(in: folder)
            defer { container.close() }
            let token = try container.currentHistoryToken()
            let probe = try Probe(store: path, count: 100)
            #expect(probe.end() == 0)
            let transactions = try container.history(after: token)
            #expect(transactions.map(\.changes.count) == [100])
            #expect(transactions.map(\.processName) == ["CrashProbe"])
            #expect(transactions[0].processID != ProcessInfo.processInfo.processIdentifier)
            #expect(transactions[0].origin != container.history?.origin)
            let own = HistoryFilter(excludedOrigin: transactions[0].origin)
            #expect(try container.history(after: token, where: own).isEmpty)
        }
    }

    @Test("A process that is killed in the middle of a save leaves history and objects in agreement")
    func killed() throws {
        try inTemporaryFolder { folder in
            let (container, path) = try recording(in: folder)
            defer { container.close() }
            let whole = try Probe(store: path, count: Self.objects)
            try whole.wait(for: "saving")
            let start = ContinuousClock.now
            try whole.wait(for: "saved")
            let length = ContinuousClock.now - start
            #expect(whole.end() == 0)
            let seed = RunSeed.value()
            print("history kill seed \(seed)")
            var random = SplitMix64(seed: seed)
            for _ in 0..<3 {
                let probe = try Probe(store: path, count: Self.objects)
                try probe.wait(for: "saving")
                Thread.sleep(forTimeInterval: length.inSeconds * Double.random(in: 0...1.05, using: &random))
                probe.kill()
                let objects = try container.newContext().count(FetchRequest<ManagedObject>(entity: "Item"))
                let transactions = try container.history(after: nil)
                #expect(transactions.allSatisfy { $0.changes.count == Self.objects })
                #expect(transactions.count * Self.objects == objects, "seed \(seed)")
            }
        }
    }
}
