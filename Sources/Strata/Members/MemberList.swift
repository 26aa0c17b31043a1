/// Members in order.
@usableFromInline
class AnyMemberList: MemberStorage {
    func replaceAll(_ objects: [ManagedObject]) {}
    /// Moves a member to a position; positions beyond the ends count as the ends.
    func move(_ object: ManagedObject, to position: Int) {}
}

/// Members in order, of a known class.
@usableFromInline
final class MemberList<D: ManagedObject>: AnyMemberList {
    /// The members in order, unless ``isStale``.
    private var settled: [D] = []
    /// The same with an index, once membership was asked of a long list or a member was removed.
    private var indexed: ObjectList<D>?
    /// Whether members were removed from ``indexed`` since ``settled`` was read.
    private var isStale = false

    /// The members in order.
    @usableFromInline var list: [D] {
        if isStale, let indexed {
            settled = indexed.objects
            isStale = false
        }
        return settled
    }

    override var count: Int { indexed?.count ?? settled.count }

    override func contains(_ object: ManagedObject) -> Bool {
        if indexed == nil {
            if settled.count < 16 { return settled.contains { $0 === object } }
            indexed = ObjectList(settled)
        }
        return indexed?.contains(object) ?? false
    }

    override func insert(_ object: ManagedObject) {
        guard let member = object as? D, !contains(object) else { return }
        indexed?.append(member)
        if !isStale { settled.append(member) }
    }

    override func remove(_ object: ManagedObject) -> Bool {
        guard contains(object) else { return false }
        if indexed == nil { indexed = ObjectList(settled) }
        settled = []
        isStale = true
        return indexed?.remove(object) ?? false
    }

    override func replaceAll(_ objects: [ManagedObject]) { replace(objects.compactMap { $0 as? D }) }

    override func move(_ object: ManagedObject, to position: Int) {
        guard let member = object as? D else { return }
        var members = list
        settled = []
        if let index = members.firstIndex(where: { $0 === member }) { members.remove(at: index) }
        members.insert(member, at: min(max(position, 0), members.count))
        replace(members)
    }

    private func replace(_ members: [D]) {
        settled = members
        indexed = nil
        isStale = false
    }

    override func forEach(_ body: (ManagedObject) -> Void) { list.forEach(body) }

    override func copy() -> MemberStorage {
        let result = MemberList<D>()
        result.settled = list
        return result
    }
}
