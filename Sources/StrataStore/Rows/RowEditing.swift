/// Writing to a row that nobody else can see: the single row of a slab.
///
/// New text goes after the old when there is room, otherwise into a larger slab; bytes that are no longer used are
/// dropped then.
@usableFromInline
package enum RowEditing {
    /// Makes a row in which every slot is nil.
    package static func emptyRow(entity: EntityDescription, key: Int64, room: Int = 0) -> RowSlab {
        let size = RowPointer.fixedSize(entity.slots.count)
        let slab = RowSlab.make(capacity: size + room)
        slab.memory.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        slab.memory.storeBytes(of: UInt32(size), as: UInt32.self)
        slab.memory.storeBytes(of: UInt16(entity.slots.count), toByteOffset: 4, as: UInt16.self)
        slab.memory.storeBytes(of: UInt16(entity.index), toByteOffset: 6, as: UInt16.self)
        slab.memory.storeBytes(of: key, toByteOffset: 8, as: Int64.self)
        return slab
    }

    /// Sets the position of the row's entity in a model.
    /// - Parameter offset: Where the row begins.
    package static func setEntityIndex(_ index: Int, at offset: Int = 0, in slab: RowSlab) {
        slab.memory.storeBytes(of: UInt16(index), toByteOffset: offset + 6, as: UInt16.self)
    }

    @inlinable
    package static func setKey(_ key: Int64, in slab: RowSlab) {
        slab.memory.storeBytes(of: key, toByteOffset: 8, as: Int64.self)
    }

    @inlinable
    package static func setVersion(_ version: Int64, in slab: RowSlab) {
        slab.memory.storeBytes(of: version, toByteOffset: 16, as: Int64.self)
    }

    @inlinable
    package static func setNil(_ slot: Int, in slab: RowSlab) {
        let row = slab.row
        let count = row.slotCount
        precondition(UInt(bitPattern: slot) < UInt(bitPattern: count), "slot out of range")
        let offset = RowPointer.headerSize &+ 8 &* (slot &>> 6)
        let bits = row.base.load(fromByteOffset: offset, as: UInt64.self) & ~(1 &<< UInt64(slot & 63))
        slab.memory.storeBytes(of: bits, toByteOffset: offset, as: UInt64.self)
        slab.memory.storeBytes(of: 0, toByteOffset: RowPointer.slotsOffset(count) &+ 8 &* slot, as: UInt64.self)
    }

    @inlinable
    package static func setWord(_ word: UInt64, _ slot: Int, in slab: RowSlab) {
        let row = slab.row
        let count = row.slotCount
        precondition(UInt(bitPattern: slot) < UInt(bitPattern: count), "slot out of range")
        let offset = RowPointer.headerSize &+ 8 &* (slot &>> 6)
        let bits = row.base.load(fromByteOffset: offset, as: UInt64.self) | (1 &<< UInt64(slot & 63))
        slab.memory.storeBytes(of: bits, toByteOffset: offset, as: UInt64.self)
        slab.memory.storeBytes(of: word, toByteOffset: RowPointer.slotsOffset(count) &+ 8 &* slot, as: UInt64.self)
    }

    /// Writes bytes; `layout` is that of the row's entity. `slab` may become another one. The bytes must not be in
    /// `slab` itself.
    @usableFromInline
    package static func setBytes(
        _ bytes: UnsafeRawBufferPointer, _ slot: Int, external: Bool = false,
        layout: @autoclosure () -> [SlotDescription],
        in slab: inout RowSlab
    ) {
        precondition(bytes.count < Int(RowPointer.externalFlag), "a value of 2 GB or more does not fit in a row")
        let used = slab.row.byteCount
        if used + bytes.count > slab.capacity {
            slab = grown(slab, without: slot, layout: layout(), room: bytes.count)
        }
        let offset = slab.row.byteCount
        if let start = bytes.baseAddress { (slab.memory + offset).copyMemory(from: start, byteCount: bytes.count) }
        slab.memory.storeBytes(of: UInt32(offset + bytes.count), as: UInt32.self)
        let length = UInt64(UInt32(bytes.count) | (external ? RowPointer.externalFlag : 0))
        setWord(UInt64(offset) | length << 32, slot, in: slab)
    }

    /// Copies the value of a slot from another row.
    package static func copySlot(
        _ slot: Int, layout: [SlotDescription], from other: RowPointer, to slab: inout RowSlab
    ) {
        if !other.isPresent(slot) {
            setNil(slot, in: slab)
        } else if layout[slot].storage.isInline {
            setWord(other.word(slot), slot, in: slab)
        } else {
            setBytes(other.bytes(slot), slot, external: other.isExternal(slot), layout: layout, in: &slab)
        }
    }

    /// A copy with room in which only bytes that some slot uses are left; those of `dropped` are about to change.
    private static func grown(
        _ slab: RowSlab, without dropped: Int, layout: [SlotDescription], room: Int
    ) -> RowSlab {
        let old = slab.row
        let fixed = RowPointer.fixedSize(old.slotCount)
        let result = RowSlab.make(capacity: old.byteCount + room + max(64, (old.byteCount - fixed) / 2))
        result.memory.copyMemory(from: old.base, byteCount: fixed)
        var end = fixed
        for slot in 0..<old.slotCount
        where slot != dropped && layout[slot].storage.isInline == false && old.isPresent(slot) {
            let bytes = old.bytes(slot)
            if let start = bytes.baseAddress { (result.memory + end).copyMemory(from: start, byteCount: bytes.count) }
            let word = old.word(slot) & 0xFFFF_FFFF_0000_0000 | UInt64(end)
            result.memory.storeBytes(
                of: word, toByteOffset: RowPointer.slotsOffset(old.slotCount) + 8 * slot, as: UInt64.self)
            end += bytes.count
        }
        result.memory.storeBytes(of: UInt32(end), as: UInt32.self)
        return result
    }
}
