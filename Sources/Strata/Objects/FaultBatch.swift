import StrataStore

/// The objects that were read together: what one of them lacks is read for all of them.
final class FaultBatch {
    /// Where the keys of the batch are.
    private enum Members {
        case keys([Int64])
        /// The slabs of a row batch, and how many rows each holds.
        case rows(slabs: ArraySlice<RowSlab>, counts: [Int])
    }

    private let members: Members
    /// The number of objects.
    let count: Int
    /// The targets of to-one relationships that were touched or prefetched. They live as long as an object of the batch,
    /// so that walking the batch does not read the same target again and again.
    private var targets: Set<ManagedObject> = []
    /// The rows that were last read for the batch: the row cache of the container knows them for as long as they are
    /// kept here.
    var rows: RowBatch?
    /// What a closed context has read for the objects; see ``ClosedGraphReader``.
    private(set) lazy var related = RelatedRows()

    deinit {
        if !targets.isEmpty { DeepRelease.clear(&targets, to: []) }
    }

    /// The maximum number of objects that one fault loads. Beyond it, memory would be at stake, and one object would keep
    /// too many rows alive.
    static let limit = 20_000

    init(keys: [Int64]) {
        members = .keys(keys)
        count = keys.count
    }

    private init(slabs: ArraySlice<RowSlab>, counts: [Int], rows: RowBatch?) {
        members = .rows(slabs: slabs, counts: counts)
        count = counts.reduce(0, +)
        self.rows = rows
    }

    /// Makes a batch of objects that have none.
    static func join(_ loners: [ManagedObject]) {
        let batch = FaultBatch(keys: loners.map(\.key))
        for object in loners { object.join(batch) }
    }

    /// The fault batches of rows that were read, one for each of their slabs; neighbours share one, up to ``limit`` rows.
    /// None for a single row.
    static func batches(of rows: RowBatch) -> [FaultBatch?] {
        guard rows.count > 1 else { return Array(repeating: nil, count: rows.slabs.count) }
        guard rows.isContiguous else {
            let batch = FaultBatch(keys: rows.pointers.map { RowPointer($0).key })
            if rows.count <= limit { batch.rows = rows }
            return Array(repeating: batch, count: rows.slabs.count)
        }
        var result: [FaultBatch?] = []
        var first = 0
        while first < rows.slabs.count {
            let begin = first == 0 ? 0 : rows.ends[first - 1]
            var last = first
            while last + 1 < rows.slabs.count, rows.ends[last + 1] - begin <= limit { last += 1 }
            // With all types spelled out: inferring them takes the compiler more than a second.
            let counts = (first...last).map { (slab: Int) -> Int in
                let start: Int = slab == 0 ? 0 : rows.ends[slab - 1]
                return rows.ends[slab] - start
            }
            let isWhole = first == 0 && last == rows.slabs.count - 1
            let batch = FaultBatch(slabs: rows.slabs[first...last], counts: counts, rows: isWhole ? rows : nil)
            result += Array(repeating: batch, count: counts.count)
            first = last + 1
        }
        return result
    }

    /// The keys of the objects, in the order in which they were read; for a list of keys that is too long, those after the
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

    /// Keeps targets of the objects' to-one relationships alive.
    func hold(_ objects: [ManagedObject]) { targets.formUnion(objects) }

    /// Releases them.
    func releaseTargets() {
        if !targets.isEmpty { DeepRelease.clear(&targets, to: []) }
    }
}
