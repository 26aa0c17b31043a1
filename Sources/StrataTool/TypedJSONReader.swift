import Foundation
import StrataRemote

/// Reads JSON into values that keep the order of members. The depth is bounded, so that no text exhausts the stack.
struct TypedJSONReader {
    private var scanner: JSONScanner

    init(_ text: String) { scanner = JSONScanner(Array(text.utf8)) }

    mutating func document() throws(TypedJSON.Fault) -> TypedJSON {
        do throws(JSONError) {
            let value = try value()
            try scanner.end()
            return value
        } catch {
            throw TypedJSON.Fault(reason: error.description)
        }
    }

    private mutating func value() throws(JSONError) -> TypedJSON {
        scanner.skipSpace()
        switch scanner.peek {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try scanner.string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw scanner.fault("a value is missing")
        default: return try number()
        }
    }

    private mutating func word(_ word: String, _ value: TypedJSON) throws(JSONError) -> TypedJSON {
        try scanner.take(word: word)
        return value
    }

    private mutating func array() throws(JSONError) -> TypedJSON {
        try scanner.enter(limit: TypedJSON.nesting)
        defer { scanner.leave() }
        var elements: [TypedJSON] = []
        if scanner.take(UInt8(ascii: "]")) { return .array(elements) }
        repeat { elements.append(try value()) } while scanner.take(UInt8(ascii: ","))
        guard scanner.take(UInt8(ascii: "]")) else { throw scanner.fault("expected , or ]") }
        return .array(elements)
    }

    private mutating func object() throws(JSONError) -> TypedJSON {
        try scanner.enter(limit: TypedJSON.nesting)
        defer { scanner.leave() }
        var members: [(name: String, value: TypedJSON)] = []
        if scanner.take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            let name = try scanner.name()
            members.append((name, try value()))
        } while scanner.take(UInt8(ascii: ","))
        guard scanner.take(UInt8(ascii: "}")) else { throw scanner.fault("expected , or }") }
        return .object(members)
    }

    private mutating func number() throws(JSONError) -> TypedJSON {
        let (text, isWhole) = scanner.number()
        if text.isEmpty { throw scanner.fault("expected a value") }
        if isWhole, let number = Int64(text) { return .integer(number) }
        if !isWhole, let number = Double(text), number.isFinite { return .double(number) }
        throw scanner.fault("\(text.prefix(40)) is no number that fits 64 bits")
    }
}
