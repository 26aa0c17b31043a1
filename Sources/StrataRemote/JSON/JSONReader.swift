import Foundation

/// Why bytes are no JSON.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// How many bytes stand before the fault.
    public let offset: Int
    /// What is wrong there.
    public let reason: String

    /// The place and what is wrong there.
    public var description: String { "no JSON at byte \(offset): \(reason)" }
}

extension JSONValue {
    /// How deeply arrays and objects may be nested in what is read, so that no text exhausts the stack.
    public static let nesting = 200

    /// Reads JSON in UTF-8.
    /// - Throws: ``JSONError`` with the place of the fault, also for values nested deeper than ``nesting``.
    public init(_ data: Data) throws(JSONError) {
        var reader = JSONReader(bytes: Array(data))
        self = try reader.document()
    }

    /// Reads JSON.
    /// - Throws: ``JSONError`` with the place of the fault, also for values nested deeper than ``nesting``.
    public init(text: String) throws(JSONError) {
        var reader = JSONReader(bytes: Array(text.utf8))
        self = try reader.document()
    }
}

/// Makes values of JSON.
private struct JSONReader {
    private var scanner: JSONScanner

    init(bytes: [UInt8]) { scanner = JSONScanner(bytes) }

    mutating func document() throws(JSONError) -> JSONValue {
        let value = try value()
        try scanner.end()
        return value
    }

    private mutating func value() throws(JSONError) -> JSONValue {
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

    private mutating func word(_ word: String, _ value: JSONValue) throws(JSONError) -> JSONValue {
        try scanner.take(word: word)
        return value
    }

    private mutating func array() throws(JSONError) -> JSONValue {
        try scanner.enter(limit: JSONValue.nesting)
        defer { scanner.leave() }
        var elements: [JSONValue] = []
        if scanner.take(UInt8(ascii: "]")) { return .array(elements) }
        repeat { elements.append(try value()) } while scanner.take(UInt8(ascii: ","))
        guard scanner.take(UInt8(ascii: "]")) else { throw scanner.fault("expected , or ]") }
        return .array(elements)
    }

    private mutating func object() throws(JSONError) -> JSONValue {
        try scanner.enter(limit: JSONValue.nesting)
        defer { scanner.leave() }
        var members: [String: JSONValue] = [:]
        if scanner.take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            let name = try scanner.name()
            members[name] = try value()
        } while scanner.take(UInt8(ascii: ","))
        guard scanner.take(UInt8(ascii: "}")) else { throw scanner.fault("expected , or }") }
        return .object(members)
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let before = scanner
        let (text, isWhole) = scanner.number()
        if isWhole, let number = Int64(text) { return .integer(number) }
        // Fifteen decimal digits always fit a double.
        if text.utf8.count(where: { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) > 15,
            let exact = Decimal(string: text), !exact.isNaN, Double(text)?.isFinite == true
        {
            return .decimal(exact)
        }
        guard text.drop(while: { $0 == "-" }).first?.isNumber == true, let number = Double(text), number.isFinite else {
            throw before.fault(text.isEmpty ? "expected a value" : "\(text.prefix(40)) is no number that fits 64 bits")
        }
        return .double(number)
    }
}
