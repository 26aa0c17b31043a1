import Foundation
import StrataSQLite
import StrataStore

extension RowSlab {
    /// Reads what ``stored`` gave; nil if it is not a row.
    static func restored(from data: Data) -> RowSlab? {
        guard data.count >= RowPointer.fixedSize(0) else { return nil }
        let slab = make(capacity: data.count)
        data.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { slab.memory.copyMemory(from: start, byteCount: bytes.count) }
        }
        let row = slab.row
        guard row.byteCount == data.count, RowPointer.fixedSize(row.slotCount) <= data.count else { return nil }
        return slab
    }

    /// The single row as bytes.
    var stored: Data { Data(bytes: memory, count: row.byteCount) }
}
