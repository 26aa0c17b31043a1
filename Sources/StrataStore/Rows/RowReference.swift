/// A packed row together with what keeps its memory alive: the form in which stores and contexts exchange rows.
///
///     for row in try store.fetch(plan).rows {
///         print(row.key, row.version, row.value(city.slots[0]))
///     }
///
/// It is `Sendable`, and a copy costs a reference count. A row of a fetch keeps the slab with its neighbors in memory, which may
/// have 256 KiB, so do not keep single rows of a large answer for long.
///
/// Read values with ``value(_:)``, which boxes, or ``withBytes(_:_:)``, which copies nothing. Check ``isHeaderOnly`` first: a
/// row that the reader knows already, or of which a mirror knows only the key, has no slots, and reading one stops the program.
public struct RowReference: Sendable {
    /// The owner of the memory.
    @usableFromInline package let slab: RowSlab
    /// Where the row begins in the memory of ``slab``.
    @usableFromInline let offset: Int

    /// The row. It must not outlive the reference.
    @inlinable package var row: RowPointer { RowPointer(UnsafeRawPointer(slab.memory + offset)) }

    /// Takes a row that is in a slab.
    @inlinable
    package init(slab: RowSlab, row: RowPointer) {
        self.slab = slab
        offset = row.base - UnsafeRawPointer(slab.memory)
    }

    /// The position of the row's entity in the model.
    public var entityIndex: Int { withExtendedLifetime(slab) { row.entityIndex } }
    /// The key, unique in the hierarchy of the entity.
    public var key: Int64 { withExtendedLifetime(slab) { row.key } }
    /// How often the row has been written; 0 if it has not been saved yet.
    public var version: Int64 { withExtendedLifetime(slab) { row.version } }
    /// Whether the row has only its entity, key and version; see ``RowPointer/isHeaderOnly``.
    public var isHeaderOnly: Bool { withExtendedLifetime(slab) { row.isHeaderOnly } }

    /// The value of a slot, boxed. Bytes that are in a file of their own are given as ``Value/binary(_:)`` with the
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
