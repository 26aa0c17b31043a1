#if Postgres
    import Foundation
    import PostgresFixture
    import StrataStore
    import Testing

    @testable import StrataPostgres

    @Suite("Columns and groups of values from PostgreSQL", .needsPostgres)
    struct ValuesTests {
        private func filled() throws -> PostgresStore {
            let (store, _) = try PostgresStore.fresh()
            var changes = ChangeSet()
            for key in 1...120 as ClosedRange<Int64> {
                var values: [String: Value] = ["name": .string("City \(key % 12)"), "land": .object(key % 4 + 1)]
                if key % 5 != 0 { values["count"] = .integer(key % 17 - 4) }
                if key % 3 != 0 { values["rate"] = .double(Double(key % 8) / 4) }
                if key % 2 != 0 { values["price"] = .decimal(Decimal(key % 9) / 10) }
                if key % 7 != 0 { values["founded"] = .date(Date(timeIntervalSinceReferenceDate: Double(key % 6) / 8)) }
                changes.inserts.append(.init(row: try store.row(key % 6 == 0 ? "Port" : "City", key, values)))
            }
            for key in 1...5 as ClosedRange<Int64> {
                changes.inserts.append(.init(row: try store.row("Land", key, ["name": .string("Land \(key)")])))
            }
            _ = try store.commit(changes)
            return store
        }

        /// - Parameter sql: Whether PostgreSQL must compute the answer.
        private func check(
            _ store: PostgresStore, _ columns: [String], groups: [String] = [], having: String? = nil,
            distinct: Bool = false, where condition: String? = nil, sorts: [String] = [], limit: Int? = nil,
            sql: Bool = true
        ) throws {
            var fetch = FetchPlan(entityIndex: 0)
            fetch.predicate = try condition.map { try FetchPredicate(format: $0) }
            fetch.sorts = try sorts.map { try FetchSort(format: $0) }
            fetch.limit = limit
            fetch.environment = EvaluationEnvironment()
            var plan = ValuePlan(
                fetch,
                columns: try columns.enumerated().map { FetchColumn("c\($0)", try FetchExpression(format: $1)) })
            plan.groupBy = try groups.map { try FetchExpression(format: $0) }
            plan.having = try having.map { try FetchPredicate(format: $0) }
            plan.isDistinct = distinct
            let expected = try store.valuesInMemory(plan, nil)
            #expect(Self.agree(try store.values(plan), expected), "\(columns) \(groups)")
            #expect(!expected.isEmpty)
            if sql {
                let compiled = try #require(try store.compiledValues(plan, nil), "\(columns) \(groups)")
                #expect(Self.agree(compiled, expected), "\(columns) \(groups)")
            }
        }

        /// Floating-point numbers may differ in their last digits, because they are added in another order.
        private static func agree(_ found: [[Value]], _ expected: [[Value]]) -> Bool {
            found.count == expected.count
                && zip(found.joined(), expected.joined()).allSatisfy { a, b in
                    guard case .double(let x) = a, case .double(let y) = b else { return a == b }
                    return abs(x - y) <= 1e-12 * max(1, abs(y))
                }
        }

        @Test func answersAreThoseOfMemory() throws {
            let store = try filled()
            try check(store, ["count:(SELF)", "sum:(count)", "min:(count)", "max:(count)"])
            try check(store, ["name", "count:(SELF)", "sum:(count)"], groups: ["name"])
            try check(store, ["name", "max:(founded)", "min:(rate)"], groups: ["name"], where: "count > 0")
            try check(store, ["land.name", "count:(count)"], groups: ["land.name"], sorts: ["-c1"])
            try check(store, ["name", "count:(SELF)"], groups: ["name"], having: "$c1 > 9", limit: 3)
            try check(store, ["name", "count"], sorts: ["-count", "name"], limit: 20)
            try check(store, ["name"], distinct: true, sorts: ["name"])
            try check(store, ["founded", "rate", "price", "land"], sorts: ["founded"])
            try check(store, ["sum:(price)", "max:(price)"])
            try check(store, ["average:(count)", "median:(count)", "stddev:(rate)"], sql: false)
            try check(
                store, ["name", "count:(SELF)"], groups: ["name"], where: "name MATCHES 'City [1-3]'", sql: false)
        }
    }
#endif
