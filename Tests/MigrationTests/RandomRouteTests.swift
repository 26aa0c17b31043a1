import Foundation
import MigrationWorld
import SeededRandom
import Strata
import Testing

/// A migration over several random versions has the same result as one from each version to the next.
@Suite struct RandomRouteTests {
    /// How many chains of versions; `STRATA_ROUTES` sets another number for a longer run.
    static let count = ProcessInfo.processInfo.environment["STRATA_ROUTES"].flatMap(Int.init) ?? 60

    /// A file as it was at each version, one after the other.
    private struct Chain {
        var models: [ManagedObjectModel] = []
        var files: [VersionedFile] = []
        var log: [String] = []
        /// The answers to all steps that asked.
        var answers: [String: MigrationAnswer] = [:]
    }

    @Test("Skipping versions and going through each of them give the same store")
    func directEqualsStepwise() throws {
        let seed = RunSeed.value()
        print("route seed \(seed)")
        var skipped = 0
        var stopped = 0
        for number in 0..<Self.count {
            let own = seed &+ UInt64(number) &* 104_729
            var random = SplitMix64(seed: own)
            let chain = try chain(&random)
            let last = chain.models.count - 1
            for start in 0..<last {
                let file = try VersionedFile()
                try FileManager.default.copyItem(atPath: chain.files[start].path, toPath: file.path)
                var options = VersionedFile.options(chain.answers)
                options.migration.versions = chain.models
                // What is lost on the way may have had another name at the start.
                let plan = try SQLiteStore.migrationPlan(for: file.path, to: chain.models[last], options: options)
                for step in plan.steps where step.risk != .safe { options.migration.answers[step.id] = .accept }
                let report = try SQLiteStore.migrate(file.path, to: chain.models[last], options: options)
                if last - start > 1, report.plans.count < last - start { skipped += 1 }
                if report.plans.count > 1 { stopped += 1 }
                let found = try file.open(chain.models[last]) { try RandomData.lines($0, chain.models[last]) }
                let expected = try chain.files[last].open(chain.models[last]) {
                    try RandomData.lines($0, chain.models[last])
                }
                guard found == expected, try file.shape == chain.files[last].shape else {
                    let missing = Set(expected).subtracting(found).sorted()
                    let surplus = Set(found).subtracting(expected).sorted()
                    Issue.record("seed \(own), from \(start): \(chain.log)\nmissing \(missing)\nsurplus \(surplus)")
                    return
                }
                #expect(try SQLiteStore.integrityReport(at: file.path).isSound, "seed \(own), from \(start)")
            }
        }
        print("routes: \(skipped) skipped versions, \(stopped) stopped at some")
        #expect(skipped > 0 && stopped > 0)
    }

    /// Makes a chain of versions, with a file for each.
    private func chain(_ random: inout SplitMix64) throws -> Chain {
        var result = Chain()
        var versions = RandomVersions(&random)
        var data = RandomData()
        for step in 0..<(3 + random.below(3)) {
            let before = versions
            if step > 0 {
                result.log += versions.changeSeveralTimes(upTo: 3, &random, data: &data) + ["---"]
            }
            let model = try versions.model()
            // A file of an earlier version that declares the same need not be migrated.
            let isKnown = result.models.contains { earlier in
                let plan = MigrationPlan(from: earlier, to: model)
                return plan.source.fingerprint == plan.target.fingerprint
            }
            if isKnown { continue }
            let file = try VersionedFile()
            if let last = result.files.last {
                try FileManager.default.copyItem(atPath: last.path, toPath: file.path)
                let plan = try SQLiteStore.migrationPlan(for: file.path, to: model)
                if plan.steps.contains(where: { $0.risk == .impossible }) {
                    versions = before
                    continue
                }
                let answers = plan.steps.filter { $0.risk != .safe }.map { ($0.id, MigrationAnswer.accept) }
                result.answers.merge(answers) { first, _ in first }
                try file.open(model, VersionedFile.options(result.answers)) { _ in }
            } else {
                try file.open(model) { try data.fill($0, versions, &random) }
            }
            result.models.append(model)
            result.files.append(file)
        }
        return result
    }
}
