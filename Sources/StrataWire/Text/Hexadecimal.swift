/// Bytes as hexadecimal digits.
public enum Hexadecimal {
    /// The digits of bytes, two for each, in lower case.
    public static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { digits(of: $0) }, as: UTF8.self)
    }

    /// Whether a text has only digits in lower case. An empty text does.
    package static func isLowercase(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { value(of: $0) != nil && !(UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) }
    }

    /// The two digits of a byte in ASCII.
    static func digits(of byte: UInt8, uppercase: Bool = false) -> [UInt8] {
        [digit(byte >> 4, uppercase), digit(byte & 15, uppercase)]
    }

    private static func digit(_ value: UInt8, _ uppercase: Bool) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: uppercase ? "A" : "a") + value - 10
    }

    /// The value of a digit in ASCII, in upper or lower case; nil for any other byte.
    static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
