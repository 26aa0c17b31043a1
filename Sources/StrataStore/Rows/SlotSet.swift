/// A set of slots: one word for the first 64, an array for the rest.
public struct SlotSet: Sendable, Hashable {
    @usableFromInline var low: UInt64 = 0
    @usableFromInline var high: [UInt64] = []

    /// No slots.
    @inlinable public init() {}

    /// The slots of a sequence.
    public init(_ slots: some Sequence<Int>) {
        for slot in slots { insert(slot) }
    }

    /// Whether there are no slots. Words of removed slots are kept trimmed, so that equal sets compare equal.
    @inlinable public var isEmpty: Bool { low == 0 && high.isEmpty }

    /// Whether the slot is in the set.
    @inlinable
    public func contains(_ slot: Int) -> Bool {
        if slot < 64 { return low &>> UInt64(slot) & 1 != 0 }
        let word = slot / 64 - 1
        return word < high.count && high[word] &>> UInt64(slot & 63) & 1 != 0
    }

    /// Adds a slot.
    @inlinable
    public mutating func insert(_ slot: Int) {
        if slot < 64 {
            low |= 1 &<< UInt64(slot)
        } else {
            let word = slot / 64 - 1
            while high.count <= word { high.append(0) }
            high[word] |= 1 &<< UInt64(slot & 63)
        }
    }

    /// Removes a slot.
    @inlinable
    public mutating func remove(_ slot: Int) {
        if slot < 64 {
            low &= ~(1 &<< UInt64(slot))
        } else {
            let word = slot / 64 - 1
            if word < high.count { high[word] &= ~(1 &<< UInt64(slot & 63)) }
            while high.last == 0 { high.removeLast() }
        }
    }

    /// Adds all slots of another set.
    public mutating func formUnion(_ other: SlotSet) {
        low |= other.low
        while high.count < other.high.count { high.append(0) }
        for (index, word) in other.high.enumerated() { high[index] |= word }
    }
}

extension SlotSet: Sequence {
    /// The slots in ascending order.
    public func makeIterator() -> AnyIterator<Int> {
        var words = [low] + high
        var index = 0
        return AnyIterator {
            while index < words.count {
                if words[index] != 0 {
                    let bit = words[index].trailingZeroBitCount
                    words[index] &= words[index] - 1
                    return index * 64 + bit
                }
                index += 1
            }
            return nil
        }
    }
}
