/// A block of memory that holds packed rows: many that a fetch brought, or a single one that an object is changing.
///
/// Rows of a slab that others can see are never changed; `RowEditing` writes only to a slab of a single row while
/// exactly one object knows it. That is what makes a reference to it safe to send (`@unchecked Sendable`).
///
/// The memory follows the object's header, so that a slab is one allocation: every changed object has a slab.
public final class RowSlab: @unchecked Sendable {
    /// Where the memory begins, from the beginning of the object: after its header of two words and the word with the
    /// capacity.
    @inlinable package static var memoryOffset: Int { (3 * MemoryLayout<Int>.size + 7) & ~7 }

    @available(*, unavailable, message: "use make(capacity:)")
    private init() { fatalError() }

    /// Takes memory of a size from the system. The content is undefined.
    @usableFromInline
    package static func make(capacity: Int) -> RowSlab {
        let words = (capacity + 7) / 8
        let buffer = ManagedBufferPointer<Int, UInt64>(bufferClass: RowSlab.self, minimumCapacity: words) { _, _ in
            words * 8
        }
        let slab = unsafeDowncast(buffer.buffer, to: RowSlab.self)
        assert(buffer.withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) } == slab.memory)
        return slab
    }

    /// The memory, aligned to eight bytes.
    @inlinable package var memory: UnsafeMutableRawPointer {
        Unmanaged.passUnretained(self).toOpaque() + Self.memoryOffset
    }

    /// The size of the memory in bytes.
    @inlinable package var capacity: Int {
        (Unmanaged.passUnretained(self).toOpaque() + 2 * MemoryLayout<Int>.size).load(as: Int.self)
    }

    /// Creates a slab of a single row with the same content as another row, and room for more bytes after it.
    package static func copy(of row: RowPointer, room: Int = 0) -> RowSlab {
        let slab = RowSlab.make(capacity: row.byteCount + room)
        slab.memory.copyMemory(from: row.base, byteCount: row.byteCount)
        return slab
    }

    /// Calls a closure with the first rows of a slab that a ``RowBatchBuilder`` filled: they follow one after another.
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
