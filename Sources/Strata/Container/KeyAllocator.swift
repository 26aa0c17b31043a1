import Foundation
import StrataStore

/// Reserves keys for all contexts of a container, so that an object has its final key before it is saved.
///
/// A reservation is a transaction of its own. The blocks grow while they are used up, and contexts that need no more give
/// back what is left of theirs.
///
/// A store that cannot reserve keys, because it is read-only, full or locked, does not make an insert fail. Keys then come
/// from a random range at or above ``StoreKeys/firstUnreserved``, which no store reserves keys from, until the store reserves
/// keys again; the save reports what is wrong with the store.
final class KeyAllocator: Sendable {
    private struct Reserve: Sendable {
        /// The keys that are reserved but not handed out, the next to be used at the end.
        var ranges: [Range<Int64>] = []
        var blockSize = 16
        /// What is left of a random range.
        var unreserved: Range<Int64> = 0..<0
        /// When the store is asked again after it could not reserve keys.
        var nextAttempt: ContinuousClock.Instant?
    }

    /// So that 100,000 inserts need about a dozen reservations, each of which the store writes to the disk.
    private static let largestBlock = 65_536
    /// Contexts for single requests leave short rests; beyond this many, the oldest are abandoned.
    private static let mostRanges = 1024

    private let store: any PersistentStore
    private let reserves = Guarded<[Int: Reserve]>([:])

    init(store: any PersistentStore) { self.store = store }

    /// Hands out up to this many keys of a hierarchy, at least one.
    func take(upTo count: Int, rootIndex: Int) -> Range<Int64> {
        reserves.withLock { reserves in
            var reserve = reserves[rootIndex] ?? Reserve()
            defer { reserves[rootIndex] = reserve }
            guard let range = reserve.ranges.popLast() ?? reserved(&reserve, rootIndex) else {
                return unreserved(&reserve, upTo: count)
            }
            if range.count > count {
                let end = range.lowerBound + Int64(count)
                reserve.ranges.append(end..<range.upperBound)
                return range.lowerBound..<end
            }
            return range
        }
    }

    /// Takes back keys that no object was given.
    func giveBack(_ range: Range<Int64>, rootIndex: Int) {
        guard !range.isEmpty, range.lowerBound < StoreKeys.firstUnreserved else { return }
        reserves.withLock { reserves in
            var reserve = reserves[rootIndex] ?? Reserve()
            defer { reserves[rootIndex] = reserve }
            if let last = reserve.ranges.last, range.upperBound == last.lowerBound {
                reserve.ranges[reserve.ranges.count - 1] = range.lowerBound..<last.upperBound
            } else {
                reserve.ranges.append(range)
            }
            if reserve.ranges.count > Self.mostRanges { reserve.ranges.removeFirst() }
        }
    }

    /// Asks the store for a block; nil if it cannot reserve one.
    private func reserved(_ reserve: inout Reserve, _ rootIndex: Int) -> Range<Int64>? {
        let start = ContinuousClock.now
        if let nextAttempt = reserve.nextAttempt, start < nextAttempt { return nil }
        let size = min(reserve.blockSize * 2, Self.largestBlock)
        if let range = try? store.allocateKeys(size, rootIndex: rootIndex), !range.isEmpty {
            reserve.blockSize = size
            reserve.nextAttempt = nil
            return range
        }
        // A locked store lets its callers wait. Inserts spend no more than a tenth of their time on that, unless a commit
        // shows that the store can be written again.
        let end = ContinuousClock.now
        reserve.nextAttempt = end + (end - start) * 10
        return nil
    }

    /// Notes that the store has been written to: it can reserve keys again.
    func storeWasWritten() {
        reserves.withLock { reserves in
            for rootIndex in reserves.keys { reserves[rootIndex]?.nextAttempt = nil }
        }
    }

    private func unreserved(_ reserve: inout Reserve, upTo count: Int) -> Range<Int64> {
        if reserve.unreserved.isEmpty {
            let start = Int64.random(in: StoreKeys.firstUnreserved..<StoreKeys.end - Int64(Self.largestBlock))
            reserve.unreserved = start..<start + Int64(Self.largestBlock)
        }
        let range = reserve.unreserved
        let end = range.lowerBound + Int64(min(count, range.count))
        reserve.unreserved = end..<range.upperBound
        return range.lowerBound..<end
    }
}

/// The keys of one context that no object has been given yet.
final class KeyRuns {
    private struct Run {
        var next: Int64 = 0
        var end: Int64 = 0
        /// How many keys the context asks for at a time; it grows with the number of its inserts.
        var size = 2
    }

    private let allocator: KeyAllocator
    /// By position of the topmost entity of the hierarchy; empty until the first key is needed.
    private var runs: [Run] = []
    private let entityCount: Int

    init(allocator: KeyAllocator, entityCount: Int) {
        self.allocator = allocator
        self.entityCount = entityCount
    }

    /// A key for a new object.
    func next(rootIndex: Int) -> Int64 {
        if runs.isEmpty { runs = Array(repeating: Run(), count: entityCount) }
        if runs[rootIndex].next == runs[rootIndex].end { refill(rootIndex) }
        defer { runs[rootIndex].next += 1 }
        return runs[rootIndex].next
    }

    private func refill(_ rootIndex: Int) {
        let size = min(runs[rootIndex].size * 2, 4096)
        let range = allocator.take(upTo: size, rootIndex: rootIndex)
        runs[rootIndex] = Run(next: range.lowerBound, end: range.upperBound, size: size)
    }

    /// Gives back what is left.
    func returnUnused() {
        for (rootIndex, run) in runs.enumerated() where run.next < run.end {
            allocator.giveBack(run.next..<run.end, rootIndex: rootIndex)
            runs[rootIndex] = Run()
        }
    }
}
