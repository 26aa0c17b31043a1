import StrataStore

/// Online saves whose outcome is not known. Each keeps its token and its body, and is sent again before the next save
/// of its object: the server carries it out once, and the client does not conflict with itself. A save that is known to be
/// carried out by now stays here while contexts have its changes to save. Kept in memory, as these are.
final class UnknownWrites: Sendable {
    /// By topmost entity and key.
    private let writes = Guarded<[RowIdentity: UnknownWrite]>([:])

    /// The answer to a write was lost. An earlier one of the object, of which nothing is known either, comes first.
    func add(_ write: MirrorWrite, _ identity: RowIdentity) {
        writes.withLock { $0[identity] = $0[identity] ?? UnknownWrite(write: write) }
    }

    /// From now on something else is to be sent again of an object, or nothing.
    func put(_ unknown: UnknownWrite?, _ identity: RowIdentity) { writes.withLock { $0[identity] = unknown } }

    /// Whether all answers are known.
    var isEmpty: Bool { writes.withLock(\.isEmpty) }

    func write(of identity: RowIdentity) -> UnknownWrite? { writes.withLock { $0[identity] } }

    func remove(_ identity: RowIdentity) { writes.withLock { $0[identity] = nil } }

    func remove(_ isForgotten: ((RemoteIdentity) -> Bool)?) {
        writes.withLock { writes in
            writes = writes.filter { _, unknown in
                guard let isForgotten else { return false }
                return !isForgotten(unknown.write.rootedName)
            }
        }
    }
}

/// What an earlier save has sent of an object, and what contexts still have to save: it is left out of their next save.
struct UnknownWrite: Sendable {
    private(set) var write: MirrorWrite
    /// The write before ``write``, which the server has carried out; of an object that the mirror has not got yet, all that the
    /// server has then, as an insert.
    var before: MirrorWrite?
    /// Whether the server is known to have carried the write out, so that it is not sent again.
    var isCarriedOut = false
    /// Whether the mirror has the object with what was carried out.
    private(set) var isHere = false
    /// How often the server has refused to be told again.
    var refusals = 0

    /// For an object that the mirror has not got yet: as the server had it before ``write``, which changes it then.
    var born: MirrorWrite? { before?.kind == .insert ? before : nil }

    /// Whether the mirror has not got the object yet.
    var isOfNewObject: Bool { write.kind == .insert || born != nil }

    /// The same, known to be carried out.
    var carriedOut: UnknownWrite {
        var result = self
        result.isCarriedOut = true
        return result
    }

    /// The same, but for some attributes.
    func without(_ names: Set<String>) -> UnknownWrite {
        var result = self
        for name in names {
            result.write.write.values[name] = nil
            result.write.write.operations[name] = nil
            result.write.computed[name] = nil
        }
        return result
    }

    /// What the server has of the write's properties, and of all of a new object, once it has carried it out.
    var told: [String: RemoteValue] { (born.map { $0.changed(by: write) } ?? write).write.values }

    /// What is to be sent again once the server is known to have carried out this write, and nothing is known of the next.
    func followed(by next: MirrorWrite) -> UnknownWrite {
        // One that the server has renamed is named by its creation.
        guard next.write.id == write.write.id else { return self }
        return UnknownWrite(write: next, before: write.kind == .insert ? write : born?.changed(by: write) ?? write)
    }

    /// What is left of a write that the server has carried out once the mirror has the object as it is now: contexts still have
    /// its operations. nil if it has none.
    static func operations(of write: MirrorWrite) -> UnknownWrite? {
        guard write.kind == .update else { return nil }
        var rest = write
        rest.computed = write.computed.filter { !$0.value.covered.isEmpty }
        rest.write.values = write.write.values.filter { rest.computed[$0.key] != nil }
        rest.write.operations = write.write.operations.filter { rest.computed[$0.key] != nil }
        rest.relations = []
        return rest.computed.isEmpty ? nil : UnknownWrite(write: rest, isCarriedOut: true, isHere: true)
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
