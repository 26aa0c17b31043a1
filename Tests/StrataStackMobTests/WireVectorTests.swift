import Foundation
import StrataStackMob
import Testing
import WireComparison

@testable import strata_wire

@Suite struct WireVectorTests {
    /// The cases of a file by line.
    static func cases(_ file: String) throws -> [String] {
        let url = try #require(Bundle.module.url(forResource: file, withExtension: "jsonl", subdirectory: "Vectors"))
        return try WireVector.lines(url)
    }

    /// The given cases, those that came with the code, and those whose answers were worked out from the reference by
    /// another program before the code was asked.
    @Test(arguments: ["stackmob", "stackmob-more", "stackmob-oracle"]) func answersAreAsExpected(file: String)
        async throws
    {
        let lines = try Self.cases(file)
        #expect(lines.count >= 157)
        for line in lines {
            let vector = try WireVector(line: line)
            let answer = try JSONValue(parsing: await StackMobWire.answer(to: vector.input))
            #expect(answer["id"] == vector.id)
            let comparison = WireComparison(expect: vector.expect, actual: answer["actual"] ?? .null)
            #expect(comparison.differences == [], "\(vector.input) \(answer["error"] ?? "")")
        }
    }

    /// The comparison would see another answer: every expected member is changed once.
    @Test func comparisonSeesEveryMember() async throws {
        for line in try Self.cases("stackmob") {
            let vector = try WireVector(line: line)
            let actual = try JSONValue(parsing: await StackMobWire.answer(to: vector.input))["actual"] ?? .null
            for (name, value) in vector.expect.members ?? [:] {
                // A list of names that must not be there is wrong with one that is.
                let wrong: JSONValue =
                    switch name {
                    case "absentHeaders": Self.firstName(actual["headers"])
                    case "absentKeys": Self.firstName(actual["body"])
                    case "presentKeys": ["no such key"]
                    case "headers", "requestHeaders":
                        .object((value.members ?? [:]).mapValues { _ in "something else" })
                    default: "something else"
                    }
                if wrong == value || wrong.elements?.isEmpty == true { continue }
                let comparison = WireComparison(expect: .object([name: wrong]), actual: actual)
                #expect(comparison.differences != [], "\(name) of \(vector.id)")
            }
        }
    }

    private static func firstName(_ object: JSONValue?) -> JSONValue {
        .array((object?.members ?? [:]).names.sorted().prefix(1).map(JSONValue.string))
    }

    @Test(arguments: [
        "", "x", "null", "[]", "{}", "3", #"{"id":1}"#, #"{"id":"a","area":"nonsense"}"#, #"{"id":"a","area":7}"#,
        #"{"id":"a","area":"query","conditions":[[]]}"#, #"{"id":"a","area":"query","conditions":[["~","a",1]]}"#,
        #"{"id":"a","area":"query","conditions":[["near","a"]]}"#, #"{"id":"a","area":"query-logic"}"#,
        #"{"id":"a","area":"predicate","predicate":"((((((("}"#,
        #"{"id":"a","area":"predicate","args":[{"$date":"x"}]}"#,
        #"{"id":"a","area":"fetch-request","fetchOffset":9223372036854775807,"fetchLimit":9223372036854775807}"#,
        #"{"id":"a","area":"fetch-request","fetchOffset":-1}"#, #"{"id":"a","area":"count"}"#,
        #"{"id":"a","area":"count","contentRange":"///","resultCount":99999999999999999999}"#,
        #"{"id":"a","area":"encoding"}"#, #"{"id":"a","area":"request"}"#,
        #"{"id":"a","area":"request","op":"raw","method":"a b"}"#,
        #"{"id":"a","area":"request","op":"customCode","httpMethod":"PATCH","name":"m"}"#,
        #"{"id":"a","area":"name-mapping"}"#, #"{"id":"a","area":"name-mapping","property":""}"#,
        #"{"id":"a","area":"serialize","values":{"a":{"$back":"B"}}}"#,
        #"{"id":"a","area":"serialize","values":{"a":{"$new":[]}}}"#,
        #"{"id":"a","area":"serialize","values":{"a":{"$date_ms":1e300}}}"#,
        #"{"id":"a","area":"deserialize","json":3}"#,
        #"{"id":"a","area":"deserialize","model":{"a":"thing"},"json":{}}"#,
        #"{"id":"a","area":"binary"}"#, #"{"id":"a","area":"binary","op":"encode","dataBase64":"%"}"#,
        #"{"id":"a","area":"mac"}"#, #"{"id":"a","area":"mac","url":"nowhere","method":""}"#,
        #"{"id":"a","area":"oauth1"}"#, #"{"id":"a","area":"auth"}"#, #"{"id":"a","area":"auth","op":"x"}"#,
        #"{"id":"a","area":"error"}"#, #"{"id":"a","area":"error","op":"refresh","refreshAlreadyRunning":true}"#,
        #"{"id":"a","area":"error","op":"query","status":99999999999}"#,
        #"{"id":"a","area":"retry-503"}"#, #"{"id":"a","area":"retry-503","statuses":[503],"retryAfter":"-5"}"#,
        #"{"id":"a","area":"retry-503","statuses":[503],"retryAfter":"1e400","numberOfRetries":-2}"#,
        #"{"id":"a","area":"push"}"#, #"{"id":"a","area":"cache-policy"}"#,
        #"{"id":"a","area":"cache-policy","policy":9,"cache":[]}"#,
        #"{"id":"a","area":"dirty-queue","operations":[1]}"#,
        #"{"id":"a","area":"dirty-queue","operations":[["insert","1"],["insert","1"]]}"#,
        #"{"id":"a","area":"sync","policy":"x"}"#, "{\"id\":\"\\ud800\",\"area\":\"sync\"}",
    ]) func everyLineHasAnAnswer(line: String) async throws {
        let answer = try JSONValue(parsing: await StackMobWire.answer(to: line))
        #expect(answer["id"] != nil)
        #expect(answer["actual"] != nil)
    }

    @Test func answersDoNotDependOnWhatIsExpected() async throws {
        for line in try Self.cases("stackmob").prefix(40) {
            let vector = try WireVector(line: line)
            #expect(await StackMobWire.answer(to: line) == StackMobWire.answer(to: vector.input))
        }
    }

    @Test func aBrokenLineIsAnsweredByItsName() async throws {
        for line in [#"{"id":"q-1","area":"query","limit":1e999}"#, #"{ "area":"query", "id" : "q-1", }"#] {
            let answer = try JSONValue(parsing: await StackMobWire.answer(to: line))
            #expect(answer["id"] == "q-1")
            #expect(answer["actual"] == .null)
            #expect(answer["error"]?.string?.isEmpty == false)
        }
    }

    @Test func deepNestingIsRefused() async throws {
        let line = "{\"id\":1,\"area\":\"query-logic\",\"tree\":" + String(repeating: "[", count: 100_000)
        let answer = try JSONValue(parsing: await StackMobWire.answer(to: line))
        #expect(answer["actual"] == .null)
        #expect(answer["error"]?.string?.contains("levels deep") == true)
    }
}
