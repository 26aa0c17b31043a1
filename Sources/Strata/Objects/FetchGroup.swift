/// The objects that came together: what one of them lacks is read for all of them.
final class FetchGroup {
    /// Where the keys of the group stand.
    private enum Members {
        case keys([Int64])
        /// The slabs of a batch, and how many rows stand in each.
        case rows(slabs: ArraySlice<RowSlab>, counts: [Int])
    }

    private let members: Members
    /// The number of objects.
    let count: Int
    /// The targets of to-one relationships that were touched; they live as long as an object of the group, so that
    /// walking a batch does not read the same target again and again.
    var targets: [ManagedObject] = []
    /// The rows that came last for the group: the row cache of the container knows them for as long as they are kept
    /// here.
    var batch: RowBatch?

    deinit {
        if !targets.isEmpty { DeepRelease.clear(&targets, to: []) }
    }

    /// The most objects of one group, and so the most that one fault loads at once; beyond it, memory would be at
    /// stake, and one object would keep too many rows alive.
    static let limit = 20_000

    init(keys: [Int64]) {
        members = .keys(keys)
        count = keys.count
    }

    private init(slabs: ArraySlice<RowSlab>, counts: [Int], batch: RowBatch?) {
        members = .rows(slabs: slabs, counts: counts)
        count = counts.reduce(0, +)
        self.batch = batch
    }

    /// Makes a group of objects that have none.
    static func join(_ loners: [ManagedObject]) {
        let group = FetchGroup(keys: loners.map(\.key))
        for object in loners { object.join(group) }
    }

    /// The groups of a batch, one for each of its slabs; neighbours have the same, up to ``limit`` rows. None for a
    /// single row.
    static func groups(of batch: RowBatch) -> [FetchGroup?] {
        guard batch.count > 1 else { return Array(repeating: nil, count: batch.slabs.count) }
        guard batch.isContiguous else {
            let group = FetchGroup(keys: batch.pointers.map { RowPointer($0).key })
            if batch.count <= limit { group.batch = batch }
            return Array(repeating: group, count: batch.slabs.count)
        }
        var result: [FetchGroup?] = []
        var first = 0
        while first < batch.slabs.count {
            let begin = first == 0 ? 0 : batch.ends[first - 1]
            var last = first
            while last + 1 < batch.slabs.count, batch.ends[last + 1] - begin <= limit { last += 1 }
            // With all types spelled out: inferring them takes the compiler more than a second.
            let counts = (first...last).map { (slab: Int) -> Int in
                let start: Int = slab == 0 ? 0 : batch.ends[slab - 1]
                return batch.ends[slab] - start
            }
            let isWhole = first == 0 && last == batch.slabs.count - 1
            let group = FetchGroup(
                slabs: batch.slabs[first...last], counts: counts, batch: isWhole ? batch : nil)
            result += Array(repeating: group, count: counts.count)
            first = last + 1
        }
        return result
    }

    /// The keys of the objects, in the order of the answer; for a list of keys that is too long, the ones after the
    /// given one.
    func keys(around key: Int64) -> ArraySlice<Int64> {
        switch members {
        case .keys(let keys):
            guard keys.count > Self.limit, let index = keys.firstIndex(of: key) else { return keys[...] }
            return keys[index..<min(keys.count, index + Self.limit)]
        case .rows(let slabs, let counts):
            var keys: [Int64] = []
            keys.reserveCapacity(count)
            for (slab, count) in zip(slabs, counts) { slab.forEachRow(count: count) { keys.append($0.key) } }
            return keys[...]
        }
    }
}
