/// A 128-bit fingerprint that is the same on every platform and in every run: two 64-bit FNV-1a hashes
/// (http://www.isthe.com/chongo/tech/comp/fnv/) over the same bytes with different offsets.
///
/// It tells models apart; it does not protect against somebody who wants two models to look alike.
package struct StableHash {
    private(set) var low: UInt64 = 0xcbf2_9ce4_8422_2325
    private(set) var high: UInt64 = 0x8422_2325_cbf2_9ce4

    private static let prime: UInt64 = 0x0000_0100_0000_01b3

    mutating func combine(byte: UInt8) {
        low = (low ^ UInt64(byte)) &* Self.prime
        high = (high ^ UInt64(byte)) &* Self.prime
        high ^= high >> 29
    }

    /// Adds text with its length, so that "ab", "c" and "a", "bc" differ.
    mutating func combine(_ text: String) {
        combine(UInt64(text.utf8.count))
        for byte in text.utf8 { combine(byte: byte) }
    }

    mutating func combine(_ number: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) {
            combine(byte: UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }

    mutating func combine(_ flag: Bool) { combine(byte: flag ? 1 : 0) }

    /// The fingerprint of a text, 32 hexadecimal digits.
    package static func text(of text: String) -> String {
        var hash = StableHash()
        hash.combine(text)
        return hash.hexadecimal
    }

    /// 32 hexadecimal digits.
    var hexadecimal: String {
        [high, low].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
