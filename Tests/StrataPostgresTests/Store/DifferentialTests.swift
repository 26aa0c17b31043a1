#if Postgres
    import Foundation
    import GraphWorld
    import PostgresFixture
    import PredicateWorld
    import SeededRandom
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("PostgreSQL answers as memory does", .needsPostgres)
    struct DifferentialTests {
        private static func number(_ name: String) -> UInt64? {
            ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
        }

        /// Random conditions and orders about random models select the same rows as in memory, in the same order.
        @Test func conditionsAgreeWithMemory() throws {
            let cases = Self.number("STRATA_PREDICATE_CASES").map { Int($0) } ?? 1500
            let seed = RunSeed.value()
            let first = Self.number("STRATA_PREDICATE_FIRST").map { Int($0) } ?? 1
            print("conditionsAgreeWithMemory: seed \(seed), \(cases) cases")
            let database = try PostgresServer.shared.newDatabase()
            let schemas = Counter()
            let run = try PredicateDifference(
                keepsZeroCharacters: false, mayAnswerMore: true,
                open: { model in
                    var options = PostgresStore.Options()
                    options.schema = "world \(schemas.next())"
                    options.connectionLimit = 1
                    return try PostgresStore.open(model: model, at: database, options: options)
                },
                explain: { world, plan in
                    guard let store = world.store as? PostgresStore else { return "" }
                    let query = try FetchQuery(store: store, plan: plan)
                    return "\(query.select("_id")), and in memory \(String(describing: query.rest))"
                }
            ).run(seed: seed, cases: cases, first: first)
            for difference in run.differences { Issue.record("\(difference)") }
            let agreed = run.counts[.agrees, default: 0]
            print("conditionsAgreeWithMemory: \(run.counts)")
            #expect(run.counts[.answered, default: 0] <= cases / 100)
            #expect(!run.differences.isEmpty || agreed >= (cases - first) / 2, "\(run.counts)")
        }

        /// Random commands on contexts and children over a store, compared with a plain model of what should hold.
        @Test func theGraphIsWhatAPlainModelSays() throws {
            let steps = Self.number("STRATA_RANDOM_STEPS").map { Int($0) } ?? 1_000
            let seed = RunSeed.value()
            print("random world on PostgreSQL: seed \(seed), \(steps) steps")
            let database = try PostgresServer.shared.newDatabase()
            let driver = try WorldDriver(seed: seed, place: database) { model in
                var options = PostgresStore.Options()
                options.externalStorageThreshold = WorldDriver.largestInlineCover
                return try PostgresStore.open(model: model, at: database, options: options)
            }
            do {
                try driver.run(steps: steps, fullCheckEvery: 20)
            } catch {
                Issue.record("\(error)")
            }
        }
    }
#endif
