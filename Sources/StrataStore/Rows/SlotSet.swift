/// A set of slots: one word for the first 64, an array for the rest.
///
///     var changed = SlotSet([0, 3])
///     changed.insert(70)
///     for slot in changed { print(city.slots[slot].name) }
///
/// A slot is the position of an attribute, an element of a composite or a to-one relationship in the rows of an entity; see
/// `EntityDescription.slots`. An update names what it writes by such a set. Sets of entities with up to 64 slots take no memory
/// from the heap, and iterating never does. Slots are in ascending order.
public struct SlotSet: Sendable, Hashable {
    @usableFromInline package private(set) var low: UInt64 = 0
    @usableFromInline package private(set) var high: [UInt64] = []

    /// No slots.
    @inlinable public init() {}

    /// The first 64 slots as the bits of a word, and the others.
    @inlinable
    package init(low: UInt64, high: [UInt64]) {
        self.low = low
        self.high = high
    }

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

    /// The slots that are in another set, too.
    public func intersection(_ other: SlotSet) -> SlotSet {
        var result = SlotSet()
        result.low = low & other.low
        result.high = zip(high, other.high).map { $0 & $1 }
        while result.high.last == 0 { result.high.removeLast() }
        return result
    }
}

extension SlotSet: Sequence {
    /// Walks over the slots of a set. It takes nothing from the heap: a save walks over those of each changed object.
    public struct Iterator: IteratorProtocol {
        @usableFromInline var word: UInt64
        @usableFromInline var base = 0
        @usableFromInline let high: [UInt64]

        @inlinable
        init(_ set: SlotSet) {
            word = set.low
            high = set.high
        }

        /// The next slot.
        @inlinable
        public mutating func next() -> Int? {
            while word == 0 {
                guard base < high.count else { return nil }
                word = high[base]
                base += 1
            }
            defer { word &= word &- 1 }
            return base &* 64 &+ word.trailingZeroBitCount
        }
    }

    /// The slots in ascending order.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(self) }
}
