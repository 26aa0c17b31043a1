import Foundation
import SeededRandom
import Testing

@testable import StrataSQLite

@Suite struct PredicateDifferentialTests {
    /// What became of one condition.
    private enum Outcome {
        case agrees
        /// The store refused what memory may be able to do.
        case refused
        /// Memory has no answer, and neither has the store.
        case failed
    }

    /// Random conditions and orders about random models select the same rows in SQL as in memory, in the same order.
    /// What the store cannot say it refuses; it never answers where memory finds an error.
    @Test func sqlAgreesWithMemory() throws {
        let environment = ProcessInfo.processInfo.environment
        let cases = environment["STRATA_PREDICATE_CASES"].flatMap(Int.init) ?? 5000
        let seed = environment["STRATA_SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max >> 1)
        // To look at one case again, those before it need not be compared.
        let first = environment["STRATA_PREDICATE_FIRST"].flatMap(Int.init) ?? 1
        print("sqlAgreesWithMemory: seed \(seed), \(cases) cases")
        var random = SplitMix64(seed: seed)
        var counts: [Outcome: Int] = [:]
        var done = 0
        var differences = 0
        while done < cases {
            let worldSeed = random.next()
            var worldRandom = SplitMix64(seed: worldSeed)
            guard let world = try? RandomWorld(&worldRandom) else { continue }
            var last = random
            for _ in 0..<100 where done < cases {
                done += 1
                // Every other condition has the structure of the one before it, with other constants.
                if done.isMultiple(of: 2) { last = SplitMix64(seed: random.next()) }
                var structure = last
                let entity = world.model.entities.randomElement(using: &structure)!
                let values = SplitMix64(seed: random.next())
                if done < first { continue }
                let outcome = try check(
                    world, entity, structure, values, "seed \(seed), case \(done)")
                guard let outcome else {
                    differences += 1
                    if differences == 5 { return }
                    continue
                }
                counts[outcome, default: 0] += 1
            }
        }
        let summary = "\(counts[.agrees, default: 0]) agree, \(counts[.refused, default: 0]) are refused,"
        print("sqlAgreesWithMemory: \(summary) \(counts[.failed, default: 0]) have no answer")
        // The test would say nothing if nearly everything were refused.
        #expect(counts[.agrees, default: 0] >= (cases - first) / 2, "\(counts)")
    }

    /// - Returns: nil if there is a difference.
    private func check(
        _ world: RandomWorld, _ entity: EntityDescription, _ random: SplitMix64, _ values: SplitMix64,
        _ label: String
    ) throws -> Outcome? {
        var maker = RandomPredicates(model: world.model, entity: entity, random: random, values: values)
        let predicate = maker.predicate(depth: 3)
        var plan = FetchPlan(entityIndex: entity.index)
        plan.predicate = predicate
        plan.sorts = (0..<Int.random(in: 0...2, using: &maker.random)).compactMap { _ in maker.sort() }
        plan.includesSubentities = Int.random(in: 0..<4, using: &maker.random) > 0
        let isLimited = Bool.random(using: &maker.random)
        if isLimited {
            plan.offset = .random(in: 0...3, using: &maker.random)
            plan.limit = .random(in: 0...8, using: &maker.random)
        }
        var expected: Result<[Int64], PredicateEvaluationError>
        do throws(PredicateEvaluationError) {
            expected = .success(try memory(world, entity, plan))
        } catch {
            expected = .failure(error)
        }
        let found: [Int64]
        do throws(StoreError) {
            found = try world.store.fetchKeys(plan)
        } catch {
            switch error {
            case .unsupported: return .refused
            case .invalidPredicate: return .failed
            default:
                Issue.record("\(label): \(error) of \(predicate)")
                return nil
            }
        }
        guard case .success(let keys) = expected, keys == found else {
            let compiler = FetchCompiler(schema: world.store.schema, rowPlans: world.store.rowPlans)
            let sql = try compiler.compile(FetchShape(plan, .keys)).sql
            Issue.record(
                """
                \(label): \(entity.name) where \(predicate) sorted by \(plan.sorts): \(found), \
                memory \(expected); \(sql)
                """)
            return nil
        }
        let counted = try world.store.count(plan)
        // Rows are read by another statement, which a share of the cases is enough to test.
        let isRead = Int.random(in: 0..<20, using: &maker.random) == 0
        guard counted == keys.count, try !isRead || world.store.fetch(plan).rows.map({ $0.row.key }) == keys else {
            Issue.record("\(label): rows or count differ from keys where \(predicate)")
            return nil
        }
        return .agrees
    }

    private func memory(
        _ world: RandomWorld, _ entity: EntityDescription, _ plan: FetchPlan
    ) throws(PredicateEvaluationError) -> [Int64] {
        guard let predicate = plan.predicate else { return [] }
        var selected: [RandomObject] = []
        for object in world.objects(of: entity, subentities: plan.includesSubentities)
        where try predicate.evaluate(on: object) {
            selected.append(object)
        }
        var sorts = plan.sorts
        if sorts.isEmpty, let nearest = predicate.nearestFirst { sorts = [FetchSort(nearest)] }
        var sortValues: [Int64: [Value]] = [:]
        for object in selected {
            var values: [Value] = []
            for sort in sorts { values.append(try sort.value(of: object)) }
            sortValues[object.key] = values
        }
        selected.sort { a, b in
            for (index, sort) in sorts.enumerated() {
                let order = ValueComparison.sortOrder(
                    sortValues[a.key]?[index] ?? .null, sortValues[b.key]?[index] ?? .null, sort.options)
                if order != .orderedSame { return (order == .orderedAscending) == sort.ascending }
            }
            return a.key < b.key
        }
        let rest = selected.dropFirst(plan.offset)
        return (plan.limit.map { rest.prefix($0) } ?? rest).map(\.key)
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
