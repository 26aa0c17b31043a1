import Foundation

extension PredicateScanner {
    // MARK: Numbers

    mutating func number() throws(FormatFault) -> FormatToken {
        let start = offset
        if byte(at: start) == UInt8(ascii: "0"), let mark = byte(at: start + 1) {
            switch mark | 0x20 {
            case UInt8(ascii: "x"): return try integer(from: start, prefix: 2, radix: 16)
            case UInt8(ascii: "o"): return try integer(from: start, prefix: 2, radix: 8)
            case UInt8(ascii: "b"): return try integer(from: start, prefix: 2, radix: 2)
            default: break
            }
        }
        var end = digits(from: start)
        var isWhole = true
        if byte(at: end) == UInt8(ascii: "."), let next = byte(at: end + 1), Self.isDigit(next) {
            isWhole = false
            end = digits(from: end + 1)
        }
        if let mark = byte(at: end), mark | 0x20 == UInt8(ascii: "e") {
            var exponent = end + 1
            if let sign = byte(at: exponent), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { exponent += 1 }
            guard let digit = byte(at: exponent), Self.isDigit(digit) else {
                throw fault(start, "expected the digits of an exponent")
            }
            isWhole = false
            end = digits(from: exponent)
        }
        if isWhole { return try integer(from: start, prefix: 0, radix: 10) }
        try checkEnd(start, end)
        let text = String(decoding: bytes[start..<end], as: UTF8.self)
        guard let number = Double(text), number.isFinite else { throw fault(start, "the number is too large") }
        move(to: end)
        return .double(number)
    }

    private mutating func integer(from start: Int, prefix: Int, radix: Int64) throws(FormatFault) -> FormatToken {
        var end = start + prefix
        var number: Int64 = 0
        var isOneOver = false
        while let byte = byte(at: end), let digit = HexadecimalText.value(byte), Int64(digit) < radix {
            let (product, overflow) = number.multipliedReportingOverflow(by: radix)
            let (sum, carry) = product.addingReportingOverflow(Int64(digit))
            if isOneOver || overflow { throw fault(start, "the whole number does not fit 64 bits") }
            if carry {
                guard radix == 10, product &+ Int64(digit) == .min else {
                    throw fault(start, "the whole number does not fit 64 bits")
                }
                isOneOver = true
            }
            number = carry ? .max : sum
            end += 1
        }
        guard end > start + prefix else { throw fault(start, "expected digits of a number") }
        try checkEnd(start, end)
        move(to: end)
        return isOneOver ? .oneOverMaximum : .integer(number)
    }

    /// A number must not run into a word: `12abc`.
    private func checkEnd(_ start: Int, _ end: Int) throws(FormatFault) {
        guard let byte = byte(at: end) else { return }
        let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
        if isLetter || Self.isDigit(byte) || byte >= 0x80 { throw fault(start, "this is not a number") }
        if byte == UInt8(ascii: "."), let next = self.byte(at: end + 1), Self.isDigit(next) {
            throw fault(start, "this is not a number")
        }
    }

    private func digits(from start: Int) -> Int {
        var end = start
        while let byte = byte(at: end), Self.isDigit(byte) { end += 1 }
        return end
    }

    // MARK: Strings

    /// The string whose opening quote is here, with its escapes resolved.
    mutating func string() throws(FormatFault) -> String {
        let start = offset
        let quote = bytes[start]
        var content: [UInt8] = []
        var place = start + 1
        while let byte = byte(at: place) {
            if byte == quote {
                move(to: place + 1)
                return String(decoding: content, as: UTF8.self)
            }
            if byte == UInt8(ascii: "\\") {
                let scalar = try escape(at: &place)
                content.append(contentsOf: UTF8.encode(scalar)!)
            } else {
                content.append(byte)
                place += 1
            }
        }
        throw FormatFault(
            offset: start, expected: "the string that begins here has no closing quote", found: "the end of the format")
    }

    private func escape(at place: inout Int) throws(FormatFault) -> UnicodeScalar {
        let start = place
        guard let mark = byte(at: start + 1) else {
            throw FormatFault(
                offset: start, expected: "expected the rest of an escape and a closing quote", found: nil)
        }
        place += 2
        switch mark {
        case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return UnicodeScalar(mark)
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "0")...UInt8(ascii: "7"):
            place = start + 1
            return try scalar(start, code(3, radix: 8, at: &place, start))
        case UInt8(ascii: "x"): return try scalar(start, code(2, radix: 16, at: &place, start))
        case UInt8(ascii: "u"):
            let first = try code(4, radix: 16, at: &place, start)
            guard (0xD800..<0xDC00).contains(first), byte(at: place) == UInt8(ascii: "\\"),
                byte(at: place + 1) == UInt8(ascii: "u")
            else { return try scalar(start, first) }
            place += 2
            let second = try code(4, radix: 16, at: &place, start)
            guard (0xDC00..<0xE000).contains(second) else { return try scalar(start, first) }
            return try scalar(start, 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        default:
            throw fault(start, "write a literal backslash twice")
        }
    }

    private func code(_ count: Int, radix: UInt8, at place: inout Int, _ start: Int) throws(FormatFault) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<count {
            guard let byte = byte(at: place), let digit = HexadecimalText.value(byte), digit < radix else {
                throw fault(start, "expected \(count) \(radix == 8 ? "octal" : "hexadecimal") digits in the escape")
            }
            code = code * UInt32(radix) + UInt32(digit)
            place += 1
        }
        return code
    }

    private func scalar(_ start: Int, _ code: UInt32) throws(FormatFault) -> UnicodeScalar {
        guard let scalar = UnicodeScalar(code) else { throw fault(start, "the escape stands for no character") }
        return scalar
    }

    private func byte(at place: Int) -> UInt8? { place < bytes.count ? bytes[place] : nil }

    private func fault(_ offset: Int, _ expected: String) -> FormatFault {
        FormatFault(offset: offset, expected: expected, found: nil)
    }
}
