@_exported import StrataQuery

/// A packed row in memory that somebody else keeps alive.
///
/// A row is one run of bytes, 8-byte aligned, that refers to nothing outside of itself, so that it can be copied as a
/// whole:
///
/// ```text
/// 0   UInt32   bytes in all
/// 4   UInt16   number of slots
/// 6   UInt16   position of the entity in the model
/// 8   Int64    key
/// 16  Int64    version
/// 24  UInt64…  one bit a slot, set where the value is not nil; 64 slots a word, at least one word
/// …   8 bytes  a slot: a number, or offset (low 32 bits) and length (high 32 bits) of bytes in the row
/// …            text and bytes
/// ```
///
/// Every accessor checks its slot against the number of slots, and offset and length against the size of the row, so
/// that a wrong slot gives a wrong value or a trap, never a read outside the row.
public struct RowPointer {
    /// Where the row begins.
    @usableFromInline package let base: UnsafeRawPointer

    /// The size of the part before the bits.
    @inlinable public static var headerSize: Int { 24 }

    /// Set in the length of bytes that are in a file of their own: the row holds the file's name.
    @inlinable public static var externalFlag: UInt32 { 0x8000_0000 }

    /// Takes memory that holds a row.
    @inlinable
    package init(_ base: UnsafeRawPointer) { self.base = base }

    /// The size of the row in bytes.
    @inlinable public var byteCount: Int { Int(base.load(as: UInt32.self)) }
    /// The number of slots.
    @inlinable public var slotCount: Int { Int(base.load(fromByteOffset: 4, as: UInt16.self)) }
    /// The position of the row's entity in the model.
    @inlinable public var entityIndex: Int { Int(base.load(fromByteOffset: 6, as: UInt16.self)) }
    /// The key, unique in the hierarchy of the entity.
    @inlinable public var key: Int64 { base.load(fromByteOffset: 8, as: Int64.self) }
    /// How often the row has been written; 0 if it has not been saved yet.
    @inlinable public var version: Int64 { base.load(fromByteOffset: 16, as: Int64.self) }

    /// Whether only entity, key and version are there, because the reader had the row at this version. Such a row has no
    /// slots: to read one traps.
    @inlinable public var isHeaderOnly: Bool { byteCount == Self.headerSize }

    /// How many words of bits a row of this many slots has.
    @inlinable
    public static func bitWords(_ slotCount: Int) -> Int { max(1, (slotCount &+ 63) &>> 6) }

    /// Where the slots of a row begin.
    @inlinable
    public static func slotsOffset(_ slotCount: Int) -> Int { headerSize &+ 8 &* bitWords(slotCount) }

    /// The size of a row without text and bytes.
    @inlinable
    public static func fixedSize(_ slotCount: Int) -> Int { slotsOffset(slotCount) &+ 8 &* slotCount }

    /// Whether the slot has a value.
    @inlinable
    public func isPresent(_ slot: Int) -> Bool {
        precondition(UInt(bitPattern: slot) < UInt(bitPattern: slotCount), "slot out of range")
        let word = base.load(fromByteOffset: Self.headerSize &+ 8 &* (slot &>> 6), as: UInt64.self)
        return (word &>> UInt64(slot & 63)) & 1 != 0
    }

    /// The eight bytes of the slot; 0 where the value is nil.
    @inlinable
    public func word(_ slot: Int) -> UInt64 {
        let count = slotCount
        precondition(UInt(bitPattern: slot) < UInt(bitPattern: count), "slot out of range")
        return base.load(fromByteOffset: Self.slotsOffset(count) &+ 8 &* slot, as: UInt64.self)
    }

    /// The bytes of a slot: text, a decimal number, a blob. Empty where the value is nil.
    @inlinable
    public func bytes(_ slot: Int) -> UnsafeRawBufferPointer {
        let word = word(slot)
        let offset = Int(UInt32(truncatingIfNeeded: word))
        let length = Int(UInt32(truncatingIfNeeded: word &>> 32) & ~Self.externalFlag)
        precondition(offset &+ length <= byteCount, "slot does not hold bytes")
        return UnsafeRawBufferPointer(start: base + offset, count: length)
    }

    /// Whether the bytes of the slot are the name of a file that holds the value.
    @inlinable
    public func isExternal(_ slot: Int) -> Bool {
        UInt32(truncatingIfNeeded: word(slot) &>> 32) & Self.externalFlag != 0
    }

    /// Whether two rows hold the same value in a slot.
    public func hasSameValue(as other: RowPointer, slot: Int, storage: SlotStorage) -> Bool {
        let present = isPresent(slot)
        guard present == other.isPresent(slot) else { return false }
        guard present else { return true }
        if storage.isInline { return word(slot) == other.word(slot) }
        guard isExternal(slot) == other.isExternal(slot) else { return false }
        let a = bytes(slot)
        let b = other.bytes(slot)
        return a.count == b.count && a.elementsEqual(b)
    }
}
