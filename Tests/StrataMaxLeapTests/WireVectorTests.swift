import Foundation
import StrataMaxLeap
import Testing
import WireComparison

@testable import strata_wire

@Suite struct WireVectorTests {
    private static func cases(_ file: String) throws -> [String] {
        let url = try #require(Bundle.module.url(forResource: file, withExtension: "jsonl", subdirectory: "Vectors"))
        return try WireVector.lines(url)
    }

    /// The given cases, and those whose answers were worked out from the protocol's description before the code was asked.
    @Test(arguments: ["maxleap", "maxleap-more"]) func answersAreAsExpected(file: String) async throws {
        let lines = try Self.cases(file)
        #expect(lines.count >= 120)
        for line in lines {
            let vector = try WireVector(line: line)
            let answer = try JSONValue(parsing: await MaxLeapWire.answer(to: vector.input))
            #expect(answer["id"] == vector.id)
            let comparison = WireComparison(expect: vector.expect, actual: answer["actual"] ?? .null)
            #expect(comparison.differences == [], "\(vector.input) \(answer["error"] ?? "")")
        }
    }

    /// Conditions, values, operations and caches are the same in both dialects.
    @Test(arguments: ["maxleap", "maxleap-more"]) func parseSharesWhatIsNoRequest(file: String) async throws {
        let shared: Set<JSONValue> = [
            "where", "predicate", "regex-quote", "type-encode", "type-decode", "op-encode", "op-merge", "cache-policy",
        ]
        var count = 0
        for line in try Self.cases(file) {
            let vector = try WireVector(line: line)
            guard let area = try JSONValue(parsing: line)["area"], shared.contains(area) else { continue }
            let answer = try JSONValue(parsing: await ParseWire.answer(to: vector.input))
            #expect(answer["id"] == vector.id)
            let comparison = WireComparison(expect: vector.expect, actual: answer["actual"] ?? .null)
            #expect(comparison.differences == [], "\(vector.input) \(answer["error"] ?? "")")
            count += 1
        }
        #expect(count >= 80)
    }

    /// The comparison would see another answer: every expected member is changed once.
    @Test(arguments: ["maxleap", "maxleap-more"]) func comparisonSeesEveryMember(file: String) async throws {
        for line in try Self.cases(file) {
            let vector = try WireVector(line: line)
            let actual = try JSONValue(parsing: await MaxLeapWire.answer(to: vector.input))["actual"] ?? .null
            for (name, value) in vector.expect.members ?? [:] {
                // A list of names that must not be there is wrong with one that is.
                let wrong: JSONValue =
                    switch name {
                    case "absentHeaders":
                        .array((actual["headers"]?.members ?? [:]).names.prefix(1).map(JSONValue.string))
                    case "headers": .object((value.members ?? [:]).mapValues { _ in "something else" })
                    default: "something else"
                    }
                if wrong.elements?.isEmpty == true { continue }
                let comparison = WireComparison(expect: .object([name: wrong]), actual: actual)
                #expect(comparison.differences != [], "\(name) of \(vector.id)")
            }
        }
    }

    @Test func answersDoNotDependOnWhatIsExpected() async throws {
        for line in try Self.cases("maxleap").prefix(40) {
            let vector = try WireVector(line: line)
            #expect(await MaxLeapWire.answer(to: line) == MaxLeapWire.answer(to: vector.input))
        }
    }

    @Test(arguments: [
        "", "x", "null", "[]", "{}", "3", #"{"id":1}"#, #"{"id":"a","area":"nonsense"}"#, #"{"id":"a","area":7}"#,
        #"{"id":"a","area":"where","constraints":[[]]}"#, #"{"id":"a","area":"where","constraints":[["~","a",1]]}"#,
        #"{"id":"a","area":"where","constraints":[["near","a"]]}"#,
        #"{"id":"a","area":"where","constraints":[["or",[]]]}"#,
        #"{"id":"a","area":"predicate","predicate":"((((((("}"#, #"{"id":"a","area":"predicate","predicate":"a = %@"}"#,
        #"{"id":"a","area":"query-params"}"#,
        #"{"id":"a","area":"query-params","query":{"limit":-9223372036854775808}}"#,
        #"{"id":"a","area":"type-encode","value":{"$date_ms":1e300}}"#,
        #"{"id":"a","area":"type-encode","value":{"$double":"nan"}}"#,
        #"{"id":"a","area":"type-decode","json":{"__type":"Date","iso":"0-0-0T0:0:0Z"}}"#,
        #"{"id":"a","area":"type-decode","json":{"__type":"GeoPoint","latitude":"x"}}"#,
        #"{"id":"a","area":"op-encode"}"#, #"{"id":"a","area":"op-encode","op":["Increment","x"]}"#,
        #"{"id":"a","area":"op-merge","new":["Increment",9223372036854775807],"pending":["Increment",1]}"#,
        #"{"id":"a","area":"op-merge","new":["Increment",1e308],"pending":["Set",1e308]}"#,
        #"{"id":"a","area":"request"}"#, #"{"id":"a","area":"request","op":"create","config":{"base":"nowhere"}}"#,
        #"{"id":"a","area":"request","op":"fetch","className":"A","objectId":".."}"#,
        #"{"id":"a","area":"user"}"#, #"{"id":"a","area":"user","op":"logIn"}"#,
        #"{"id":"a","area":"response","op":"query","status":200,"body":[1]}"#,
        #"{"id":"a","area":"response","op":"query","status":99999999999,"body":{}}"#,
        #"{"id":"a","area":"response","op":"batch","body":{"results":3}}"#,
        #"{"id":"a","area":"error","op":"query","status":200,"body":{"results":[3]}}"#,
        #"{"id":"a","area":"cache-policy","policy":9}"#, #"{"id":"a","area":"cache-policy"}"#,
        #"{"id":"a","area":"dialect"}"#, "{\"id\":\"\\ud800\",\"area\":\"where\"}",
    ]) func everyLineHasAnAnswer(line: String) async throws {
        for answer in [await MaxLeapWire.answer(to: line), await ParseWire.answer(to: line)] {
            let json = try JSONValue(parsing: answer)
            #expect(json["id"] != nil)
            #expect(json["actual"] != nil)
        }
    }

    @Test func parseHasItsOwnHeadersAndPaths() async throws {
        let line = #"{"id":"a","area":"user","op":"logIn","username":"u","password":"p"}"#
        let actual = try JSONValue(parsing: await ParseWire.answer(to: line))["actual"]
        #expect(actual?["method"] == "POST")
        #expect(actual?["path"] == "/1/login")
        #expect(actual?["body"] == ["username": "u", "password": "p"])
        #expect(actual?["headers"]?["X-Parse-Application-Id"] == "app")
        #expect(actual?["headers"]?["X-ML-AppId"] == nil)
    }
}
