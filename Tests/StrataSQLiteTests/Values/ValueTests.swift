import Foundation
import StrataSQLite
import Testing

/// Values in place of objects: columns, groups, aggregates.
@Suite struct ValueTests {
    let store: SQLiteStore

    init() throws {
        store = try SQLiteStore.open(model: try TestModel.make(), location: .memory(name: nil))
        try store.insert(
            ("Person", 1, ["name": "Ada", "age": 36]), ("Person", 2, ["name": "Bo", "age": 7]), ("Person", 3, [:]),
            ("Thing", 1, ["title": "a", "large": 1, "exact": .decimal(1.5), "owner": .object(1)]),
            ("Thing", 2, ["title": "a", "large": .integer(.max), "exact": .decimal(2), "owner": .object(1)]),
            ("Thing", 3, ["title": "b", "large": 5, "owner": .object(2)]), ("Thing", 4, ["real": 0.5]))
    }

    func plan(_ columns: (String, String)..., where format: String? = nil) throws -> ValuePlan {
        var fetch = FetchPlan(entityIndex: try store.entity("Thing").index)
        if let format { fetch.predicate = try FetchPredicate(format: format) }
        return ValuePlan(fetch, columns: try columns.map { FetchColumn($0.0, try expression($0.1)) })
    }

    func expression(_ format: String) throws -> FetchExpression {
        guard case .comparison(let left, _, _, _) = try FetchPredicate(format: "\(format) == nil").node else {
            throw MissingName(name: format)
        }
        return left
    }

    @Test func columnsOfEachObject() throws {
        var plan = try plan(("t", "title"), ("o", "owner.name"), ("twice", "large * 2"), ("who", "owner"))
        #expect(
            try store.values(plan) == [
                ["a", "Ada", 2, .object(1)], ["a", "Ada", nil, .object(1)], ["b", "Bo", 10, .object(2)],
                [nil, nil, nil, nil],
            ])
        plan.fetch.sorts = [FetchSort("twice", ascending: false), FetchSort("large")]
        plan.fetch.limit = 2
        plan.fetch.offset = 1
        #expect(try store.values(plan).map { $0[2] } == [2, nil])
    }

    @Test func distinctRowsComeOnce() throws {
        var plan = try plan(("t", "title"), ("o", "owner.name"))
        plan.isDistinct = true
        #expect(try store.values(plan) == [[nil, nil], ["a", "Ada"], ["b", "Bo"]])
        plan.fetch.sorts = [FetchSort("title", ascending: false)]
        #expect(try store.values(plan).map { $0[0] } == ["b", "a", nil])
        plan.fetch.sorts = [FetchSort("large")]
        #expect(throws: StoreError.self) { try store.values(plan) }
    }

    @Test func aggregatesOverAll() throws {
        let plan = try plan(
            ("n", "count:(SELF)"), ("titles", "count:(title)"), ("sum", "sum:(large)"), ("exact", "sum:(exact)"),
            ("mean", "average:(exact)"), ("least", "min:(title)"), ("most", "max:(large)"), ("half", "sum:(real) / 2"))
        #expect(
            try store.values(plan) == [
                [4, 3, .integer(.max), .decimal(3.5), .decimal(1.75), "a", .integer(.max), .double(0.25)]
            ])
        let none = try self.plan(
            ("n", "count:(SELF)"), ("sum", "sum:(large)"), ("max", "max:(large)"), where: "title == 'z'")
        #expect(try store.values(none) == [[0, 0, nil]])
    }

    @Test("Groups can be sorted by aggregates and limited by conditions on them")
    func groups() throws {
        var plan = try plan(("name", "owner.name"), ("n", "count:(SELF)"), ("sum", "sum:(small)"))
        plan.groupBy = [.keyPath(["owner", "name"])]
        #expect(try store.values(plan) == [[nil, 1, 0], ["Ada", 2, 0], ["Bo", 1, 0]])
        plan.fetch.sorts = [FetchSort("n", ascending: false), FetchSort(["owner", "name"], ascending: false)]
        #expect(try store.values(plan).map { $0[0] } == ["Ada", "Bo", nil])
        plan.having = try FetchPredicate(format: "$n > 1 OR max:(large) == 5")
        #expect(try store.values(plan).map { $0[0] } == ["Ada", "Bo"])
        plan.having = try FetchPredicate(format: "large == 5")
        #expect(throws: StoreError.self) { try store.values(plan) }
        plan.having = nil
        plan.columns.append(FetchColumn("title", .keyPath(["title"])))
        let error = #expect(throws: StoreError.self) { try store.values(plan) }
        #expect(error?.description.contains("title") == true)
    }
}
