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

/// Reads JSON from bytes, in time linear in their number.
struct JSONReader {
    let bytes: [UInt8]
    private var place = 0
    private var depth = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(JSONError) -> JSONValue {
        let value = try value()
        skipSpace()
        guard place == bytes.count else { throw fault("something follows the value") }
        return value
    }

    private func fault(_ reason: String) -> JSONError { JSONError(offset: place, reason: reason) }

    private var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { place += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard peek == byte else { return false }
        place += 1
        return true
    }

    private mutating func value() throws(JSONError) -> JSONValue {
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw fault("a value is missing")
        default: return try number()
        }
    }

    private mutating func enter() throws(JSONError) {
        depth += 1
        guard depth <= JSONValue.nesting else { throw fault("nested more than \(JSONValue.nesting) levels deep") }
        place += 1
    }

    private mutating func array() throws(JSONError) -> JSONValue {
        try enter()
        defer { depth -= 1 }
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return .array(elements) }
        repeat { elements.append(try value()) } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw fault("expected , or ]") }
        return .array(elements)
    }

    private mutating func object() throws(JSONError) -> JSONValue {
        try enter()
        defer { depth -= 1 }
        var members: [String: JSONValue] = [:]
        if take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw fault("expected a name in quotes") }
            let name = try string()
            guard take(UInt8(ascii: ":")) else { throw fault("expected :") }
            members[name] = try value()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw fault("expected , or }") }
        return .object(members)
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(JSONError) -> JSONValue {
        guard bytes[place...].starts(with: word.utf8) else { throw fault("expected a value") }
        place += word.utf8.count
        return value
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = place
        var isWhole = true
        var digits = 0
        scan: while let byte = peek {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
            case UInt8(ascii: "-"): break
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+"): isWhole = false
            default: break scan
            }
            place += 1
        }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        if isWhole, let number = Int64(text) { return .integer(number) }
        let unsigned = text.drop { $0 == "-" }
        // Fifteen decimal digits always fit a double.
        if digits > 15, let exact = Decimal(string: text), !exact.isNaN, Double(text)?.isFinite == true {
            return .decimal(exact)
        }
        guard unsigned.first?.isNumber == true, let number = Double(text), number.isFinite else {
            place = start
            throw fault(text.isEmpty ? "expected a value" : "\(text.prefix(40)) is no number that fits 64 bits")
        }
        return .double(number)
    }

    private mutating func string() throws(JSONError) -> String {
        place += 1
        var content: [UInt8] = []
        while let byte = peek {
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"): content.append(contentsOf: UTF8.encode(try escape())!)
            case 0..<0x20: throw fault("a control character in a string must be escaped")
            default: content.append(byte)
            }
        }
        throw fault("a string has no closing quote")
    }

    private mutating func escape() throws(JSONError) -> UnicodeScalar {
        guard let mark = peek else { throw fault("expected the rest of an escape") }
        place += 1
        switch mark {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return UnicodeScalar(mark)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try code()
            if (0xD800..<0xDC00).contains(first), bytes[place...].starts(with: "\\u".utf8) {
                let back = place
                place += 2
                let second = try code()
                if (0xDC00..<0xE000).contains(second) {
                    return UnicodeScalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))!
                }
                place = back
            }
            // Half of a pair stands for no character.
            return UnicodeScalar(first) ?? "\u{FFFD}"
        default: throw fault("there is no such escape")
        }
    }

    private mutating func code() throws(JSONError) -> UInt32 {
        guard place + 4 <= bytes.count,
            let code = UInt32(String(decoding: bytes[place..<(place + 4)], as: UTF8.self), radix: 16)
        else { throw fault("expected four hexadecimal digits") }
        place += 4
        return code
    }
}
