import Foundation
import StrataQuery
import StrataWire
import Testing

@testable import StrataTool

@Suite struct FormatTests {
    @Test(arguments: [
        ("", 0, "expected a value"), ("a", 1, "operator"), ("a ==", 4, "expected a value"), ("a == 1 b", 7, "AND, OR"),
        ("a == 'x", 5, "closing quote"), ("é == ?", 5, "no meaning"), ("a NOT IN {1}", 2, "NOT a IN"),
        ("a IS NULL", 2, "== nil"), ("a IN {1, 2", 10, "}"), ("a == 12ab", 5, "not a number"), ("in == 1", 0, "#"),
        ("a == nosuch(1)", 5, "no function nosuch"), ("x.@foo == 1", 2, "@count"), ("a == %s", 5, "%@"),
        ("a == '\\q'", 6, "backslash"), ("a == 1 == 2", 7, "compared again"), ("CAST(1, 'X') == 1", 8, "NSDate"),
    ])
    func faultsAreNamedWithTheirPlace(_ format: String, _ position: Int, _ word: String) throws {
        let error = #expect(throws: PredicateParseError.self) { try FetchPredicate(format: format) }
        #expect(error?.position == position, "\(String(describing: error))")
        #expect(error?.description.contains(word) == true, "\(String(describing: error))")
    }

    @Test func linesAndColumnsAreCounted() throws {
        let error = #expect(throws: PredicateParseError.self) { try FetchPredicate(format: "a == 1 AND\n  é == ==") }
        #expect(error?.line == 2)
        #expect(error?.column == 8)
        #expect(error?.found == "\"=\"")
    }

    @Test func argumentsOfSwiftTypes() throws {
        let day = Date(timeIntervalSinceReferenceDate: 5)
        let missing: String? = nil
        let predicate = try FetchPredicate(
            format: "a == %@ AND b IN %@ AND c == %@ AND %K BETWEEN %@ AND e == %@ AND f > %f", "x", Set([1, 2]), day,
            "d.e", 1...5, missing, 2)
        let object = Value.composite([
            "a": "x", "b": 2, "c": .date(day), "d": .composite(["e": 3]), "f": 2.5,
        ])
        #expect(try predicate.evaluate(on: object))
        #expect(throws: PredicateParseError.self) { try FetchPredicate(format: "a == %@") }
        #expect(throws: PredicateParseError.self) { try FetchPredicate(format: "a == 1", "surplus") }
    }

    @Test func errorsOfEvaluation() throws {
        func error(_ format: String, _ object: Value) throws -> PredicateEvaluationError? {
            let predicate = try FetchPredicate(format: format)
            return #expect(throws: PredicateEvaluationError.self) { try predicate.evaluate(on: object) }
        }
        #expect(try error("a == $x", ["a"]) == .unboundVariable(name: "x"))
        #expect(
            try error("a < 'x'", .composite(["a": 1])) == .incomparable(left: "integer", right: "string", context: "<"))
        #expect(try error("ANY a == 1", .composite(["a": 1])) == .noCollection(found: "integer", context: "ANY"))
        #expect(try error("a BETWEEN {1}", .composite(["a": 1])) == .invalidBounds(found: "{1}"))
        guard case .invalidPattern("(", 0, _)? = try error("a MATCHES '('", .composite(["a": "x"])) else {
            Issue.record("the pattern is not named")
            return
        }
    }

    @Test func pointsOnTheEarth() throws {
        // The distance between the poles is half the circumference.
        let pole = GeoPoint(latitude: 90, longitude: 0)
        #expect(abs(pole.distance(to: GeoPoint(latitude: -90, longitude: 50), earthRadius: 1) - .pi) < 1e-12)
        #expect(pole.distance(to: pole) == 0)
        let nearest = try FetchPredicate(format: "a == 1 AND near(place, {1, 2}, 6378.0)").nearestFirst
        #expect(nearest == .distance(.keyPath(["place"]), .constant([1, 2]), earthRadius: 6378))
    }

    @Test func answersOfTheTool() throws {
        #expect(
            PredicateCommand.answer(to: #"{"format": "a == %@", "args": ["x\""], "object": {"a": "x\""}}"#)
                == #"{"parsed":"a == 'x\"'","result":true,"error":null}"#)
        // A number that 64 bits do not hold keeps its digits.
        #expect(
            PredicateCommand.answer(
                to: #"{"format": "a > %@", "args": [18446744073709551615], "object": {"a": 18446744073709551616}}"#
            ).contains(#""result":true"#))
        for line in [
            "", "{", "[]", "{\"format\": 5}", String(repeating: "[", count: 1_000_000), "{\"format\": \"a ==\"}",
            "{\"format\": \"a == 1\", \"object\": {\"$date\": \"x\"}}",
            "{\"format\": \"a == 1\", \"object\": {\"a\": 1e999}}",
        ] {
            let answer = try JSONValue(parsing: PredicateCommand.answer(to: line))
            #expect(answer["result"] == .null && answer["error"]?.string?.isEmpty == false, "\(answer)")
        }
    }
}
