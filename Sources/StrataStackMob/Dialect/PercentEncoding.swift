/// How text is spelt in addresses and forms.
///
/// Three rules stand side by side: query parameters keep brackets and a few signs as they are, object identifiers in
/// paths are escaped harder, and signatures use RFC 3986.
public enum PercentEncoding {
    /// Which bytes stay as they are.
    public struct Rule: Sendable {
        fileprivate let kept: Set<UInt8>

        private init(_ signs: String) {
            let letters = Array(UInt8(ascii: "a")...UInt8(ascii: "z")) + Array(UInt8(ascii: "A")...UInt8(ascii: "Z"))
            kept = Set(letters + Array(UInt8(ascii: "0")...UInt8(ascii: "9")) + Array(signs.utf8))
        }

        /// Names and values of query parameters and forms.
        public static let query = Rule("[].,-_*'")
        /// Object identifiers in paths; the full stop is escaped, too.
        public static let pathComponent = Rule(",-_*'")
        /// The unreserved characters of RFC 3986, for OAuth 1 signatures.
        public static let signature = Rule("-._~")
    }

    /// The text with all bytes of its UTF-8 form escaped that the rule does not keep, in upper-case hexadecimal.
    public static func encode(_ text: String, _ rule: Rule) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if rule.kept.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The bytes with escapes replaced by what they stand for, but for those of bytes to keep, which stay as they were
    /// written. A percent sign without two hexadecimal digits behind it stays.
    static func decode(_ text: some Sequence<UInt8>, keeping kept: Set<UInt8> = []) -> [UInt8] {
        let source = Array(text)
        var result: [UInt8] = []
        var place = 0
        while place < source.count {
            if source[place] == UInt8(ascii: "%"), place + 2 < source.count,
                let high = Character(UnicodeScalar(source[place + 1])).hexDigitValue,
                let low = Character(UnicodeScalar(source[place + 2])).hexDigitValue,
                !kept.contains(UInt8(high << 4 | low))
            {
                result.append(UInt8(high << 4 | low))
                place += 3
            } else {
                result.append(source[place])
                place += 1
            }
        }
        return result
    }

    /// The text with escapes replaced by what they stand for.
    public static func decode(_ text: String) -> String { String(decoding: decode(text.utf8), as: UTF8.self) }

    /// Parameters as they stand in an address or a form: sorted by name without regard to case, equal names in the
    /// order given, joined by `&`.
    public static func query(_ parameters: some Sequence<(name: String, value: String)>) -> String {
        parameters.enumerated()
            .sorted { a, b in
                let (left, right) = (a.element.name.lowercased(), b.element.name.lowercased())
                return left == right ? a.offset < b.offset : left < right
            }
            .map { "\(encode($0.element.name, .query))=\(encode($0.element.value, .query))" }
            .joined(separator: "&")
    }
}
