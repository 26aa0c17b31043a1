#if Postgres
    import Foundation
    import MigrationWorld
    import PostgresFixture
    import SeededRandom
    import Strata
    import Testing

    @testable import StrataPostgres

    /// Random data that go through random versions are the same on PostgreSQL as on SQLite.
    @Suite("Random migrations on PostgreSQL", .needsPostgres)
    struct RandomMigrationTests {
        /// How many pairs of stores; `STRATA_MIGRATIONS` sets another number for a longer run.
        static let count = ProcessInfo.processInfo.environment["STRATA_MIGRATIONS"].flatMap(Int.init) ?? 40
        /// `STRATA_SEED` takes another seed.
        static let seed = ProcessInfo.processInfo.environment["STRATA_SEED"].flatMap(UInt64.init)

        @Test func randomVersionsAreTheSameAsOnSQLite() throws {
            let seed = Self.seed ?? 1
            print("PostgreSQL migration seed \(seed)")
            let url = try PostgresServer.shared.newDatabase()
            for number in 0..<Self.count {
                let own = seed &+ UInt64(number) &* 7919
                var random = SplitMix64(seed: own)
                guard try migrate(&random, url, "seed \(own)", number) else { return }
            }
        }

        private func migrate(
            _ random: inout SplitMix64, _ url: String, _ name: String, _ number: Int
        ) throws -> Bool {
            let pair = try StorePair(url, schema: "random_\(number)")
            var versions = RandomVersions(&random)
            var data = RandomData()
            try pair.fill(versions.model()) { try data.fill($0, versions, &random) }
            var log: [String] = []
            for step in 0..<(1 + random.below(3)) {
                log += versions.changeSeveralTimes(upTo: 5, &random, data: &data)
                let model = try versions.model()
                do {
                    let plan = try SQLiteStore.migrationPlan(for: pair.path, to: model)
                    let answers = plan.steps.filter { $0.risk != .safe }.map { ($0.id, MigrationAnswer.accept) }
                    let other = try PostgresStore.migrationPlan(for: pair.url, to: model, options: pair.options())
                    let lines = (plan.steps.map(Self.line), other.steps.map(Self.line))
                    #expect(lines.0 == lines.1, "\(name), step \(step): \(log)")
                    let problems = try pair.migrate(model, Dictionary(answers, uniquingKeysWith: { a, _ in a }))
                    guard problems.isEmpty else {
                        Issue.record("\(name), step \(step): \(log)\n\(problems.joined(separator: "\n"))\n\(plan)")
                        return false
                    }
                } catch {
                    Issue.record("\(name), step \(step): \(log)\n\(error)")
                    return false
                }
            }
            return true
        }

        /// A step without samples, which are in each engine's own words.
        private static func line(_ step: MigrationStep) -> String {
            "\(step.id): \(step.text) \(step.risk) \(step.rows ?? -1) \(step.misfits ?? -1)"
        }
    }
#endif
