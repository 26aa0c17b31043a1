/// Keys of deleted objects, by hierarchy. Beyond ``limit`` keys in a hierarchy it only knows that any key may be one.
struct KnownDeletions {
    static let limit = 10_000

    private var keys: [Int: Set<Int64>] = [:]
    /// Hierarchies of which any key may be deleted.
    private var overflowed: Set<Int> = []
    private var isAny = false

    mutating func add(_ more: [Int: Set<Int64>]) {
        for (root, added) in more where !overflowed.contains(root) && !isAny {
            keys[root, default: []].formUnion(added)
            guard keys[root, default: []].count > Self.limit else { continue }
            keys[root] = nil
            overflowed.insert(root)
        }
    }

    mutating func addAll() {
        keys = [:]
        overflowed = []
        isAny = true
    }

    func mayContain(_ key: Int64, rootIndex: Int) -> Bool {
        isAny || overflowed.contains(rootIndex) || keys[rootIndex]?.contains(key) == true
    }
}
