/// A word, sign or literal of a format.
enum FormatToken: Equatable {
    case end
    /// A word that is not a reserved one, as it stands.
    case identifier(String)
    /// A reserved word in capitals.
    case word(String)
    /// A key after `#`, or the whole of a selector with its colons.
    case escapedKey(String)
    case selector(String)
    case variable(String)
    /// A collection operator with its `@`.
    case operatorKey(String)
    case string(String)
    case integer(Int64)
    /// 9223372036854775808, which fits with a minus in front of it.
    case oneOverMaximum
    case double(Double)
    /// A specifier without `%`: `@`, `K`, or the letter of a number.
    case argument(UInt8)
    case sign(String)
}

/// Where a scanner found that a format is faulty.
struct FormatFault: Error {
    let offset: Int
    let expected: String
    let found: String?
}

/// Takes a format apart, one token at a time, over its UTF-8 bytes.
struct PredicateScanner {
    let bytes: [UInt8]
    private(set) var offset = 0

    mutating func move(to end: Int) { offset = end }

    init(_ format: String) { bytes = Array(format.utf8) }

    static let reserved: Set<String> = [
        "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES", "CONTAINS",
        "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST",
        "SIZE", "ANYKEY", "SUBQUERY", "FETCH", "CAST", "TRUEPREDICATE", "FALSEPREDICATE", "FUNCTION", "TERNARY",
        "UNION", "INTERSECT", "MINUS",
    ]
    private static let longestReserved = 15

    /// Whether a key of this name needs a `#`.
    static func isReserved(_ name: String) -> Bool { reservedWord(name) != nil }

    private static func reservedWord(_ name: String) -> String? {
        guard name.utf8.count <= longestReserved else { return nil }
        let word = name.uppercased()
        return reserved.contains(word) ? word : nil
    }

    /// Whether a name may be in a format as it is.
    static func isIdentifier(_ name: String) -> Bool {
        var scanner = PredicateScanner(name)
        let end = scanner.identifierEnd()
        scanner.offset = 0
        return end > 0 && end == scanner.bytes.count
    }

    // MARK: Tokens

    /// Leaves out white space and says where the next token begins.
    mutating func skipSpace() -> Int {
        while offset < bytes.count, bytes[offset] == 0x20 || (0x09...0x0D).contains(bytes[offset]) { offset += 1 }
        return offset
    }

    /// Whether a parenthesis opens next.
    var isBeforeParenthesis: Bool {
        var ahead = self
        let place = ahead.skipSpace()
        return place < bytes.count && bytes[place] == UInt8(ascii: "(")
    }

    /// The next token; `end` again and again at the end.
    mutating func next() throws(FormatFault) -> FormatToken {
        let start = skipSpace()
        guard offset < bytes.count else { return .end }
        let byte = bytes[offset]
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        case UInt8(ascii: "."):
            if let following = peek(1), Self.isDigit(following) { return try number() }
            return sign(1)
        case UInt8(ascii: "'"), UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "$"): return .variable(try name(after: "$", "the name of a variable"))
        case UInt8(ascii: "#"): return .escapedKey(try name(after: "#", "a key"))
        case UInt8(ascii: "@"):
            offset += 1
            let end = identifierEnd()
            guard end > offset else {
                throw FormatFault(offset: start, expected: "expected a collection operator such as @count", found: nil)
            }
            return .operatorKey("@" + take(to: end))
        case UInt8(ascii: "%"): return try argument()
        case UInt8(ascii: "="):
            switch peek(1) {
            case UInt8(ascii: "="), UInt8(ascii: "<"), UInt8(ascii: ">"): return sign(2)
            default: return sign(1)
            }
        case UInt8(ascii: "<"):
            return sign(peek(1) == UInt8(ascii: "=") || peek(1) == UInt8(ascii: ">") ? 2 : 1)
        case UInt8(ascii: ">"): return sign(peek(1) == UInt8(ascii: "=") ? 2 : 1)
        case UInt8(ascii: "!"): return sign(peek(1) == UInt8(ascii: "=") ? 2 : 1)
        case UInt8(ascii: "&"), UInt8(ascii: "|"):
            guard peek(1) == byte else {
                let sign = String(UnicodeScalar(byte))
                throw FormatFault(
                    offset: start, expected: "a single \(sign) means nothing; write \(sign)\(sign)", found: nil)
            }
            return sign(2)
        case UInt8(ascii: "*"): return sign(peek(1) == UInt8(ascii: "*") ? 2 : 1)
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["),
            UInt8(ascii: "]"), UInt8(ascii: ","), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "/"):
            return sign(1)
        default:
            let end = identifierEnd()
            guard end > offset else {
                throw FormatFault(offset: start, expected: "this character has no meaning here", found: nil)
            }
            return word(take(to: end))
        }
    }

    private mutating func word(_ name: String) -> FormatToken {
        if let word = Self.reservedWord(name) { return .word(word) }
        // A selector is one token, so that its colons need no grammar of their own.
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: ":") else { return .identifier(name) }
        var selector = name
        while offset < bytes.count, bytes[offset] == UInt8(ascii: ":") {
            offset += 1
            selector += ":" + take(to: identifierEnd())
        }
        return .selector(selector)
    }

    private mutating func sign(_ length: Int) -> FormatToken { .sign(take(to: offset + length)) }

    private mutating func name(after mark: String, _ what: String) throws(FormatFault) -> String {
        let start = offset
        offset += 1
        if let quote = peek(0), quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") {
            return try string()
        }
        let end = identifierEnd()
        guard end > offset else {
            throw FormatFault(offset: start, expected: "expected \(what) after \(mark)", found: nil)
        }
        return take(to: end)
    }

    private mutating func argument() throws(FormatFault) -> FormatToken {
        let start = offset
        offset += 1
        switch peek(0) {
        case UInt8(ascii: "@"), UInt8(ascii: "K"):
            offset += 1
            return .argument(bytes[offset - 1])
        case UInt8(ascii: "%"):
            offset += 1
            return .sign("%%")
        default: break
        }
        while let byte = peek(0), "hlqz".utf8.contains(byte), offset - start <= 2 { offset += 1 }
        guard let letter = peek(0), "diuxXfge".utf8.contains(letter) else {
            throw FormatFault(
                offset: start, expected: "expected %@, %K, %d, %i, %u, %x, %X, %f, %g, %e or %%", found: nil)
        }
        offset += 1
        return .argument(letter)
    }

    // MARK: Characters

    private func peek(_ distance: Int) -> UInt8? {
        offset + distance < bytes.count ? bytes[offset + distance] : nil
    }

    private mutating func take(to end: Int) -> String {
        defer { offset = end }
        return String(decoding: bytes[offset..<end], as: UTF8.self)
    }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// The end of the identifier at the place; the place itself if there is none. Beyond ASCII the letters and digits
    /// of Unicode belong to identifiers.
    private func identifierEnd() -> Int {
        var end = offset
        while end < bytes.count {
            let byte = bytes[end]
            if byte < 0x80 {
                guard Self.isLetter(byte) || (end > offset && Self.isDigit(byte)) else { break }
                end += 1
            } else {
                guard let (scalar, length) = scalar(at: end) else { break }
                let properties = scalar.properties
                guard end > offset ? properties.isXIDContinue : properties.isXIDStart else { break }
                end += length
            }
        }
        return end
    }

    /// The scalar at a place beyond ASCII. The bytes come from a `String`, so they are valid.
    func scalar(at start: Int) -> (UnicodeScalar, Int)? {
        let lead = bytes[start]
        let length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2
        guard lead >= 0xC0, start + length <= bytes.count else { return nil }
        var value = UInt32(lead) & (0x7F >> UInt32(length))
        for index in 1..<length { value = value << 6 | UInt32(bytes[start + index] & 0x3F) }
        return UnicodeScalar(value).map { ($0, length) }
    }
}
