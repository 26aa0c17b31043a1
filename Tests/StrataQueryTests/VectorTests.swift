import Foundation
import StrataQuery
import StrataWire
import Testing

@testable import StrataTool

/// A case of the collections in Vectors.
struct PredicateCase: CustomTestStringConvertible {
    let json: JSONValue

    static func all(_ name: String) throws -> [PredicateCase] {
        let url = try #require(Bundle.module.url(forResource: name, withExtension: "jsonl", subdirectory: "Vectors"))
        return try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map {
            PredicateCase(json: try JSONValue(parsing: String($0)))
        }
    }

    var testDescription: String { "\(id): \(format.prefix(100))" }
    var id: String { text("id") ?? "" }
    var format: String { text("format") ?? "" }
    var mustFailToParse: Bool { text("stage") == "parse" }

    func text(_ name: String) -> String? { if case .string(let text)? = json[name] { text } else { nil } }

    /// The answers that pass: `true`, `false`, `error`.
    var accepted: [String] {
        let answers: [JSONValue] =
            if case .array(let list)? = json["accept"] { list } else { [json["expect"] ?? .null] }
        return answers.map { if case .boolean(let flag) = $0 { "\(flag)" } else { "error" } }
    }

    func arguments() throws -> [Value] {
        if case .array(let elements)? = json["args"] { try TypedJSON.values(elements) } else { [] }
    }

    func variables() throws -> [String: Value] {
        guard case .object(let members)? = json["vars"] else { return [:] }
        return try TypedJSON.values(members)
    }

    func object() throws -> Value { try json["object"].map(TypedJSON.value) ?? .null }
}

@Suite struct VectorTests {
    private func check(_ item: PredicateCase) throws {
        let predicate: FetchPredicate
        do {
            predicate = try FetchPredicate(format: item.format, arguments: try item.arguments())
        } catch let error as PredicateParseError {
            #expect(item.accepted.contains("error"), "\(item.testDescription): \(error)")
            #expect((0...item.format.unicodeScalars.count).contains(error.position))
            #expect(error.description.contains("\(error.position)"))
            return
        }
        #expect(!item.mustFailToParse, "\(item.testDescription) was read as \(predicate)")
        let object = try item.object()
        let variables = try item.variables()
        func answer(_ predicate: FetchPredicate, _ variables: [String: Value]) -> String {
            do { return "\(try predicate.evaluate(on: object, variables: variables))" } catch { return "error" }
        }
        #expect(item.accepted.contains(answer(predicate, variables)), "\(item.testDescription), read as \(predicate)")
        // Substituted values mean the same as bound ones, and a printed predicate the same as the one that was read.
        #expect(item.accepted.contains(answer(predicate.withVariables(variables), [:])), "\(item.testDescription)")
        #expect(try FetchPredicate(format: predicate.description) == predicate, "\(item.testDescription)")
    }

    @Test func collectionOfTheLanguage() throws {
        let cases = try PredicateCase.all("predicates")
        #expect(cases.count == 175)
        for item in cases { try check(item) }
    }

    @Test("More than 500 further cases of predicates have the recorded results")
    func ownCollection() throws {
        let cases = try PredicateCase.all("more")
        #expect(cases.count > 500)
        for item in cases { try check(item) }
    }
}
