/// The packed rows that a store answers with: immutable, and shared by every context that reads them.
///
///     let batch = try store.fetch(plan)
///     for index in 0..<batch.count where !batch[index].isHeaderOnly {
///         print(batch[index].key, batch[index].value(city.slots[0]))
///     }
///
/// A ``RowBatchBuilder`` makes one, and objects keep their rows in it without copying them, until they are changed. If the
/// reader said which rows it has, some may be headers only; see ``RowPointer/isHeaderOnly``.
///
/// The memory consists of slabs, which are freed when neither the batch nor a row of it is used any longer. Access by position
/// takes time logarithmic in the number of slabs.
public final class RowBatch: @unchecked Sendable {
    // Sendable because nothing in it changes after ``RowBatchBuilder/finish()``.

    /// Where each row begins, in the order of the answer.
    @usableFromInline package let pointers: [UnsafeRawPointer]
    /// The slabs, and how many rows are in each and those before it.
    @usableFromInline package let slabs: [RowSlab]
    @usableFromInline package let ends: [Int]

    /// Whether each slab holds its rows one after another, and nothing else, as a ``RowBatchBuilder`` writes them.
    package let isContiguous: Bool

    package init(pointers: [UnsafeRawPointer], slabs: [RowSlab], ends: [Int], isContiguous: Bool) {
        self.isContiguous = isContiguous
        self.pointers = pointers
        self.slabs = slabs
        self.ends = ends
    }

    /// No rows.
    public static let empty = RowBatch(pointers: [], slabs: [], ends: [], isContiguous: true)

    /// The number of rows.
    @inlinable public var count: Int { pointers.count }

    /// The row at a position, with what keeps it alive.
    public subscript(index: Int) -> RowReference {
        RowReference(slab: slab(of: index), row: RowPointer(pointers[index]))
    }

    /// All rows in order.
    public var rows: [RowReference] { (0..<count).map { self[$0] } }

    /// Calls a closure with each row and its slab, in order.
    @inlinable
    package func forEach<E>(_ body: (RowSlab, RowPointer) throws(E) -> Void) throws(E) {
        var index = 0
        for (slab, end) in zip(slabs, ends) {
            while index < end {
                try body(slab, RowPointer(pointers[index]))
                index += 1
            }
        }
    }

    private func slab(of index: Int) -> RowSlab {
        var low = 0
        var high = ends.count
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] <= index { low = middle + 1 } else { high = middle }
        }
        return slabs[low]
    }
}

extension RowBatch {
    /// A batch of rows that are in several slabs.
    package convenience init(_ references: [RowReference]) {
        var slabs: [RowSlab] = []
        var ends: [Int] = []
        for (index, reference) in references.enumerated() {
            if slabs.last === reference.slab {
                ends[ends.count - 1] = index + 1
            } else {
                slabs.append(reference.slab)
                ends.append(index + 1)
            }
        }
        self.init(pointers: references.map(\.row.base), slabs: slabs, ends: ends, isContiguous: false)
    }
}
