import Foundation
import StrataAzure
import Testing
import WireComparison

@testable import strata_wire

@Suite struct AzureVectorTests {
    /// The cases of a file by line.
    static func cases(_ file: String) throws -> [String] {
        let url = try #require(Bundle.module.url(forResource: file, withExtension: "jsonl", subdirectory: "Vectors"))
        return try WireVector.lines(url)
    }

    /// The given cases, and those that were worked out from the reference by hand.
    @Test(arguments: ["azure-mobile", "azure-mobile-more"]) func answersAreAsExpected(file: String) async throws {
        let lines = try Self.cases(file)
        #expect(lines.count >= 153)
        for line in lines {
            let vector = try WireVector(line: line)
            let answer = try JSONValue(parsing: await AzureWire.answer(to: vector.input))
            #expect(answer["id"] == vector.id)
            let comparison = WireComparison(expect: vector.expect, actual: answer["actual"] ?? .null)
            #expect(comparison.differences == [], "\(vector.input) \(answer["error"] ?? "")")
        }
    }

    /// The comparison would see another answer: every expected member is changed once.
    @Test func comparisonSeesEveryMember() async throws {
        for line in try Self.cases("azure-mobile") {
            let vector = try WireVector(line: line)
            let actual = try JSONValue(parsing: await AzureWire.answer(to: vector.input))["actual"] ?? .null
            for (name, value) in vector.expect.members ?? [:] {
                let wrong: JSONValue =
                    switch name {
                    case "absentHeaders":
                        .array((actual["headers"]?.members ?? [:]).names.sorted().prefix(1).map(JSONValue.string))
                    case "headers": .object((value.members ?? [:]).mapValues { _ in "something else" })
                    case "params", "requests": .array((value.elements ?? []) + ["one more"])
                    default: "something else"
                    }
                if wrong == value || wrong.elements?.isEmpty == true { continue }
                let comparison = WireComparison(expect: .object([name: wrong]), actual: actual)
                #expect(comparison.differences != [], "\(name) of \(vector.id)")
            }
        }
    }

    @Test(arguments: [
        "", "x", "null", "[]", "{}", #"{"id":"a","area":"nonsense"}"#, #"{"id":"a","area":"predicate"}"#,
        #"{"id":"a","area":"predicate","predicate":"((((","args":[1]}"#,
        #"{"id":"a","area":"predicate","predicate":"a == %@","args":[{"$date":"x"}]}"#,
        #"{"id":"a","area":"query","query":{"orderBy":[7],"fetchLimit":99999999999999999999}}"#,
        #"{"id":"a","area":"url","app":"nowhere"}"#, #"{"id":"a","area":"url","table":""}"#,
        #"{"id":"a","area":"serialize"}"#, #"{"id":"a","area":"deserialize","body":7,"kind":"list"}"#,
        #"{"id":"a","area":"error","status":-1,"body":[[[]]]}"#, #"{"id":"a","area":"id","id_value":{"a":{"b":1}}}"#,
        #"{"id":"a","area":"request","op":"fly"}"#, #"{"id":"a","area":"request","op":"invokeAPI"}"#,
        #"{"id":"a","area":"request","op":"invokeAPI","api":"a","method":"no method"}"#,
        #"{"id":"a","area":"response","op":"update","status":99999}"#, #"{"id":"a","area":"collapse"}"#,
        #"{"id":"a","area":"push","operations":[{"insert":7}]}"#, #"{"id":"a","area":"push","operations":[[]]}"#,
        #"{"id":"a","area":"pull","pages":[-5,9223372036854775807]}"#,
        #"{"id":"a","area":"pull-incremental","queryId":"q","storedDeltaToken":"never"}"#,
        #"{"id":"a","area":"pull-apply","rows":[7]}"#, #"{"id":"a","area":"login","provider":"../x","token":{}}"#,
        #"{"id":"a","area":"push-registration","deviceTokenHex":"zz"}"#,
    ])
    func whatMakesNoSenseIsAnswered(line: String) async throws {
        let answer = try JSONValue(parsing: await AzureWire.answer(to: line))
        #expect(answer["id"] != nil)
        #expect(answer["actual"] != nil)
    }
}
