import Foundation
import PredicateWorld
import SeededRandom
import StrataSQL
import Testing

@testable import StrataSQLite

@Suite struct PredicateDifferentialTests {
    /// Random conditions and orders about random models select the same rows in SQL as in memory, in the same order.
    /// What the store cannot say it refuses; it never answers where memory finds an error.
    @Test func sqlAgreesWithMemory() throws {
        let environment = ProcessInfo.processInfo.environment
        let cases = environment["STRATA_PREDICATE_CASES"].flatMap(Int.init) ?? 5000
        let seed = RunSeed.value()
        // To look at one case again, those before it need not be compared.
        let first = environment["STRATA_PREDICATE_FIRST"].flatMap(Int.init) ?? 1
        print("sqlAgreesWithMemory: seed \(seed), \(cases) cases")
        let run = try PredicateDifference(
            open: { try SQLiteStore.open(model: $0, location: .memory(name: nil)) },
            explain: { world, plan in
                guard let store = world.store as? SQLiteStore else { return "" }
                return try FetchCompiler(schema: store.schema, rowPlans: store.rowPlans)
                    .compile(FetchShape(plan, .keys), of: plan).sql
            }
        ).run(seed: seed, cases: cases, first: first)
        for difference in run.differences { Issue.record("\(difference)") }
        let agreed = run.counts[.agrees, default: 0]
        print(
            "sqlAgreesWithMemory: \(agreed) agree, \(run.counts[.refused, default: 0]) are refused, "
                + "\(run.counts[.failed, default: 0]) have no answer")
        // The test would say nothing if nearly everything were refused.
        #expect(!run.differences.isEmpty || agreed >= (cases - first) / 2, "\(run.counts)")
    }

    @Test func whatCannotBeTranslatedIsNamed() throws {
        let store = try SQLiteStore.open(model: try TestModel.make(), location: .memory(name: nil))
        for (path, word) in [
            (["note"], "transient"), (["nothing"], "nothing"), (["address"], "composite"), (["photo"], "file"),
            (["owner", "things", "title", "x"], "x"),
        ] {
            let error = #expect(throws: StoreError.self) {
                try store.keys("Thing", .comparison(.keyPath(path), .equal, .constant(.binary(Data([1]))), []))
            }
            guard case .unsupported(_, let feature) = error else {
                Issue.record("\(path): \(String(describing: error))")
                continue
            }
            #expect(feature.contains(word) && feature.contains(path.last!), "\(feature)")
        }
        #expect(try store.keys("Thing", .comparison(.keyPath(["photo"]), .equal, .constant(.null), [])) == [])
    }
}
