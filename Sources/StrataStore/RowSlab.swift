/// A block of memory that holds packed rows: many that a fetch brought, or a single one that an object is changing.
///
/// Rows of a slab that others can see are never changed; ``RowEditing`` writes only to a slab of a single row while exactly one
/// object knows it. That is what makes a reference to it safe to send (`@unchecked Sendable`).
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

    /// The single row of the slab.
    @usableFromInline package var row: RowPointer { RowPointer(UnsafeRawPointer(memory)) }
}

/// A packed row together with what keeps it alive.
public struct RowReference: @unchecked Sendable {
    // Sendable because published rows are immutable; see ``RowSlab``.

    /// The owner of the memory.
    @usableFromInline package let slab: RowSlab
    /// The row.
    public let row: RowPointer

    @usableFromInline
    package init(slab: RowSlab, row: RowPointer) {
        self.slab = slab
        self.row = row
    }
}
