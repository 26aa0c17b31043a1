import Foundation
import StrataStore

/// A checksum of rows, or of pairs, whatever order they come in. It has two words of 64 bits, so that different content hardly ever has the same one.
struct CopyChecksum: Hashable {
    private(set) var count = 0
    private var words: (UInt64, UInt64) = (0, 0)

    static func == (a: CopyChecksum, b: CopyChecksum) -> Bool { a.count == b.count && a.words == b.words }

    func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        hasher.combine(words.0)
    }

    /// The words in hexadecimal digits.
    var text: String {
        [words.0, words.1].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    private mutating func add(_ digest: ContentDigest) {
        count += 1
        words.0 &+= digest.words.0
        words.1 &+= digest.words.1
    }

    /// Adds a row with its stored values.
    /// - Parameter places: Its places in ordered relationships.
    mutating func add(_ row: RowPointer, _ entity: EntityDescription, _ places: [Int64?]) {
        var digest = ContentDigest()
        digest.add(UInt64(bitPattern: row.key))
        digest.add(UInt64(bitPattern: row.version))
        for slot in entity.slots where slot.isStored {
            guard row.isPresent(slot.index) else {
                digest.add(0)
                continue
            }
            digest.add(1)
            digest.add(row, slot)
        }
        for place in places { digest.add(place) }
        add(digest)
    }

    mutating func add(_ pair: CopiedPair) {
        var digest = ContentDigest()
        digest.add(pair.owner)
        digest.add(pair.member)
        digest.add(pair.ownerPlace)
        digest.add(pair.memberPlace)
        add(digest)
    }
}

/// A digest of one row.
private struct ContentDigest {
    private(set) var words: (UInt64, UInt64) = (0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F)

    mutating func add(_ word: UInt64) {
        words.0 = Self.mixed(words.0 ^ word)
        words.1 = Self.mixed(words.1 &+ word &* 0xD6E8_FEB8_6659_FD93)
    }

    /// Adds a number, or that there is none.
    mutating func add(_ number: Int64?) {
        add(number == nil ? 0 : 1)
        if let number { add(UInt64(bitPattern: number)) }
    }

    /// The last steps of SplitMix64.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var word = value &+ 0x9E37_79B9_7F4A_7C15
        word = (word ^ word &>> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word &>> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word &>> 31
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        add(UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        guard offset < bytes.count else { return }
        var rest: UInt64 = 0
        for byte in bytes[offset...].reversed() { rest = rest << 8 | UInt64(byte) }
        add(rest)
    }

    /// Adds a value as it is, not as a store writes it.
    mutating func add(_ row: RowPointer, _ slot: SlotDescription) {
        switch slot.storage {
        case .integer, .boolean, .key: add(row.word(slot.index))
        case .double:
            // Zero has no sign.
            let number = Double(bitPattern: row.word(slot.index))
            add(number == 0 ? 0 : number.bitPattern)
        case .date:
            let seconds = Double(bitPattern: row.word(slot.index))
            add(TimestampCoding.microseconds(seconds).map(UInt64.init(bitPattern:)) ?? seconds.bitPattern)
        case .decimal:
            let text = Self.plain(String(decoding: row.bytes(slot.index), as: UTF8.self))
            var copy = text
            copy.withUTF8 { add(UnsafeRawBufferPointer($0)) }
        case .text, .bytes, .uuid, .geoPoint: add(row.bytes(slot.index))
        }
    }

    /// A decimal number without decimal places that say nothing.
    private static func plain(_ text: String) -> String {
        guard text.contains("."), !text.contains(where: { $0 == "e" || $0 == "E" }) else { return text }
        var result = Substring(text)
        while result.last == "0" { result.removeLast() }
        if result.last == "." { result.removeLast() }
        return result == "-0" ? "0" : String(result)
    }
}
