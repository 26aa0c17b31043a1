import StrataStore

/// Online saves whose outcome is not known. Each keeps its token and its body, and is sent again before the next save
/// of its object: the server carries it out once, and the client does not conflict with itself. Kept in memory, as the
/// unsaved changes of contexts are.
final class UnknownWrites: Sendable {
    /// By topmost entity and key.
    private let writes = Guarded<[RowIdentity: UnknownWrite]>([:])

    /// The answer to a write was lost. An earlier one of the object, of which nothing is known either, comes first.
    func add(_ write: MirrorWrite, _ identity: RowIdentity) {
        writes.withLock { $0[identity] = $0[identity] ?? UnknownWrite(write: write) }
    }

    /// From now on something else is to be sent again of an object.
    func put(_ unknown: UnknownWrite, _ identity: RowIdentity) { writes.withLock { $0[identity] = unknown } }

    /// Whether all answers are known.
    var isEmpty: Bool { writes.withLock(\.isEmpty) }

    func write(of identity: RowIdentity) -> UnknownWrite? { writes.withLock { $0[identity] } }

    func remove(_ identity: RowIdentity) { writes.withLock { $0[identity] = nil } }

    func remove(_ isForgotten: ((RemoteIdentity) -> Bool)?) {
        writes.withLock { writes in
            writes = writes.filter { _, unknown in
                guard let isForgotten else { return false }
                let write = unknown.write
                return !isForgotten(RemoteIdentity(entity: write.entity.rootName, id: write.write.id))
            }
        }
    }
}

/// What is sent again of an object.
struct UnknownWrite: Sendable {
    let write: MirrorWrite
    /// For an object that the mirror has not got yet: as the server had it before ``write``, which changes it then.
    var born: MirrorWrite?
    /// How often the server has refused to be told again.
    var refusals = 0

    /// Whether the mirror has not got the object yet.
    var isOfNewObject: Bool { write.kind == .insert || born != nil }

    /// What the server has of the write's properties, and of all of a new object, once it has carried it out.
    var told: [String: RemoteValue] { (born.map { $0.changed(by: write) } ?? write).write.values }

    /// What is to be sent again once the server is known to have carried out this write, and nothing is known of the next.
    func followed(by next: MirrorWrite) -> UnknownWrite {
        // One that the server has renamed is named by its creation.
        guard next.write.id == write.write.id else { return self }
        return UnknownWrite(write: next, born: write.kind == .insert ? write : born?.changed(by: write))
    }
}

extension MirrorWrite {
    /// A new object as it is after a change.
    fileprivate func changed(by change: MirrorWrite) -> MirrorWrite {
        var result = self
        result.write.values.merge(change.write.values) { $1 }
        result.write.values.merge(change.computed.mapValues(\.after)) { $1 }
        for relation in change.relations {
            var members: [String] = []
            if case .references(let list)? = result.write.values[relation.relationship] { members = list }
            members.removeAll { relation.removed.contains($0) || relation.added.contains($0) }
            result.write.values[relation.relationship] = .references(members + relation.added)
        }
        return result
    }
}
