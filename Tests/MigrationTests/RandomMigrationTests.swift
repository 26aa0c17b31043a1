import Foundation
import MigrationWorld
import SeededRandom
import Strata
import Testing

/// Random models with random data, migrated, equal what plain arrays say.
@Suite struct RandomMigrationTests {
    /// How many pairs of models; `STRATA_MIGRATIONS` sets another number for a longer run.
    static let count = ProcessInfo.processInfo.environment["STRATA_MIGRATIONS"].flatMap(Int.init) ?? 300

    @Test("Data that went through random versions are what a plain reference says")
    func randomVersions() throws {
        let seed = RunSeed.value()
        print("migration seed \(seed)")
        for number in 0..<Self.count {
            var random = SplitMix64(seed: seed &+ UInt64(number) &* 7919)
            guard try migrate(&random, "seed \(seed &+ UInt64(number) &* 7919)") else { return }
        }
    }

    /// - Returns: Whether all was as it should be.
    private func migrate(_ random: inout SplitMix64, _ name: String) throws -> Bool {
        let file = try VersionedFile()
        var versions = RandomVersions(&random)
        var data = RandomData()
        let first = try versions.model()
        try file.open(first) { try data.fill($0, versions, &random) }
        data.open(versions)
        var log: [String] = []
        for step in 0..<(1 + random.below(3)) {
            log += versions.changeSeveralTimes(upTo: 5, &random, data: &data)
            // Some versions are skipped.
            if random.oneIn(3), step == 0 { continue }
            let model = try versions.model()
            do {
                let plan = try SQLiteStore.migrationPlan(for: file.path, to: model)
                let answers = plan.steps.filter { $0.risk != .safe }.map { ($0.id, MigrationAnswer.accept) }
                let options = VersionedFile.options(Dictionary(answers, uniquingKeysWith: { a, _ in a }))
                let found = try file.open(model, options) { try RandomData.lines($0, model) }
                data.open(versions)
                let expected = data.lines(versions)
                guard found == expected else {
                    let missing = Set(expected).subtracting(found).sorted()
                    let surplus = Set(found).subtracting(expected).sorted()
                    Issue.record("\(name): \(log)\nmissing \(missing)\nsurplus \(surplus)\n\(plan)")
                    return false
                }
                #expect(try SQLiteStore.integrityReport(at: file.path).isSound, "\(name): \(log)")
                let fresh = try VersionedFile()
                try fresh.open(model) { _ in }
                #expect(try file.shape == fresh.shape, "\(name): \(log)")
            } catch {
                Issue.record("\(name): \(log)\n\(error)")
                return false
            }
        }
        return true
    }
}
