/// The rows that are here because a context needs them, and that are not part of the mirror otherwise: by topmost
/// entity.
final class PassingKeys: Sendable {
    private let keys = Guarded<[Int: Set<Int64>]>([:])

    func add(_ new: some Sequence<Int64>, rootIndex: Int) {
        keys.withLock { $0[rootIndex, default: []].formUnion(new) }
    }

    func remove(_ kept: some Sequence<Int64>, rootIndex: Int) {
        keys.withLock { all in
            guard all[rootIndex] != nil else { return }
            all[rootIndex]?.subtract(kept)
        }
    }

    func of(_ rootIndex: Int) -> Set<Int64> { keys.withLock { $0[rootIndex] ?? [] } }

    var all: [Int: Set<Int64>] { keys.withLock { $0 } }
}
