/// Objects that came together in one answer: firing a fault or a relationship of one of them does so for all.
final class FetchGroup {
    /// The keys of the objects, in the order of the answer.
    let keys: [Int64]
    /// The targets of to-one relationships that were touched; they live as long as an object of the group, so that
    /// walking a batch does not read the same target again and again.
    var targets: [ManagedObject] = []
    /// The rows that came last for the group: the row cache of the container knows them for as long as they are kept
    /// here.
    var batch: RowBatch?

    init(keys: [Int64], batch: RowBatch? = nil) {
        self.keys = keys
        // One object must not keep the rows of a hundred thousand alive.
        self.batch = batch.flatMap { $0.count <= Self.limit ? $0 : nil }
    }

    deinit {
        if !targets.isEmpty { DeepRelease.clear(&targets, to: []) }
    }

    /// The most objects that one fault loads at once; beyond it, memory would be at stake.
    static let limit = 20_000

    /// The keys to load with the given one: all, or the next ones in order if there are too many.
    func keys(around key: Int64) -> ArraySlice<Int64> {
        guard keys.count > Self.limit, let index = keys.firstIndex(of: key) else { return keys[...] }
        return keys[index..<min(keys.count, index + Self.limit)]
    }
}
