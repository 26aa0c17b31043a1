import Foundation
import StrataSQLite
import Testing

/// Decimals compare by number and text by its bytes, even where one contains the other.
@Suite struct CollationTests {
    let store: SQLiteStore

    init() throws {
        store = try SQLiteStore.open(model: try TestModel.make(), location: .memory(name: nil))
        try store.insert(
            ("Thing", 1, ["title": "1.0", "code": "1", "exact": .decimal(5)]),
            ("Thing", 2, ["title": "1.00", "code": "2", "exact": .decimal(1)]),
            ("Thing", 3, ["title": "2001-a", "code": "3", "link": .uri(URL(string: "1.0")!)]))
    }

    @Test(arguments: [
        ("TERNARY(exact > 3, title, title) == '1.00'", [2]), ("'1.0' == TERNARY(exact > 3, title, title)", [1]),
        ("TERNARY(exact > 3, title, title) IN {'1.00', '7'}", [2]),
        ("TERNARY(exact > 3, title, title) ==[c] '1.00'", [2]),
        ("title < FUNCTION(TERNARY(exact >= 3, title, title), 'stringByAppendingString:', 'x')", [1, 2, 3]),
        ("FUNCTION(TERNARY(exact >= 3, title, title), 'stringByAppendingString:', 'x') <=[cd] title", []),
        ("TERNARY(exact > 3, link, link) == '1.00'", []), ("TERNARY(exact > 3, link, link) == '1.0'", [3]),
        // The text inside does not make the decimal compare by bytes, either.
        ("TERNARY(TERNARY(exact > 3, title, title) == '1.0', exact, exact) == 5.0", [1]),
        ("TERNARY(TERNARY(exact > 3, title, title) == 'x', exact, exact) BETWEEN {1.0, 1.00}", [2]),
        ("TERNARY(TERNARY(exact > 3, title, title) == 'x', exact, exact) IN {1.0, 7}", [2]),
    ])
    func eachByItsOwnRule(_ format: String, _ keys: [Int64]) throws {
        #expect(try store.keys("Thing", FetchPredicate(format: format)) == keys)
    }

    @Test func groupsAndExtremesOfTextAreByBytes() throws {
        let title = FetchExpression.ternary(
            try FetchPredicate(format: "exact > 3"), .keyPath(["title"]), .keyPath(["title"]))
        let things = FetchPlan(entityIndex: try store.entity("Thing").index)
        var groups = ValuePlan(things, columns: [FetchColumn("title", title)])
        groups.groupBy = [title]
        #expect(try store.values(groups) == [["1.0"], ["1.00"], ["2001-a"]])
        var distinct = ValuePlan(things, columns: [FetchColumn("title", title)])
        distinct.isDistinct = true
        #expect(try store.values(distinct) == [["1.0"], ["1.00"], ["2001-a"]])
        let maximum = ValuePlan(things, columns: [FetchColumn("last", .function(.maximum, [title]))])
        #expect(try store.values(maximum) == [["2001-a"]])
        var having = ValuePlan(things, columns: [FetchColumn("code", .keyPath(["code"]))])
        having.groupBy = [.keyPath(["code"])]
        having.having = try FetchPredicate(format: "CAST(min(exact), 'NSString') == '5.0'")
        #expect(try store.values(having) == [])
        having.having = try FetchPredicate(format: "min(exact) == 5.0 AND CAST(min(exact), 'NSString') == '5'")
        #expect(try store.values(having) == [["1"]])
    }
}
