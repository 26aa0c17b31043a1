#if Server
    import Foundation

    /// What is wrong with JSON text.
    public struct JSONError: Error, Sendable, CustomStringConvertible {
        /// Where, in bytes from the beginning.
        public let offset: Int
        /// What.
        public let reason: String

        /// What and where.
        public var description: String { "\(reason) at byte \(offset)" }
    }

    extension JSONValue {
        /// Reads JSON as RFC 8259 has it.
        /// - Parameters:
        ///   - data: The text in UTF-8.
        ///   - depth: The greatest nesting of arrays and objects; deeper text is refused before it costs stack.
        /// - Throws: ``JSONError`` with the place.
        public init(parsing data: Data, depth: Int = 64) throws(JSONError) {
            var parser = JSONParser(bytes: Array(data), depth: depth)
            self = try parser.document()
        }
    }

    private struct JSONParser {
        let bytes: [UInt8]
        let depth: Int
        var position = 0

        init(bytes: [UInt8], depth: Int) {
            self.bytes = bytes
            self.depth = depth
        }

        mutating func document() throws(JSONError) -> JSONValue {
            let result = try value(level: 0)
            skipSpace()
            guard position == bytes.count else { throw error("more text behind the value") }
            return result
        }

        private func error(_ reason: String) -> JSONError { JSONError(offset: position, reason: reason) }

        private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

        private mutating func skipSpace() {
            while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
        }

        private mutating func take(_ byte: UInt8) -> Bool {
            guard current == byte else { return false }
            position += 1
            return true
        }

        private mutating func word(_ text: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
            let count = text.utf8CodeUnitCount
            let fits =
                position + count <= bytes.count
                && text.withUTF8Buffer { $0.elementsEqual(bytes[position..<position + count]) }
            guard fits else { throw error("no JSON value") }
            position += count
            return value
        }

        private mutating func value(level: Int) throws(JSONError) -> JSONValue {
            skipSpace()
            switch current {
            case UInt8(ascii: "{"): return try object(level: level + 1)
            case UInt8(ascii: "["): return try array(level: level + 1)
            case UInt8(ascii: "\""): return .string(try string())
            case UInt8(ascii: "t"): return try word("true", .boolean(true))
            case UInt8(ascii: "f"): return try word("false", .boolean(false))
            case UInt8(ascii: "n"): return try word("null", .null)
            case nil: throw error("the text ends where a value is expected")
            case let byte? where byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte): return try number()
            default: throw error("no JSON value")
            }
        }

        private mutating func array(level: Int) throws(JSONError) -> JSONValue {
            guard level <= depth else { throw error("nested deeper than \(depth)") }
            position += 1
            var elements: [JSONValue] = []
            skipSpace()
            if take(UInt8(ascii: "]")) { return .array([]) }
            while true {
                elements.append(try value(level: level))
                skipSpace()
                if take(UInt8(ascii: "]")) { return .array(elements) }
                guard take(UInt8(ascii: ",")) else { throw error("expected , or ]") }
            }
        }

        private mutating func object(level: Int) throws(JSONError) -> JSONValue {
            guard level <= depth else { throw error("nested deeper than \(depth)") }
            position += 1
            var members: [String: JSONValue] = [:]
            skipSpace()
            if take(UInt8(ascii: "}")) { return .object([:]) }
            while true {
                skipSpace()
                guard current == UInt8(ascii: "\"") else { throw error("expected a name in quotes") }
                let name = try string()
                skipSpace()
                guard take(UInt8(ascii: ":")) else { throw error("expected :") }
                members[name] = try value(level: level)
                skipSpace()
                if take(UInt8(ascii: "}")) { return .object(members) }
                guard take(UInt8(ascii: ",")) else { throw error("expected , or }") }
            }
        }

        private mutating func digits() -> Int {
            let start = position
            while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
            return position - start
        }

        private mutating func number() throws(JSONError) -> JSONValue {
            let start = position
            _ = take(UInt8(ascii: "-"))
            let first = current
            let whole = digits()
            guard whole > 0, whole == 1 || first != UInt8(ascii: "0") else { throw error("no JSON number") }
            var isWhole = true
            if take(UInt8(ascii: ".")) {
                isWhole = false
                guard digits() > 0 else { throw error("a digit is expected behind the point") }
            }
            if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
                isWhole = false
                if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
                guard digits() > 0 else { throw error("a digit is expected in the exponent") }
            }
            let text = String(decoding: bytes[start..<position], as: UTF8.self)
            if isWhole, let number = Int64(text) { return .integer(number) }
            guard let number = Double(text), number.isFinite else { throw error("the number \(text) is too large") }
            return .number(number)
        }

        private mutating func string() throws(JSONError) -> String {
            position += 1
            var result: [UInt8] = []
            while let byte = current {
                position += 1
                switch byte {
                case UInt8(ascii: "\""):
                    guard let text = String(validating: result, as: UTF8.self) else {
                        throw error("the text is not UTF-8")
                    }
                    return text
                case UInt8(ascii: "\\"): try escape(into: &result)
                case 0..<0x20: throw error("a control character in a string")
                default: result.append(byte)
                }
            }
            throw error("the string has no end")
        }

        private mutating func escape(into result: inout [UInt8]) throws(JSONError) {
            guard let byte = current else { throw error("the string has no end") }
            position += 1
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(byte)
            case UInt8(ascii: "b"): result.append(8)
            case UInt8(ascii: "f"): result.append(12)
            case UInt8(ascii: "n"): result.append(10)
            case UInt8(ascii: "r"): result.append(13)
            case UInt8(ascii: "t"): result.append(9)
            case UInt8(ascii: "u"):
                var code = UInt32(try hex())
                if (0xD800..<0xDC00).contains(code) {
                    guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
                        throw error("half of a surrogate pair")
                    }
                    let low = UInt32(try hex())
                    guard (0xDC00..<0xE000).contains(low) else { throw error("half of a surrogate pair") }
                    code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
                }
                guard let scalar = Unicode.Scalar(code) else { throw error("half of a surrogate pair") }
                result += String(Character(scalar)).utf8
            default: throw error("an unknown escape")
            }
        }

        private mutating func hex() throws(JSONError) -> UInt16 {
            guard position + 4 <= bytes.count,
                let number = UInt16(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16),
                bytes[position] != UInt8(ascii: "+")
            else { throw error("four hexadecimal digits are expected") }
            position += 4
            return number
        }
    }
#endif
