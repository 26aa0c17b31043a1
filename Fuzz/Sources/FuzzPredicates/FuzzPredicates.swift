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
    // Patterns and nested subqueries may take any time, so only what is small is evaluated.
    if count < 200, !text.contains("MATCHES"), !text.contains("SUBQUERY") {
        let object = Value.composite([
            "a": .composite(["b": 1]), "b": "x", "c": [1, 2, .null], "d": .set(ValueSet([1, "x"])),
        ])
        _ = try? predicate.evaluate(on: object, variables: ["x": 1])
    }
    return 0
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

/// Linear time: a second for a megabyte is a hundred times what an optimised parser needs, sanitizers included.
private func checkTime(_ begin: clock_t, _ format: String) {
    let seconds = Double(clock() - begin) / Double(CLOCKS_PER_SEC)
    precondition(seconds < 0.5 + Double(format.utf8.count) / 50_000, "\(seconds) s for \(format.utf8.count) bytes")
}
