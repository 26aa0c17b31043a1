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
