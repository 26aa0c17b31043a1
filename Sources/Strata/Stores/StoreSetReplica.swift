import StrataStore

/// Reads for one context from the stores of a container that has several: from copies of those that have some, and from the
/// others themselves.
final class StoreSetReplica: ReplicaReader, PartReader {
    let set: StoreSet
    /// In the order of the stores; nil for a store without copies.
    private let readers: [(any ReplicaReader)?]

    /// - Returns: nil if no store has copies.
    init?(_ set: StoreSet, isFresh: Bool) {
        let readers = set.parts.map { $0.store.replicaReader(isFresh: isFresh) }
        guard readers.contains(where: { $0 != nil }) else { return nil }
        self.set = set
        self.readers = readers
    }

    func reader(at position: Int) -> any StoreReader { readers[position] ?? set.parts[position].store }

    /// Each of them only grows.
    var generation: Int { readers.reduce(0) { $0 + ($1?.generation ?? 0) } }

    func beginReadingPrimary() {
        for reader in readers { reader?.beginReadingPrimary() }
    }

    func endReadingPrimary() {
        for reader in readers { reader?.endReadingPrimary() }
    }
}
