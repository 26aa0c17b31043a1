/// Percent-encoding (RFC 3986, section 2.1) of text in addresses, forms and signatures.
public enum PercentEncoding {
    /// A set of ASCII characters.
    public struct Characters: Sendable, Hashable {
        private var low: UInt64 = 0
        private var high: UInt64 = 0

        /// The characters of a text. Those that are not ASCII are left out.
        public init(_ text: String) {
            for byte in text.utf8 where byte < 64 { low |= 1 << UInt64(byte) }
            for byte in text.utf8 where (64..<128).contains(byte) { high |= 1 << UInt64(byte - 64) }
        }

        /// Letters and digits.
        public static let alphanumerics = Characters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
        /// The unreserved characters of RFC 3986: letters, digits, `-`, `.`, `_` and `~`.
        public static let unreserved = alphanumerics.union("-._~")

        /// These characters and those of a text.
        public func union(_ text: String) -> Characters {
            var copy = Characters(text)
            copy.low |= low
            copy.high |= high
            return copy
        }

        /// Whether an ASCII character is one of these.
        public func contains(_ byte: UInt8) -> Bool {
            byte < 64 ? low >> UInt64(byte) & 1 == 1 : byte < 128 && high >> UInt64(byte - 64) & 1 == 1
        }
    }

    /// The text with every byte of its UTF-8 form escaped in upper-case hexadecimal, except for some characters.
    /// - Parameter kept: What stays as it is.
    public static func encode(_ text: some StringProtocol, keeping kept: Characters = .unreserved) -> String {
        encode(bytes: text.utf8, keeping: kept)
    }

    static func encode(bytes: some Collection<UInt8>, keeping kept: Characters = .unreserved) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes {
            if kept.contains(byte) {
                result.append(byte)
            } else {
                result.append(UInt8(ascii: "%"))
                result += Hexadecimal.digits(of: byte, uppercase: true)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The text without escapes. A percent sign that two hexadecimal digits do not follow stays as it is.
    /// - Returns: nil if the result is not UTF-8.
    public static func decode(_ text: some StringProtocol) -> String? {
        String(validating: decode(bytes: text.utf8), as: UTF8.self)
    }

    /// The bytes without escapes.
    /// - Parameter undone: Which escapes are undone; the others stay as they are.
    static func decode(bytes: some Sequence<UInt8>, where undone: (UInt8) -> Bool = { _ in true }) -> [UInt8] {
        let source = Array(bytes)
        var result: [UInt8] = []
        result.reserveCapacity(source.count)
        var place = 0
        while place < source.count {
            if source[place] == UInt8(ascii: "%"), place + 2 < source.count,
                let high = Hexadecimal.value(of: source[place + 1]),
                let low = Hexadecimal.value(of: source[place + 2]), undone(high << 4 | low)
            {
                result.append(high << 4 | low)
                place += 3
            } else {
                result.append(source[place])
                place += 1
            }
        }
        return result
    }
}
