import Foundation
import StrataQuery

/// What libFuzzer calls with each input: reads it as a format, and checks what must hold of everything that can be
/// read. A failed check traps, which the fuzzer reports with the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let format = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    let arguments: [Value] = ["a.b", 1, 2.5, .null, [1, "x"]]
    let begin = clock()
    let predicate: FetchPredicate
    do throws(PredicateParseError) {
        predicate = try parse(format, arguments)
    } catch {
        precondition(error.position >= 0 && error.position <= format.unicodeScalars.count, "\(error)")
        checkTime(begin, format)
        return 0
    }
    let text = predicate.description
    do throws(PredicateParseError) {
        let again = try FetchPredicate(format: text)
        precondition(again == predicate, "\(text) is read as \(again)")
        precondition(again.description == text, "\(text) is printed as \(again)")
        precondition(PredicateShape(again) == PredicateShape(predicate), text)
    } catch {
        // Parentheses that printing needs may lead over the limit; nothing else may be refused.
        precondition(error.description.contains("levels deep"), "\(text): \(error)")
    }
    checkTime(begin, format)
    // Nested subqueries may take any time, so only what is small is evaluated; patterns may not.
    if count < 200, !text.contains("SUBQUERY") {
        let object = Value.composite([
            "a": .composite(["b": 1]), "b": "x", "c": [1, 2, .null], "d": .set(ValueSet([1, "x"])),
        ])
        _ = try? predicate.evaluate(on: object, variables: ["x": 1])
        checkPattern(format)
    }
    return 0
}

/// An input is a pattern, too: it is refused or has an answer, on a text that keeps matchers busy.
private func checkPattern(_ pattern: String) {
    let text = String(repeating: "ab1 a\na", count: 30)
    do throws(PredicateEvaluationError) {
        _ = try RegularExpressions.shared.matches(text, pattern, [])
    } catch {
        switch error {
        case .invalidPattern(_, let position, _):
            precondition(position >= 0 && position <= pattern.unicodeScalars.count, "\(error)")
        case .costlyPattern: break
        default: preconditionFailure("\(error)")
        }
    }
}

/// Reads a format with as many of the arguments as it has specifiers.
private func parse(_ format: String, _ arguments: [Value]) throws(PredicateParseError) -> FetchPredicate {
    var last: PredicateParseError?
    for count in 0...arguments.count {
        do throws(PredicateParseError) {
            return try FetchPredicate(format: format, arguments: Array(arguments.prefix(count)))
        } catch {
            last = error
            if !error.description.contains("argument") { break }
        }
    }
    throw last!
}

/// Linear time: a second for a megabyte is a hundred times what an optimized parser needs, sanitizers included.
private func checkTime(_ begin: clock_t, _ format: String) {
    let seconds = Double(clock() - begin) / Double(CLOCKS_PER_SEC)
    precondition(seconds < 0.5 + Double(format.utf8.count) / 50_000, "\(seconds) s for \(format.utf8.count) bytes")
}
