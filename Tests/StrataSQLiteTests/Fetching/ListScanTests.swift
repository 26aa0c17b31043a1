import Foundation
import SeededRandom
import StrataStore
import Testing

@testable import StrataSQLite

/// A fetch by a list that names a good part of a table passes over the table; the answer is that of looking up each element.
@Suite struct ListScanTests {
    let file: TracedFile
    private var store: SQLiteStore { file.store }
    let seed = RunSeed.value()
    /// Two forms of one letter are two texts, and so are such that begin alike.
    private static let titles = [
        "é", "e\u{301}", "", "t", "t1", "t10", "long enough to stand outside of the string itself", "ß",
    ]

    init() throws {
        file = try TracedFile()
        var random = SplitMix64(seed: seed)
        var changes = ChangeSet()
        for key in Int64(1)...600 {
            var values: [String: Value] = ["code": .string("c\(key)")]
            if key % 5 != 0 { values["title"] = .string(Self.titles.randomElement(using: &random) ?? "") }
            if key % 7 != 0 { values["large"] = .integer(.random(in: -20...20, using: &random)) }
            let entity = ["Thing", "Gadget", "Widget"].randomElement(using: &random) ?? "Thing"
            changes.inserts.append(.init(row: try store.row(entity, key, values)))
        }
        guard case .committed = try store.commit(changes) else { throw MissingName(name: "a commit") }
    }

    private func isIn(_ name: String, _ values: [Value]) -> FetchPredicate {
        .comparison(.keyPath([name]), .isIn, .constant(.list(values)), [])
    }

    private func plan(_ predicate: FetchPredicate, _ entity: String = "Thing") throws -> FetchPlan {
        var plan = FetchPlan(entityIndex: try store.entity(entity).index)
        plan.predicate = predicate
        return plan
    }

    /// The keys of a fetch, and whether it passed over the table.
    private func keys(_ plan: FetchPlan) throws -> (keys: [Int64], isScan: Bool) {
        file.log.clear()
        let keys = try store.fetch(plan).rows.map(\.key)
        return (keys, file.log.statements.last?.sql.contains("strata_listed") == true)
    }

    /// The list, made long with values that no row has.
    private func long(_ values: [Value]) -> [Value] {
        let isNumber = values.contains { if case .integer = $0 { true } else { false } }
        return values + (0..<1200).map { isNumber ? .integer(1000 + $0) : .string("none \($0)") }
    }

    @Test func theAnswerIsThatOfLookingUpEachElement() throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<60 {
            let titles = Self.titles.filter { _ in Bool.random(using: &random) }.map(Value.string)
            let numbers = (-20...20).filter { _ in Bool.random(using: &random) }.map { Value.integer($0) }
            let codes = (1...600).filter { _ in Bool.random(using: &random) }.map { Value.string("c\($0)") }
            let odd: [Value] = [.null, .integer(1), .double(.nan), .uri(try #require(URL(string: "t1"))), .string("t")]
            let lists: [(String, [Value])] = [
                ("title", titles), ("title", odd), ("large", numbers), ("large", numbers + [.null]), ("code", codes),
            ]
            for (name, values) in lists {
                for entity in ["Thing", "Gadget"] {
                    let scanned = try keys(try plan(isIn(name, long(values)), entity))
                    // In parts so short that they are looked up.
                    let parts = stride(from: 0, to: values.count, by: 500).map {
                        isIn(name, Array(values[$0..<min($0 + 500, values.count)]))
                    }
                    let wanted = try keys(try plan(parts.isEmpty ? .constant(false) : .or(parts), entity))
                    #expect(scanned.isScan && !wanted.isScan, "seed \(seed), \(name)")
                    #expect(scanned.keys == wanted.keys, "seed \(seed), \(name), \(values)")
                }
            }
            let both = FetchPredicate.and([isIn("title", long(titles)), isIn("large", long(numbers))])
            let scanned = try keys(try plan(both))
            let wanted = try keys(try plan(.and([isIn("title", titles), isIn("large", numbers)])))
            #expect(scanned.isScan && scanned.keys == wanted.keys, "seed \(seed)")
        }
    }

    @Test func whatTheReaderHasComesAsAHeader() throws {
        let plan = try plan(isIn("code", long((1...300).map { .string("c\($0)") })))
        let rows = try store.fetch(plan, known: { _, key, version in key % 3 == 0 && version == 1 }).rows
        #expect(rows.map(\.key) == Array(1...300))
        #expect(rows.allSatisfy { $0.isHeaderOnly == ($0.key % 3 == 0) })
    }

    @Test func otherFetchesAreLookedUp() throws {
        let codes = long((1...300).map { .string("c\($0)") })
        var page = try plan(isIn("code", codes))
        page.limit = 10
        #expect(try keys(page) == (Array(1...10), false))
        var sorted = try plan(isIn("code", codes))
        sorted.sorts = [FetchSort("large")]
        #expect(try keys(sorted).isScan == false && keys(sorted).keys.count == 300)
        let withHalf = (0..<1200).map { Value.integer($0) } + [.double(0.5)]
        let whole = try keys(try plan(isIn("large", (0...20).map { .integer($0) })))
        #expect(try keys(try plan(isIn("large", withHalf))) == (whole.keys, false))
        let most = try keys(try plan(.not(isIn("code", codes))))
        #expect(most == (Array(301...600), false))
        // A list that names little of a large table.
        var changes = ChangeSet()
        for key in Int64(1001)...8000 { changes.inserts.append(.init(row: try store.row("Thing", key, [:]))) }
        _ = try store.commit(changes)
        #expect(try keys(try plan(isIn("code", codes))) == (Array(1...300), false))
    }
}
