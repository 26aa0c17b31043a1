import Foundation
import GraphWorld
import SeededRandom
import Strata
import Testing

/// Random commands on contexts, children and a file, compared with a plain model of what should hold.
///
/// `STRATA_RANDOM_STEPS` sets the number of steps, `STRATA_SEED` the seed: the one that a difference was
/// reported for. The order of Swift's sets differs from process to process; `SWIFT_DETERMINISTIC_HASHING=1` takes that
/// out, too. `STRATA_RANDOM_LOG` names a file for all commands before a difference.
@Suite struct RandomWorldTests {
    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    private static let stepsOfARun = 1_000

    @Test func theGraphIsWhatAPlainModelSays() throws {
        let steps = Int(Self.number("STRATA_RANDOM_STEPS") ?? 5_000)
        var seed = RunSeed.value(usually: 7_000_000)
        var done = 0
        var tally: [String: Int] = [:]
        while done < steps {
            let count = min(Self.stepsOfARun, steps - done)
            print("random world: seed \(seed), \(count) steps")
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                "strata-random-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let path = folder.appendingPathComponent("world.sqlite").path
            let driver = try WorldDriver(seed: seed, place: path) { model in
                var options = SQLiteStore.Options()
                options.externalStorageThreshold = WorldDriver.largestInlineCover
                return try SQLiteStore.open(model: model, location: .file(path: path), options: options)
            }
            do {
                try driver.run(steps: count, fullCheckEvery: 20)
            } catch {
                Issue.record("\(error)")
                return
            }
            for (command, times) in driver.tally { tally[command, default: 0] += times }
            done += count
            seed += 1
        }
        print(
            "random world: \(done) steps, \(tally.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }.joined(separator: ", "))"
        )
        #expect(done == steps)
    }
}
