import Foundation

/// Reads JSON (RFC 8259) from bytes. The depth is bounded, so that no text exhausts the stack.
struct TypedJSONReader {
    private let bytes: [UInt8]
    private var place = 0
    private var depth = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func document() throws(TypedJSON.Fault) -> TypedJSON {
        let value = try value()
        skipSpace()
        guard place == bytes.count else { throw fault("something follows the value") }
        return value
    }

    private func fault(_ reason: String) -> TypedJSON.Fault {
        TypedJSON.Fault(reason: "no JSON at byte \(place): \(reason)")
    }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { place += 1 }
    }

    private var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func take(_ character: Character) -> Bool {
        skipSpace()
        guard peek == character.asciiValue else { return false }
        place += 1
        return true
    }

    private mutating func value() throws(TypedJSON.Fault) -> TypedJSON {
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return try nested { (reader) throws(TypedJSON.Fault) in try reader.object() }
        case UInt8(ascii: "["): return try nested { (reader) throws(TypedJSON.Fault) in try reader.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case nil: throw fault("a value is missing")
        default: return try number()
        }
    }

    private mutating func nested(
        _ read: (inout TypedJSONReader) throws(TypedJSON.Fault) -> TypedJSON
    ) throws(TypedJSON.Fault) -> TypedJSON {
        depth += 1
        defer { depth -= 1 }
        guard depth <= TypedJSON.nesting else { throw fault("nested more than \(TypedJSON.nesting) levels deep") }
        place += 1
        return try read(&self)
    }

    private mutating func array() throws(TypedJSON.Fault) -> TypedJSON {
        var elements: [TypedJSON] = []
        if take("]") { return .array(elements) }
        repeat { elements.append(try value()) } while take(",")
        guard take("]") else { throw fault("expected , or ]") }
        return .array(elements)
    }

    private mutating func object() throws(TypedJSON.Fault) -> TypedJSON {
        var members: [(name: String, value: TypedJSON)] = []
        if take("}") { return .object(members) }
        repeat {
            skipSpace()
            guard peek == UInt8(ascii: "\"") else { throw fault("expected a name in quotes") }
            let name = try string()
            guard take(":") else { throw fault("expected :") }
            members.append((name, try value()))
        } while take(",")
        guard take("}") else { throw fault("expected , or }") }
        return .object(members)
    }

    private mutating func word(_ word: String, _ value: TypedJSON) throws(TypedJSON.Fault) -> TypedJSON {
        guard bytes[place...].starts(with: word.utf8) else { throw fault("expected a value") }
        place += word.utf8.count
        return value
    }

    private mutating func number() throws(TypedJSON.Fault) -> TypedJSON {
        let start = place
        var isWhole = true
        while let byte = peek {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): break
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+"): isWhole = false
            default:
                return try number(from: start, isWhole)
            }
            place += 1
        }
        return try number(from: start, isWhole)
    }

    private func number(from start: Int, _ isWhole: Bool) throws(TypedJSON.Fault) -> TypedJSON {
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        if text.isEmpty { throw fault("expected a value") }
        if isWhole, let number = Int64(text) { return .integer(number) }
        if !isWhole, let number = Double(text), number.isFinite { return .double(number) }
        throw fault("\(text.prefix(40)) is no number that fits 64 bits")
    }

    private mutating func string() throws(TypedJSON.Fault) -> String {
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

    private mutating func escape() throws(TypedJSON.Fault) -> UnicodeScalar {
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

    private mutating func code() throws(TypedJSON.Fault) -> UInt32 {
        guard place + 4 <= bytes.count,
            let code = UInt32(String(decoding: bytes[place..<(place + 4)], as: UTF8.self), radix: 16)
        else { throw fault("expected four hexadecimal digits") }
        place += 4
        return code
    }
}
