import StrataSQLite
import Testing

/// Whole numbers that no floating-point number can be are equal to none, wherever the two meet.
@Suite struct ExactNumberTests {
    let store: SQLiteStore

    init() throws {
        store = try SQLiteStore.open(model: try TestModel.make(), location: .memory(name: nil))
        try store.insert(
            ("Person", 1, ["name": "Ada"]),
            ("Thing", 1, ["real": .double(0x1p53), "large": .integer(.max), "owner": .object(1)]))
    }

    @Test(
        "Lists of numbers compare whole and floating-point numbers exactly",
        arguments: [
            ("real IN {9007199254740993, 7}", []), ("real IN {9007199254740993}", []),
            ("real IN {7, 9007199254740992}", [1]), ("real == 9007199254740993", []),
            ("large IN {9223372036854775808.0, 7}", []), ("large IN {7, 9223372036854775807}", [1]),
        ])
    func inLists(_ format: String, _ keys: [Int64]) throws {
        #expect(try store.keys("Thing", FetchPredicate(format: format)) == keys)
    }

    @Test(arguments: [
        ("ANY (things.real UNION things.large) IN {9223372036854775808.0, 7}", []),
        ("ANY (things.large UNION things.real) IN {9223372036854775808.0, 7}", []),
        ("ANY (things.real UNION things.large) == 9223372036854775807", [1]),
        ("ANY (things.real UNION things.large) IN {9007199254740992, 7}", [1]),
        ("ANY (things.real MINUS things.large) == 9007199254740992", [1]),
    ])
    func inSetsOfBothKinds(_ format: String, _ keys: [Int64]) throws {
        #expect(try store.keys("Person", FetchPredicate(format: format)) == keys)
    }
}
