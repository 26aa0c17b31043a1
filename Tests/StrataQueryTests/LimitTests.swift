import Foundation
import SmallThread
import StrataQuery
import Testing

/// Formats that are huge or deep.
@Suite struct LimitTests {
    static func exercise(_ format: String) throws {
        let predicate = try FetchPredicate(format: format)
        let again = try FetchPredicate(format: predicate.description)
        #expect(again == predicate)
        #expect(again.hashValue == predicate.hashValue)
        #expect(PredicateShape(again) == PredicateShape(predicate))
        #expect(predicate.withVariables(["v": 1]).keyPaths.count <= format.utf8.count)
        _ = try? predicate.evaluate(on: Value.composite(["a": 1, "l": [1]]), variables: ["v": 1])
    }

    static func nested(_ open: String, _ core: String, _ close: String, _ count: Int) -> String {
        String(repeating: open, count: count) + core + String(repeating: close, count: count)
    }

    static let shapes: [(open: String, core: String, close: String)] = [
        ("(", "a == 1", ")"), ("NOT ", "a == 1", ""), ("NOT (", "a == 1", ")"), ("!", "a == 1", ""),
        ("(a == 1 AND ", "a == 1", ")"), ("(a == 0 OR ", "a == 1", ")"),
        ("SUBQUERY(l, $x, ", "a == 1", ").@count > 0"),
        ("TERNARY(", "a == 1", ", 1, 2) == 1"),
    ]

    static let valueShapes: [(open: String, core: String, close: String)] = [
        ("(", "a", ")"), ("abs(", "a", ")"), ("{", "a", "}"), ("(1 + ", "a", ")"), ("", "a", "[0]"), ("-(", "a", ")"),
        ("CAST(", "a", ", 'NSNumber')"), ("FUNCTION(", "a", ", 'count')"), ("TERNARY(a == 1, 1, ", "a", ")"),
        ("", "a", " + 1"), ("", "a", " UNION l"), ("l[", "a", "]"), ("add:to:(a, ", "a", ")"), ("", "a", " ** 2"),
    ]

    static let allShapes = shapes.map { ($0, $1, $2, "") } + valueShapes.map { ($0, $1, $2, " == 1") }

    @Test func whatMayBeNestedFitsSmallStacks() throws {
        try SmallThread.run {
            for (open, core, close, tail) in Self.allShapes {
                let count = try #require(
                    (1...PredicateLimits.nesting).last {
                        (try? FetchPredicate(format: Self.nested(open, core, close, $0) + tail)) != nil
                    })
                // Printing may need a few parentheses more than the format had.
                let deepest = Self.nested(open, core, close, count - 2) + tail
                #expect(deepest.utf8.count > 20 * (open + close).utf8.count)
                try Self.exercise(deepest)
            }
        }
    }

    @Test func deeperIsAnErrorThatNamesTheLimit() throws {
        try SmallThread.run {
            let deep = Self.allShapes.map { Self.nested($0, $1, $2, 10_000) + $3 }
            for format in deep {
                let error = #expect(throws: PredicateParseError.self, "\(format.prefix(40))") {
                    try FetchPredicate(format: format)
                }
                #expect(
                    error?.description.contains("\(PredicateLimits.nesting) levels") == true,
                    "\(String(describing: error))")
            }
        }
    }

    @Test(arguments: [" AND ", " OR ", "&&", "||"])
    func longChainsAreFlat(_ word: String) throws {
        try SmallThread.run {
            let format = Array(repeating: "a == 1", count: 100_000).joined(separator: word)
            let predicate = try FetchPredicate(format: format)
            switch predicate.node {
            case .and(let parts), .or(let parts): #expect(parts.count == 100_000)
            default: Issue.record("\(word)")
            }
            #expect(try FetchPredicate(format: predicate.description) == predicate)
            #expect(try predicate.evaluate(on: Value.composite(["a": 1])))
        }
    }

    @Test func megabytesAreRead() throws {
        let text = String(repeating: "é\\'", count: 500_000)
        guard case .comparison(_, _, let right, _) = try FetchPredicate(format: "a == '\(text)'").node,
            case .constant(.string(let read)) = right.node
        else {
            Issue.record("no comparison")
            return
        }
        #expect(read.utf8.count == 1_500_000)
        let list = "a IN {" + (0..<200_000).map(String.init).joined(separator: ", ") + "}"
        #expect(try FetchPredicate(format: list).evaluate(on: Value.composite(["a": 199_999])))
        let path = Array(repeating: "k", count: 500_000).joined(separator: ".") + " == nil"
        #expect(try FetchPredicate(format: path).evaluate(on: Value.composite([:])))
        #expect(throws: PredicateParseError.self) {
            try FetchPredicate(format: String(repeating: "a == 1 AND ", count: 100_000))
        }
        #expect(throws: PredicateParseError.self) {
            try FetchPredicate(format: String(repeating: " ", count: 1_000_000))
        }
        #expect(throws: PredicateParseError.self) {
            try FetchPredicate(format: String(repeating: "9", count: 1_000_000))
        }
        #expect(throws: PredicateParseError.self) {
            try FetchPredicate(format: String(repeating: "'", count: 1_000_001))
        }
    }
}
