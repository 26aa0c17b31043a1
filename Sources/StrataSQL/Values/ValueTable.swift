import Foundation

/// The whole numbers or the texts of a list, found by hashing: a scan asks for each row of a table. Texts compare by their
/// bytes.
package struct ValueTable: Sendable {
    private let keys: Set<Int64>
    /// The bytes of all texts, one after the other, and where each begins.
    private var bytes: [UInt8] = []
    private var starts: [Int] = [0]
    /// By hash, the position of a text; -1 where there is none.
    private var slots: [Int32] = []

    package init(keys: [Int64]) { self.keys = Set(keys) }

    /// - Parameter texts: Values of which those that are text count.
    package init(texts: [SQLValue]) {
        keys = []
        starts.reserveCapacity(texts.count + 1)
        for case .text(var text) in texts {
            text.withUTF8 { bytes.append(contentsOf: $0) }
            starts.append(bytes.count)
        }
        var slots = [Int32](repeating: -1, count: max(4, texts.count * 2).nextPowerOf2)
        bytes.withUnsafeBytes { bytes in
            for position in 0..<starts.count - 1 {
                let text = UnsafeRawBufferPointer(rebasing: bytes[starts[position]..<starts[position + 1]])
                var slot = Self.hash(text) & (slots.count - 1)
                while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
                slots[slot] = Int32(position)
            }
        }
        self.slots = slots
    }

    package func contains(_ key: Int64) -> Bool { keys.contains(key) }

    package func contains(_ text: UnsafeRawBufferPointer) -> Bool {
        guard !slots.isEmpty else { return false }
        return bytes.withUnsafeBytes { bytes in
            var slot = Self.hash(text) & (slots.count - 1)
            while slots[slot] >= 0 {
                let position = Int(slots[slot])
                let start = starts[position]
                if starts[position + 1] - start == text.count,
                    text.isEmpty || memcmp(bytes.baseAddress! + start, text.baseAddress!, text.count) == 0
                {
                    return true
                }
                slot = (slot + 1) & (slots.count - 1)
            }
            return false
        }
    }

    private static func hash(_ text: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: text)
        return hasher.finalize()
    }
}

extension Int {
    /// The smallest power of two that is not less.
    fileprivate var nextPowerOf2: Int { 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount) }
}
