import Synchronization

/// The row batches that contexts of one container still use, so that a fault of one context is filled from what another
/// one has read.
///
/// Batches are held weakly: they live as long as an object of the ``FetchGroup`` that came with them. A row that was
/// committed since is stale in older batches, and a batch that was read while somebody committed is not kept at all,
/// since nobody knows which side of the commit it saw.
final class RowCache: Sendable {
    private struct Entry: Sendable {
        weak var batch: RowBatch?
        let rootIndex: Int
        var stale: Set<Int64> = []
        /// Positions by key; made at the first look-up.
        var positions: [Int64: Int]?
    }

    /// Older batches are forgotten beyond this number; look-ups walk the list.
    private static let limit = 64

    private let entries = Guarded<[Entry]>([])
    private let invalidations = Atomic<Int>(0)

    /// Grows with each invalidation. Take it before reading from the store.
    var stamp: Int { invalidations.load(ordering: .sequentiallyConsistent) }

    /// Remembers a batch. Single rows are not worth it.
    /// - Parameter stamp: What ``stamp`` was before the batch was read.
    func add(_ batch: RowBatch, rootIndex: Int, stamp: Int) {
        guard batch.count > 1 else { return }
        entries.withLock { list in
            guard stamp == self.stamp else { return }
            if list.count >= Self.limit {
                list.removeAll { $0.batch == nil }
                if list.count >= Self.limit { list.removeFirst() }
            }
            list.append(Entry(batch: batch, rootIndex: rootIndex))
        }
    }

    /// Finds rows of some keys.
    /// - Returns: The rows found, and the keys that are left.
    func rows(rootIndex: Int, keys: [Int64]) -> (found: [RowReference], missing: [Int64]) {
        entries.withLock { list in
            guard list.contains(where: { $0.rootIndex == rootIndex && $0.batch != nil }) else { return ([], keys) }
            var found: [RowReference] = []
            var missing = keys
            for index in list.indices.reversed() where list[index].rootIndex == rootIndex && !missing.isEmpty {
                guard let batch = list[index].batch else { continue }
                let positions = list[index].positions ?? Self.positions(of: batch)
                list[index].positions = positions
                missing.removeAll { key in
                    guard let position = positions[key], !list[index].stale.contains(key) else { return false }
                    found.append(batch[position])
                    return true
                }
            }
            return (found, missing)
        }
    }

    /// Marks rows that were written or deleted.
    func invalidate(_ keys: [Int64], rootIndex: Int) {
        entries.withLock { list in
            invalidations.add(1, ordering: .sequentiallyConsistent)
            list.removeAll { $0.batch == nil }
            for index in list.indices where list[index].rootIndex == rootIndex {
                list[index].stale.formUnion(keys)
            }
        }
    }

    /// Forgets all rows of a hierarchy.
    func forget(rootIndex: Int) {
        entries.withLock { list in list.removeAll { $0.rootIndex == rootIndex } }
    }

    private static func positions(of batch: RowBatch) -> [Int64: Int] {
        var positions: [Int64: Int] = [:]
        positions.reserveCapacity(batch.count)
        // What is a header alone tells nothing to those who do not have the row.
        for index in 0..<batch.count {
            let row = RowPointer(batch.pointers[index])
            if !row.isHeaderOnly { positions[row.key] = index }
        }
        return positions
    }
}
