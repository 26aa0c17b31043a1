import ArgumentParser
import Foundation
import StrataQuery
import StrataWire

/// `strata predicate`: reads and evaluates predicates, one per line.
struct PredicateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "predicate",
        abstract: "Evaluates predicates in memory, one JSON object a line.",
        discussion: """
            Each line of standard input is {"format": text, "args": […], "vars": {…}, "object": …}; all but the format \
            may be left out. For each a line is printed: {"parsed": text or null, "result": true, false or null, \
            "error": text or null}. Numbers with a decimal point or an exponent are doubles, others 64-bit integers; those \
            that these do not hold exactly are decimals. \
            {"$date": seconds since 2001-01-01}, {"$set": […]}, {"$null": true}, {"$int": "…"}, {"$dbl": …} and \
            {"$data": "hex"} stand for such values. A faulty line gets an answer with an error, and the next is read.
            """)

    func run() throws {
        while let line = readLine() {
            FileHandle.standardOutput.write(Data((Self.answer(to: line) + "\n").utf8))
        }
    }

    /// The answer to one line.
    static func answer(to line: String) -> String {
        var parsed: FetchPredicate?
        do {
            let request = try TypedJSON.read(line)
            guard case .string(let format)? = request["format"] else {
                throw TypedJSON.Fault(reason: "\"format\" is missing, or is not text")
            }
            let predicate = try FetchPredicate(format: format, arguments: try arguments(request["args"]))
            parsed = predicate
            let object = try request["object"].map(TypedJSON.value) ?? .composite([:])
            let result = try predicate.evaluate(on: object, variables: try variables(request["vars"]))
            return render(parsed, result: .boolean(result))
        } catch let fault as TypedJSON.Fault {
            return render(parsed, error: fault.reason)
        } catch {
            return render(parsed, error: "\(error)")
        }
    }

    private static func arguments(_ json: JSONValue?) throws(TypedJSON.Fault) -> [Value] {
        switch json {
        case nil, .null: return []
        case .array(let elements): return try TypedJSON.values(elements)
        default: throw TypedJSON.Fault(reason: "\"args\" is not an array")
        }
    }

    private static func variables(_ json: JSONValue?) throws(TypedJSON.Fault) -> [String: Value] {
        switch json {
        case nil, .null: return [:]
        case .object(let members): return try TypedJSON.values(members)
        default: throw TypedJSON.Fault(reason: "\"vars\" is not an object")
        }
    }

    private static func render(_ parsed: FetchPredicate?, result: JSONValue = .null, error: String? = nil) -> String {
        let answer: JSONValue = [
            "parsed": parsed.map { .string($0.description) } ?? .null, "result": result,
            "error": error.map(JSONValue.string) ?? .null,
        ]
        return answer.description
    }
}
