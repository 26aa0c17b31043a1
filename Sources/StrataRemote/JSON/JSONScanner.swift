import Foundation

/// Walks over the signs and words of JSON (RFC 8259) in UTF-8, in time linear in their number: what every reader of JSON
/// has in common, whatever it makes of the values.
package struct JSONScanner {
    private let bytes: [UInt8]
    private var place = 0
    private var depth = 0

    /// Begins before the first byte.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The byte at the place; nil at the end.
    package var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

    /// The error for what stands at the place.
    package func fault(_ reason: String) -> JSONError { JSONError(offset: place, reason: reason) }

    /// Goes on to the next byte that is no space.
    package mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { place += 1 }
    }

    /// Goes past a byte, and spaces before it.
    /// - Returns: false, and only spaces are passed, if there is another byte.
    package mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard peek == byte else { return false }
        place += 1
        return true
    }

    /// Goes past a word.
    /// - Throws: ``JSONError`` if another one stands there.
    package mutating func take(word: String) throws(JSONError) {
        guard bytes[place...].starts(with: word.utf8) else { throw fault("expected a value") }
        place += word.utf8.count
    }

    /// Goes past the bracket that begins an array or object. ``leave()`` is called behind its end.
    /// - Throws: ``JSONError`` if it is nested more deeply than a limit.
    package mutating func enter(limit: Int) throws(JSONError) {
        depth += 1
        guard depth <= limit else { throw fault("nested more than \(limit) levels deep") }
        place += 1
    }

    /// Comes out of an array or object.
    package mutating func leave() { depth -= 1 }

    /// Throws if anything but spaces follows.
    package mutating func end() throws(JSONError) {
        skipSpace()
        guard peek == nil else { throw fault("something follows the value") }
    }

    /// The name of a member, with the colon behind it.
    package mutating func name() throws(JSONError) -> String {
        skipSpace()
        guard peek == UInt8(ascii: "\"") else { throw fault("expected a name in quotes") }
        let name = try string()
        guard take(UInt8(ascii: ":")) else { throw fault("expected :") }
        return name
    }

    /// The signs of a number, which need not make one, and whether it has neither fraction nor exponent.
    package mutating func number() -> (text: String, isWhole: Bool) {
        let start = place
        var isWhole = true
        scan: while let byte = peek {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): break
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"), UInt8(ascii: "+"): isWhole = false
            default: break scan
            }
            place += 1
        }
        return (String(decoding: bytes[start..<place], as: UTF8.self), isWhole)
    }

    /// A text in quotes, which begins at the place.
    package mutating func string() throws(JSONError) -> String {
        place += 1
        let start = place
        while let byte = peek, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") { place += 1 }
        if peek == UInt8(ascii: "\"") {
            place += 1
            return String(decoding: bytes[start..<(place - 1)], as: UTF8.self)
        }
        var content = Array(bytes[start..<place])
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
