import Foundation
import SeededRandom
import StrataStore

/// Random conditions and orders about random models, which a store must answer as memory does.
package struct PredicateDifference {
    /// What became of one condition.
    package enum Outcome: Hashable {
        case agrees
        /// The store refused what memory may be able to do.
        case refused
        /// Memory has no answer, and neither has the store.
        case failed
        /// Memory has no answer, and the store gives one: it had no need to look at the part that has none.
        case answered
        /// The store answered otherwise.
        case differs(String)
    }

    /// A run of many cases.
    package struct Run {
        package var counts: [Outcome: Int] = [:]
        /// The first few that differ.
        package var differences: [String] = []
    }

    private let keepsZeroCharacters: Bool
    private let mayAnswerMore: Bool
    private let open: (ManagedObjectModel) throws -> any PersistentStore
    private let explain: (RandomWorld, FetchPlan) throws -> String

    /// - Parameters:
    ///   - keepsZeroCharacters: Whether the store keeps texts with the character U+0000.
    ///   - mayAnswerMore: Whether the store may answer where a part of the condition has no answer in memory, but other parts
    ///     decide.
    ///   - open: Opens an empty store.
    ///   - explain: What is said about a plan that the store answers otherwise.
    package init(
        keepsZeroCharacters: Bool = true, mayAnswerMore: Bool = false,
        open: @escaping (ManagedObjectModel) throws -> any PersistentStore,
        explain: @escaping (RandomWorld, FetchPlan) throws -> String = { _, _ in "" }
    ) {
        self.keepsZeroCharacters = keepsZeroCharacters
        self.mayAnswerMore = mayAnswerMore
        self.open = open
        self.explain = explain
    }

    /// Runs cases until five have differed.
    /// - Parameter first: The first case that is compared, to look at one again.
    package func run(seed: UInt64, cases: Int, first: Int = 1) throws -> Run {
        var random = SplitMix64(seed: seed)
        var result = Run()
        var done = 0
        while done < cases {
            var worldRandom = SplitMix64(seed: random.next())
            guard let world = try? RandomWorld(&worldRandom, keepsZeroCharacters: keepsZeroCharacters, open: open)
            else {
                continue
            }
            defer { world.store.close() }
            var last = random
            for _ in 0..<100 where done < cases {
                done += 1
                // Every other condition has the structure of the one before it, with other constants.
                if done.isMultiple(of: 2) { last = SplitMix64(seed: random.next()) }
                var structure = last
                let entity = world.model.entities.randomElement(using: &structure)!
                let values = SplitMix64(seed: random.next())
                if done < first { continue }
                let outcome = try check(world, entity, structure, values, "seed \(seed), case \(done)")
                if case .differs(let text) = outcome {
                    result.differences.append(text)
                    if result.differences.count == 5 { return result }
                } else {
                    result.counts[outcome, default: 0] += 1
                }
            }
        }
        return result
    }

    private func check(
        _ world: RandomWorld, _ entity: EntityDescription, _ random: SplitMix64, _ values: SplitMix64, _ label: String
    ) throws -> Outcome {
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
            default: return .differs("\(label): \(error) of \(predicate)")
            }
        }
        if mayAnswerMore, case .failure = expected { return .answered }
        guard case .success(let keys) = expected, keys == found else {
            return .differs(
                """
                \(label): \(entity.name) where \(predicate) sorted by \(plan.sorts): \(found), \
                memory \(expected); \(try explain(world, plan))
                """)
        }
        let counted = try world.store.count(plan)
        // Rows are read by another statement, which a share of the cases is enough to test.
        let isRead = Int.random(in: 0..<20, using: &maker.random) == 0
        guard counted == keys.count, try !isRead || world.store.fetch(plan).rows.map({ $0.row.key }) == keys else {
            return .differs("\(label): rows or count differ from keys where \(predicate)")
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
}
