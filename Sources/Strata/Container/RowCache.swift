import StrataStore
import Synchronization

/// The row batches that contexts of one container still use, so that a fault of one context is filled from rows that
/// another one has read.
///
/// Commits of others, such as another process, are noticed before a lookup; see ``StoreCoordinator/noticeForeignCommits()``.
/// Where they cannot be, a context finds only what it has read itself.
///
/// Batches are held weakly: they live as long as an object of the ``FaultBatch`` that was read with them. A row that was
/// committed since is stale in older batches, and a batch that was read during a commit is not kept at all, since it
/// may have seen either side of the commit.
final class RowCache: Sendable {
    private struct Entry: Sendable {
        weak var batch: RowBatch?
        let rootIndex: Int
        /// The number of the context that read the rows.
        let owner: Int
        let positions = RowPositions()
        var stale: Set<Int64> = []
    }

    /// Older batches are forgotten beyond this number; lookups walk the list.
    private static let limit = 64

    private let entries = Guarded<[Entry]>([])
    private let invalidations: Atomic<Int>

    private static let count = Atomic<Int>(0)

    /// Stamps of two caches are never equal: a context may have changed from one to the other between two looks.
    init() {
        invalidations = Atomic(Self.count.add(1, ordering: .relaxed).newValue << 32)
    }

    /// Grows with each invalidation. Take it before reading from the store.
    var stamp: Int { invalidations.load(ordering: .sequentiallyConsistent) }

    /// Remembers a batch. Single rows are not worth it.
    /// - Parameters:
    ///   - stamp: The value of ``stamp`` before the batch was read.
    ///   - owner: The number of the context that read it.
    func add(_ batch: RowBatch, rootIndex: Int, stamp: Int, owner: Int) {
        guard batch.count > 1 else { return }
        entries.withLock { list in
            guard stamp == self.stamp else { return }
            list.removeAll { $0.batch == nil }
            if list.count >= Self.limit { list.removeFirst() }
            list.append(Entry(batch: batch, rootIndex: rootIndex, owner: owner))
        }
    }

    /// Whether there may be rows of a hierarchy.
    func hasRows(rootIndex: Int) -> Bool {
        entries.withLock { list in list.contains { $0.rootIndex == rootIndex && $0.batch != nil } }
    }

    /// Finds rows of some keys.
    /// - Parameter owner: The number of the context whose rows count; nil for those of all contexts.
    /// - Returns: The rows found, and the keys that are left.
    func rows(rootIndex: Int, keys: [Int64], readBy owner: Int? = nil) -> (found: [RowReference], missing: [Int64]) {
        // Looking into a large batch takes time; others need not wait for it.
        let candidates: [(batch: RowBatch, entry: Entry)] = entries.withLock { list in
            list.reversed().compactMap { entry in
                guard entry.rootIndex == rootIndex, owner == nil || entry.owner == owner else { return nil }
                return entry.batch.map { ($0, entry) }
            }
        }
        var found: [RowReference] = []
        var missing = keys
        for (batch, entry) in candidates where !missing.isEmpty {
            missing = entry.positions.lookUp(missing, in: batch) { key, position in
                guard !entry.stale.contains(key) else { return false }
                found.append(batch[position])
                return true
            }
        }
        return (found, missing)
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

    /// Forgets all rows.
    func forgetAll() {
        entries.withLock { list in
            invalidations.add(1, ordering: .sequentiallyConsistent)
            list.removeAll()
        }
    }

    /// Forgets all rows of a hierarchy.
    func forget(rootIndex: Int) {
        entries.withLock { list in list.removeAll { $0.rootIndex == rootIndex } }
    }
}

/// The positions of a batch's rows in the order of their keys, found at the first lookup.
private final class RowPositions: Sendable {
    /// Nil before the first lookup; empty if the rows are in the order of their keys.
    private let sorted = Guarded<[Int32]?>(nil)

    /// Looks for keys.
    /// - Parameter take: Called with each key that the batch has the whole row of, and its position; false leaves the key.
    /// - Returns: The keys that are left.
    func lookUp(_ keys: [Int64], in batch: RowBatch, _ take: (Int64, Int) -> Bool) -> [Int64] {
        let positions = sorted.withLock { sorted in
            if let sorted { return sorted }
            let made = Self.order(of: batch)
            sorted = made
            return made
        }
        let count = batch.count
        func position(_ rank: Int) -> Int { positions.isEmpty ? rank : Int(positions[rank]) }
        func row(_ rank: Int) -> RowPointer { RowPointer(batch.pointers[position(rank)]) }
        return withExtendedLifetime(batch) {
            keys.filter { key in
                var low = 0
                var high = count
                while low < high {
                    let middle = (low + high) / 2
                    if row(middle).key < key { low = middle + 1 } else { high = middle }
                }
                // A header says nothing to those that do not have the row.
                guard low < count, row(low).key == key, !row(low).isHeaderOnly else { return true }
                return !take(key, position(low))
            }
        }
    }

    private static func order(of batch: RowBatch) -> [Int32] {
        withExtendedLifetime(batch) {
            func key(_ position: Int) -> Int64 { RowPointer(batch.pointers[position]).key }
            let isSorted = (1..<batch.count).allSatisfy { key($0 - 1) < key($0) }
            return isSorted ? [] : (0..<Int32(clamping: batch.count)).sorted { key(Int($0)) < key(Int($1)) }
        }
    }
}
