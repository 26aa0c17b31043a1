/// Online saves of which nobody knows whether the server has carried them out. Each keeps its token and its body, and is
/// sent again in front of the next save of its object: so the server does it once, and nobody is in conflict with himself.
/// Kept in memory, as the unsaved changes of contexts are.
final class UnknownWrites: Sendable {
    /// By topmost entity and key.
    private let writes = Guarded<[RowIdentity: MirrorWrite]>([:])

    /// The answer to a write was lost. An earlier one of the object, of which nothing is known either, comes first.
    func add(_ write: MirrorWrite, _ identity: RowIdentity) {
        writes.withLock { $0[identity] = $0[identity] ?? write }
    }

    /// Whether all answers are known.
    var isEmpty: Bool { writes.withLock(\.isEmpty) }

    func write(of identity: RowIdentity) -> MirrorWrite? { writes.withLock { $0[identity] } }

    func remove(_ identity: RowIdentity) { writes.withLock { $0[identity] = nil } }

    func remove(_ isForgotten: ((RemoteIdentity) -> Bool)?) {
        writes.withLock { writes in
            writes = writes.filter { _, write in
                guard let isForgotten else { return false }
                return !isForgotten(RemoteIdentity(entity: write.entity.rootName, id: write.write.id))
            }
        }
    }
}
