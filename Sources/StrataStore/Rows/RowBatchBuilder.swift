/// Fills a ``RowBatch``, one row at a time, in the order of the answer.
///
///     var builder = RowBatchBuilder()
///     builder.beginRow(entity: city, key: 1, version: 1)
///     builder.setText("Lima", slot: 0)
///     builder.endRow()
///     let batch = builder.finish()
///
/// A store answers a fetch with it. Each slot of a new row is nil until you set it. Call ``setValue(_:slot:)`` with boxed
/// values, or the typed methods, which are faster: ``setInteger(_:slot:)``, ``setDouble(_:slot:)``, ``setText(_:slot:)``. For a
/// row that the reader has already, ``addHeader(entityIndex:key:version:)`` writes only 24 bytes.
///
/// The builder cannot be copied, so that nothing writes to a batch that has been published. ``finish()`` empties it.
public struct RowBatchBuilder: ~Copyable {
    @usableFromInline package static var slabSize: Int { 256 * 1024 }

    @usableFromInline package var pointers: [UnsafeRawPointer] = []
    @usableFromInline package var slabs: [RowSlab] = []
    @usableFromInline package var ends: [Int] = []
    @usableFromInline package var slab: RowSlab?
    /// The memory of ``slab``, at hand without counting a reference.
    @usableFromInline package var memory: UnsafeMutableRawPointer?
    @usableFromInline package var capacity = 0
    @usableFromInline package var rowStart = 0
    @usableFromInline package var position = 0
    @usableFromInline package var slotCount = 0
    @usableFromInline package var nextCapacity: Int

    /// Begins an empty batch.
    /// - Parameter expectedRows: How many rows are likely, or nil. A small number avoids taking a large block for a
    ///   single row.
    public init(expectedRows: Int? = nil) {
        nextCapacity = expectedRows.map { min(max($0, 1), Self.slabSize / 256) * 256 } ?? 4096
    }

    /// Begins a row in which every slot is nil.
    public mutating func beginRow(entity: EntityDescription, key: Int64, version: Int64) {
        beginRow(entityIndex: entity.index, slotCount: entity.slots.count, key: key, version: version)
    }

    /// Begins a row of an entity at a position in the model, in which every slot is nil.
    @inlinable
    public mutating func beginRow(entityIndex: Int, slotCount: Int, key: Int64, version: Int64) {
        let size = RowPointer.fixedSize(slotCount)
        self.slotCount = slotCount
        rowStart = position
        if position &+ size > capacity { reserve(size, used: 0) }
        guard let memory else { return }
        let start = memory + rowStart
        start.initializeMemory(as: UInt8.self, repeating: 0, count: size)
        start.storeBytes(of: UInt16(slotCount), toByteOffset: 4, as: UInt16.self)
        start.storeBytes(of: UInt16(entityIndex), toByteOffset: 6, as: UInt16.self)
        start.storeBytes(of: key, toByteOffset: 8, as: Int64.self)
        start.storeBytes(of: version, toByteOffset: 16, as: Int64.self)
        position = rowStart + size
    }

    /// Adds a row of which the reader has all but its place in the answer: entity, key and version, no slots.
    @inlinable
    public mutating func addHeader(entityIndex: Int, key: Int64, version: Int64) {
        let size = RowPointer.headerSize
        slotCount = 0
        rowStart = position
        if position &+ size > capacity { reserve(size, used: 0) }
        guard let memory else { return }
        let start = memory + rowStart
        start.storeBytes(of: 0, toByteOffset: 4, as: UInt16.self)
        start.storeBytes(of: UInt16(entityIndex), toByteOffset: 6, as: UInt16.self)
        start.storeBytes(of: key, toByteOffset: 8, as: Int64.self)
        start.storeBytes(of: version, toByteOffset: 16, as: Int64.self)
        position = rowStart + size
        endRow()
    }

    /// Fills a slot that holds its value itself: a number, a date, a key.
    @inlinable
    public mutating func setWord(_ word: UInt64, slot: Int) {
        precondition(slot >= 0 && slot < slotCount, "slot out of range")
        guard let memory else { return }
        let start = memory + rowStart
        let bits = RowPointer.headerSize &+ 8 &* (slot &>> 6)
        start.storeBytes(
            of: start.load(fromByteOffset: bits, as: UInt64.self) | (1 &<< UInt64(slot & 63)), toByteOffset: bits,
            as: UInt64.self)
        start.storeBytes(of: word, toByteOffset: RowPointer.slotsOffset(slotCount) &+ 8 &* slot, as: UInt64.self)
    }

    /// Fills a slot with a whole number or a key.
    @inlinable
    public mutating func setInteger(_ value: Int64, slot: Int) { setWord(UInt64(bitPattern: value), slot: slot) }

    /// Fills a slot with a floating-point number, or a date as seconds since 2001-01-01.
    @inlinable
    public mutating func setDouble(_ value: Double, slot: Int) { setWord(value.bitPattern, slot: slot) }

    /// Fills a slot with bytes: text, a decimal number, a blob, a UUID, a geo point.
    /// - Parameter external: Whether the bytes are the name of a file that holds the value.
    @inlinable
    public mutating func setBytes(_ bytes: UnsafeRawBufferPointer, slot: Int, external: Bool = false) {
        precondition(bytes.count < Int(RowPointer.externalFlag), "a value of 2 GB or more does not fit in a row")
        if position &+ bytes.count > capacity { reserve(bytes.count, used: position &- rowStart) }
        guard let memory else { return }
        if let start = bytes.baseAddress { (memory + position).copyMemory(from: start, byteCount: bytes.count) }
        let length = UInt64(UInt32(bytes.count) | (external ? RowPointer.externalFlag : 0))
        setWord(UInt64(position - rowStart) | length << 32, slot: slot)
        position += bytes.count
    }

    /// Fills a slot with text.
    public mutating func setText(_ text: String, slot: Int) {
        var text = text
        text.withUTF8 { setBytes(UnsafeRawBufferPointer($0), slot: slot) }
    }

    /// Ends the current row.
    @inlinable
    public mutating func endRow() {
        guard let memory else { return }
        (memory + rowStart).storeBytes(of: UInt32(position - rowStart), as: UInt32.self)
        pointers.append(UnsafeRawPointer(memory + rowStart))
        position = (position + 7) & ~7
    }

    /// The batch of all rows ended so far. The builder is empty then.
    public mutating func finish() -> RowBatch {
        if let slab {
            slabs.append(slab)
            ends.append(pointers.count)
        }
        let batch = RowBatch(pointers: pointers, slabs: slabs, ends: ends, isContiguous: true)
        self = RowBatchBuilder()
        return batch
    }

    /// Makes room for bytes after the row so far; moves the row to a new slab if this one is full.
    @usableFromInline
    package mutating func reserve(_ count: Int, used: Int) {
        let next = RowSlab.make(capacity: max(nextCapacity, (used + count) * 2))
        nextCapacity = Self.slabSize
        if let slab {
            if used > 0 { next.memory.copyMemory(from: slab.memory + rowStart, byteCount: used) }
            slabs.append(slab)
            ends.append(pointers.count)
        }
        slab = next
        memory = next.memory
        capacity = next.capacity
        rowStart = 0
        position = used
    }
}
