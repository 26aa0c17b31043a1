import StrataStore
import Testing

@testable import StrataSQLite

/// Aggregate functions over constants: what SQL has no kind for is not nil.
@Suite struct FixedAggregateTests {
    @Test(arguments: [
        "min(NULL, CAST({'a', 1}, 'NSDictionary')) <= large", "max({CAST({'a', 1}, 'NSDictionary')}) == large",
        "mode({1, 1, 2}) < large",
    ])
    func aResultThatSQLCannotHoldIsRefused(format: String) throws {
        let file = try TracedFile()
        let store = file.store
        var changes = ChangeSet()
        changes.inserts.append(.init(row: try store.row("Thing", 1, ["code": .string("c"), "large": .integer(5)])))
        guard case .committed = try store.commit(changes) else { throw MissingName(name: "a commit") }
        var plan = FetchPlan(entityIndex: try store.entity("Thing").index)
        plan.predicate = try FetchPredicate(format: format)
        #expect(throws: StoreError.self) { try store.fetch(plan) }
    }

    @Test func nilIsNil() throws {
        let file = try TracedFile()
        var plan = FetchPlan(entityIndex: try file.store.entity("Thing").index)
        plan.predicate = try FetchPredicate(format: "min(NULL, NULL) == large")
        #expect(try file.store.fetch(plan).rows.isEmpty)
    }
}
