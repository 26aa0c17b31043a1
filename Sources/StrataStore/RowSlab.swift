/// A block of memory that holds packed rows: many that a fetch brought, or a single one that an object is changing.
///
/// Rows of a slab that others can see are never changed; ``RowEditing`` writes only to a slab of a single row while
/// exactly one object knows it. That is what makes a reference to it safe to send (`@unchecked Sendable`).
public final class RowSlab: @unchecked Sendable {
    /// The memory.
    @usableFromInline package let memory: UnsafeMutableRawPointer
    /// The size of the memory in bytes.
    @usableFromInline package let capacity: Int

    /// Takes memory of a size from the system. The content is undefined.
    @usableFromInline
    package init(capacity: Int) {
        self.capacity = (capacity + 7) & ~7
        self.memory = .allocate(byteCount: self.capacity, alignment: 8)
    }

    deinit { memory.deallocate() }

    /// Makes a slab of a single row with the same content as another row, and room for more bytes behind it.
    package static func copy(of row: RowPointer, room: Int = 0) -> RowSlab {
        let slab = RowSlab(capacity: row.byteCount + room)
        slab.memory.copyMemory(from: row.base, byteCount: row.byteCount)
        return slab
    }

    /// Calls a closure with the first rows of a slab that a ``RowBatchBuilder`` filled: they stand one behind another.
    package func forEachRow(count: Int, _ body: (RowPointer) -> Void) {
        var offset = 0
        for _ in 0..<count {
            // A builder counts a row only after all of it was written here.
            let row = RowPointer(UnsafeRawPointer(memory + offset))
            body(row)
            offset += (row.byteCount + 7) & ~7
        }
    }

    /// The single row of the slab.
    @inlinable package var row: RowPointer { RowPointer(UnsafeRawPointer(memory)) }
}

/// A packed row together with what keeps it alive: what stores and contexts hand each other.
public struct RowReference: @unchecked Sendable {
    // Sendable because published rows are immutable; see ``RowSlab``.

    /// The owner of the memory.
    @usableFromInline package let slab: RowSlab
    /// The row. It must not outlive the reference.
    @usableFromInline package let row: RowPointer

    @inlinable
    package init(slab: RowSlab, row: RowPointer) {
        self.slab = slab
        self.row = row
    }

    /// The position of the row's entity in the model.
    public var entityIndex: Int { withExtendedLifetime(slab) { row.entityIndex } }
    /// The key, unique in the hierarchy of the entity.
    public var key: Int64 { withExtendedLifetime(slab) { row.key } }
    /// How often the row has been written; 0 if it has not been saved yet.
    public var version: Int64 { withExtendedLifetime(slab) { row.version } }
    /// Whether there is no more of the row than its entity, key and version; see ``RowPointer/isHeaderOnly``.
    public var isHeaderOnly: Bool { withExtendedLifetime(slab) { row.isHeaderOnly } }

    /// The value of a slot, boxed. Bytes that stand in a file of their own are given as ``Value/binary(_:)`` with the
    /// file's name.
    public func value(_ slot: SlotDescription) -> Value { withExtendedLifetime(slab) { row.value(slot) } }

    /// Whether the bytes of the slot are the name of a file that holds the value.
    public func isExternal(_ slot: SlotDescription) -> Bool {
        !slot.storage.isInline && withExtendedLifetime(slab) { row.isExternal(slot.index) }
    }

    /// Calls a closure with the bytes of a slot: text, a decimal number, a blob; nil where there is no value. They must
    /// not be used after the closure has returned.
    public func withBytes<R>(_ slot: SlotDescription, _ body: (UnsafeRawBufferPointer?) throws -> R) rethrows -> R {
        try withExtendedLifetime(slab) {
            try body(row.isPresent(slot.index) && !slot.storage.isInline ? row.bytes(slot.index) : nil)
        }
    }
}
