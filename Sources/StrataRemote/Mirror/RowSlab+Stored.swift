import Foundation
import StrataSQLite

extension RowSlab {
    /// Reads what ``stored`` gave; nil if it is no row.
    convenience init?(stored data: Data) {
        guard data.count >= RowPointer.fixedSize(0) else { return nil }
        self.init(capacity: data.count)
        data.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { memory.copyMemory(from: start, byteCount: bytes.count) }
        }
        guard row.byteCount == data.count, RowPointer.fixedSize(row.slotCount) <= data.count else { return nil }
    }

    /// The single row as bytes.
    var stored: Data { Data(bytes: memory, count: row.byteCount) }
}
