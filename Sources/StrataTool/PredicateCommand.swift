import ArgumentParser
import Foundation
import StrataQuery

/// `strata predicate`: reads and evaluates predicates, one a line.
struct PredicateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "predicate",
        abstract: "Evaluates predicates in memory, one JSON object a line.",
        discussion: """
            Each line of standard input is {"format": text, "args": […], "vars": {…}, "object": …}; all but the format \
            may be left out. For each a line is printed: {"parsed": text or null, "result": true, false or null, \
            "error": text or null}. Numbers with a decimal point or an exponent are doubles, others 64-bit integers. \
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
            let request = try TypedJSON(line)
            guard case .string(let format)? = request["format"] else {
                throw TypedJSON.Fault(reason: "\"format\" is missing, or is no text")
            }
            let predicate = try FetchPredicate(format: format, arguments: try arguments(request["args"]))
            parsed = predicate
            let object = try request["object"]?.value() ?? .composite([:])
            let result = try predicate.evaluate(on: object, variables: try variables(request["vars"]))
            return render(parsed, result: result ? "true" : "false", error: nil)
        } catch let fault as TypedJSON.Fault {
            return render(parsed, result: "null", error: fault.reason)
        } catch {
            return render(parsed, result: "null", error: "\(error)")
        }
    }

    private static func arguments(_ json: TypedJSON?) throws(TypedJSON.Fault) -> [Value] {
        switch json {
        case nil, .null: return []
        case .array(let elements): return try TypedJSON.values(elements)
        default: throw TypedJSON.Fault(reason: "\"args\" is no array")
        }
    }

    private static func variables(_ json: TypedJSON?) throws(TypedJSON.Fault) -> [String: Value] {
        switch json {
        case nil, .null: return [:]
        case .object(let members):
            var values: [String: Value] = [:]
            for (name, member) in members { values[name] = try member.value() }
            return values
        default: throw TypedJSON.Fault(reason: "\"vars\" is no object")
        }
    }

    private static func render(_ parsed: FetchPredicate?, result: String, error: String?) -> String {
        let text = parsed.map { quoted($0.description) } ?? "null"
        return "{\"parsed\": \(text), \"result\": \(result), \"error\": \(error.map(quoted) ?? "null")}"
    }

    private static func quoted(_ text: String) -> String {
        var result = "\"".unicodeScalars
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                result.append("\\")
                result.append(scalar)
            case "\u{0}"..<" ", "\u{2028}", "\u{2029}", "\u{7F}", "\u{85}":
                let digits = String(scalar.value, radix: 16)
                result.append(
                    contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars)
            default: result.append(scalar)
            }
        }
        result.append("\"")
        return String(result)
    }
}
