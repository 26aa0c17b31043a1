extension JSONReader {
    /// Reads a string, whose opening quote is next.
    mutating func string() throws(JSONError) -> String {
        place += 1
        let start = place
        var isASCII = skipPlain()
        if next == UInt8(ascii: "\"") {
            let content = UnsafeBufferPointer(rebasing: bytes[start..<place])
            place += 1
            return try text(content, isASCII, from: start)
        }
        var content = Array(bytes[start..<place])
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                place += 1
                return try content.withUnsafeBufferPointer { (content) throws(JSONError) in
                    try text(content, isASCII, from: start)
                }
            case UInt8(ascii: "\\"):
                try escape(into: &content)
                isASCII = false
            case 0..<0x20: throw fault("a control character in a string must be escaped")
            default:
                let run = place
                if !skipPlain() { isASCII = false }
                content.append(contentsOf: bytes[run..<place])
            }
        }
        throw fault("the string has no closing quote")
    }

    /// Goes to the next byte that ends a string, begins an escape or must not be in a string.
    /// - Returns: Whether all bytes up to there are ASCII.
    private mutating func skipPlain() -> Bool {
        var bits: UInt8 = 0
        while place < bytes.count {
            let byte = bytes[place]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
            bits |= byte
            place += 1
        }
        return bits < 0x80
    }

    /// The text of UTF-8 that belongs to the string which begins at a place.
    private func text(
        _ content: UnsafeBufferPointer<UInt8>, _ isASCII: Bool, from start: Int
    ) throws(JSONError) -> String {
        // ASCII needs no validation, which costs more than the rest.
        if isASCII { return String(decoding: content, as: UTF8.self) }
        if let text = String(validating: content, as: UTF8.self) { return text }
        throw fault("the string is not UTF-8", at: Self.invalidByte(in: bytes[start..<place]) ?? start)
    }

    /// Where the first sequence begins that is not UTF-8.
    private static func invalidByte(in bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
        var decoder = UTF8()
        var place = bytes.startIndex
        var iterator = bytes.makeIterator()
        while true {
            switch decoder.decode(&iterator) {
            case .scalarValue(let scalar): place += UTF8.width(scalar)
            case .emptyInput: return nil
            case .error: return place
            }
        }
    }

    private mutating func escape(into content: inout [UInt8]) throws(JSONError) {
        let start = place
        place += 1
        guard let mark = next else { throw fault("the string has no closing quote") }
        place += 1
        switch mark {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(mark)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"): content.append(contentsOf: UTF8.encode(try scalar(from: start))!)
        default: throw fault("there is no such escape", at: start)
        }
    }

    /// The character of the escape which begins at a place and whose `\u` has been read.
    private mutating func scalar(from start: Int) throws(JSONError) -> Unicode.Scalar {
        let first = try codeUnit()
        guard UTF16.isLeadSurrogate(first) || UTF16.isTrailSurrogate(first) else { return Unicode.Scalar(first)! }
        if UTF16.isLeadSurrogate(first), bytes[place...].starts(with: "\\u".utf8) {
            place += 2
            let second = try codeUnit()
            if UTF16.isTrailSurrogate(second) {
                return Unicode.Scalar(0x10000 + UInt32(first & 0x3FF) << 10 + UInt32(second & 0x3FF))!
            }
        }
        throw fault("half of a surrogate pair is not a character", at: start)
    }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap(Hexadecimal.value(of:)) else {
                throw fault("expected four hexadecimal digits")
            }
            unit = unit << 4 | UInt16(digit)
            place += 1
        }
        return unit
    }
}
