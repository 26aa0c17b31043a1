import Foundation
import StrataSQLite
import Testing

/// `now()` is one moment for a whole fetch, and aggregates and groups are the same in memory and in the store.
@Suite struct MomentTests {
    let store: SQLiteStore
    let past = Date(timeIntervalSinceReferenceDate: 1000)

    init() throws {
        store = try SQLiteStore.open(model: try TestModel.make(), location: .memory(name: nil))
        try store.insert(("Thing", 1, ["yearBorn": .date(past)]), ("Thing", 2, ["yearBorn": .date(past + 10)]))
    }

    private func keys(_ format: String, at date: Date? = nil) throws -> [Int64] {
        var plan = FetchPlan(entityIndex: 0)
        plan.predicate = try FetchPredicate(format: format)
        plan.environment = date.map { EvaluationEnvironment(now: $0) }
        return try store.fetchKeys(plan)
    }

    @Test func everyNowOfAFetchIsTheSameMoment() throws {
        for format in ["now() == now()", "now() <= now() AND NOT (now() < now())", "SELF IN {SELF} AND now() == now()"]
        {
            for _ in 0..<20 { #expect(try keys(format).count == 2, "\(format)") }
        }
        let plan = FetchPlan(entityIndex: 0)
        let now = try FetchExpression(format: "now()")
        let values = try store.values(ValuePlan(plan, columns: [FetchColumn("a", now), FetchColumn("b", now)]))
        #expect(values.count == 2 && Set(values.flatMap(\.self)).count == 1)
    }

    @Test func aPlanMaySayWhatNowMeans() throws {
        #expect(try keys("yearBorn < now()") == [1, 2])
        #expect(try keys("yearBorn < now()", at: past + 5) == [1])
        #expect(try keys("yearBorn < now()", at: past) == [])
        // The same statement serves them all.
        #expect(try keys("yearBorn == now()", at: past + 10) == [2])
        #expect(try keys("CAST(now(), 'NSNumber') == 1000", at: past) == [1, 2])
        var plan = FetchPlan(entityIndex: 0)
        plan.environment = EvaluationEnvironment(now: past)
        plan.sorts = [FetchSort(try FetchExpression(format: "TERNARY(yearBorn > now(), 0, 1)"))]
        #expect(try store.fetchKeys(plan) == [2, 1])
        let values = ValuePlan(plan, columns: [FetchColumn("now", try FetchExpression(format: "now()"))])
        #expect(try store.values(values) == [[.date(past)], [.date(past)]])
        #expect(try values.evaluate(over: [Value.null]) == [[.date(past)]])
    }

    @Test func memoryTakesTheSameMoment() throws {
        let environment = EvaluationEnvironment(now: past)
        let predicate = try FetchPredicate(format: "now() == $then AND now() == now()")
        #expect(try predicate.evaluate(on: Value.null, variables: ["then": .date(past)], environment: environment))
        let expression = try FetchExpression(format: "now()")
        #expect(try expression.evaluate(on: Value.null, environment: environment) == .date(past))
        #expect(try FetchSort(expression).value(of: Value.null, environment: environment) == .date(past))
        let bound = try FetchPredicate(format: "now() > $o.born").binding(
            ["o": Value.composite(["born": .date(past - 1)])], environment: environment)
        #expect(try bound.evaluate(on: Value.null, environment: environment))
    }

    @Test func aggregatesTakeAsManyValuesAsTheyCanBeParsedWith() throws {
        for count in [2, 60, 61, 64] {
            let numbers = (1...count).map(String.init).joined(separator: ", ")
            #expect(try keys("max(\(numbers)) == \(count)") == [1, 2])
            let attributes = Array(repeating: "small", count: count - 1).joined(separator: ", ") + ", 7"
            #expect(try keys("max(\(attributes)) == 7") == [1, 2])
        }
        let many = (1...5000).map(String.init).joined(separator: ", ")
        #expect(try keys("max({\(many)}) == 5000 AND sum({\(many)}) == 12502500") == [1, 2])
        #expect(throws: PredicateParseError.self) {
            try FetchPredicate(format: "max(\((1...65).map(String.init).joined(separator: ", "))) == 1")
        }
    }

    @Test func anAggregateThatGivesNaNIsRefusedBecauseSQLiteWouldTakeItForNil() throws {
        let none = FetchExpression.function(.sum, [.constant(.list([.double(.nan)]))])
        #expect(throws: StoreError.self) {
            try store.keys("Thing", .comparison(none, .equal, .constant(.null), []))
        }
        #expect(try !FetchPredicate.comparison(none, .equal, .constant(.null), []).evaluate(on: Value.null))
    }

    @Test func distinctAndGroupedValuesAreTheSameInMemoryAndInTheStore() throws {
        let store = try SQLiteStore.open(model: try TestModel.make(), location: .memory(name: nil))
        let composed = "caf\u{e9}"
        let decomposed = "cafe\u{301}"
        let rows: [[String: Value]] = [
            ["title": .string(composed), "large": 1, "real": 1.0, "exact": .decimal(1)],
            ["title": .string(decomposed), "large": 1, "real": 1.0, "exact": .decimal(Decimal(string: "1.0") ?? 1)],
            ["title": .string(composed), "large": 2, "real": 2.5], ["title": .null, "real": -0.0],
            ["title": .null, "real": 0],
        ]
        for (index, row) in rows.enumerated() { try store.insert(("Thing", Int64(index + 1), row)) }
        let sources = rows.map { row in Value.composite(row) }
        for format in ["title", "real", "exact", "large", "TERNARY(title == nil, real, large)", "large / 1.0"] {
            let expression = try FetchExpression(format: format)
            var distinct = ValuePlan(FetchPlan(entityIndex: 0), columns: [FetchColumn("value", expression)])
            distinct.isDistinct = true
            #expect(
                try store.values(distinct).map(compared) == distinct.evaluate(over: sources).map(compared), "\(format)")
            var grouped = ValuePlan(
                FetchPlan(entityIndex: 0),
                columns: [FetchColumn("count", try FetchExpression(format: "count:(SELF)"))])
            grouped.groupBy = [expression]
            #expect(
                try store.values(grouped).map(compared) == grouped.evaluate(over: sources).map(compared), "\(format)")
        }
    }

    /// Values as predicates compare them: numbers by value, text by bytes.
    private func compared(_ row: [Value]) -> [String] {
        row.map { value in
            switch value {
            case .integer(let number): "\(Double(number))"
            case .double(let number): "\(number + 0)"
            case .decimal(let number): "\(NSDecimalNumber(decimal: number).doubleValue)"
            case .string(let text): text.unicodeScalars.map { String($0.value) }.joined(separator: " ")
            default: "\(value)"
            }
        }
    }
}
