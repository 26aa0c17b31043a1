/// A to-many relationship of one object that was touched: the members if they were loaded, and its pending changes.
///
/// Adding and removing loads nothing. Where the other end is a to-one, its rows say who is a member, and the state only
/// notes that something changed; pairs and orders are noted in full until the save. A rollback forgets the members of a
/// changed relationship, so that they are loaded again.
final class ToManyState {
    /// The members as the application sees them; nil while they have not been loaded.
    var members: MemberStorage?
    /// Whether the application was shown no members because they could not be read. A value that it assigns now may rest on
    /// that.
    var readFailed = false
    /// Whether members were added or removed since the last save.
    var isTouched = false
    /// Pairs that the next save adds, by the key of the other end.
    var added: [Int64: ManagedObject] = [:]
    /// Pairs that the next save removes.
    var removed: [Int64: ManagedObject] = [:]
    /// Members that were put last, in this order, since the last save.
    private(set) var appended = ObjectList<ManagedObject>()
    /// Whether the order was changed in another way than by appending.
    private(set) var isRearranged = false
    /// The order that the application made, in which members that are away at the moment keep their place; nil while it is
    /// the order of ``members``.
    private var ownArrangement: ObjectList<ManagedObject>?

    deinit {
        if members != nil { DeepRelease.clear(&members, to: nil) }
        if !added.isEmpty { DeepRelease.clear(&added, to: [:]) }
    }

    var hasChanges: Bool { isTouched || isRearranged }

    /// The order that the application made, if it made one.
    var arrangement: [ManagedObject] {
        guard isRearranged else { return [] }
        return ownArrangement?.objects ?? members?.objects ?? []
    }

    // MARK: Changes

    /// Notes a pair that the next save adds or removes.
    func notePair(_ member: ManagedObject, added isAdded: Bool) {
        if isAdded {
            removed[member.key] = nil
            added[member.key] = member
        } else {
            added[member.key] = nil
            removed[member.key] = member
        }
    }

    /// Puts a new member last.
    func noteAppended(_ member: ManagedObject, isOrdered: Bool) {
        if isOrdered {
            appended.moveToEnd(member)
            ownArrangement?.moveToEnd(member)
        }
        isTouched = true
        members?.insert(member)
    }

    /// Takes a member out.
    func noteRemoved(_ member: ManagedObject) {
        appended.remove(member)
        ownArrangement?.remove(member)
        isTouched = true
        _ = members?.remove(member)
    }

    /// Gives the members another order.
    func rearrange(_ objects: [ManagedObject], _ list: AnyMemberList) {
        isRearranged = true
        list.replaceAll(objects)
        ownArrangement = members === list ? nil : ObjectList(objects)
    }

    /// Moves a member to a position.
    func move(_ member: ManagedObject, to position: Int, _ list: AnyMemberList) {
        isRearranged = true
        list.move(member, to: position)
        ownArrangement = members === list ? nil : ObjectList(list.objects)
    }

    /// Puts members last in an order that another context made.
    func append(_ objects: [ManagedObject]) {
        isTouched = true
        for object in objects {
            appended.moveToEnd(object)
            if isRearranged { ownArrangement?.moveToEnd(object) }
        }
        guard let list = members as? AnyMemberList else { return }
        let moved = Set(objects)
        list.replaceAll(list.objects.filter { !moved.contains($0) } + objects)
    }

    /// Replaces members that gave way to others.
    func replaceAppended(_ replacement: (ManagedObject) -> ManagedObject) {
        appended = ObjectList(appended.objects.map(replacement))
    }

    /// Forgets that members were put last.
    func forgetAppended(where isForgotten: (ManagedObject) -> Bool) {
        for object in appended.objects where isForgotten(object) { appended.remove(object) }
    }

    /// Forgets what was to be added and removed of some members.
    func forgetPending(where isForgotten: (ManagedObject) -> Bool) {
        if added.values.contains(where: isForgotten) { added = added.filter { !isForgotten($0.value) } }
        if removed.values.contains(where: isForgotten) { removed = removed.filter { !isForgotten($0.value) } }
        forgetAppended(where: isForgotten)
    }

    /// Forgets that the order was changed.
    func forgetOrder() {
        isRearranged = false
        ownArrangement = nil
        appended = ObjectList()
    }

    /// Forgets changes: they were saved.
    func clearChanges() {
        isTouched = false
        added = [:]
        removed = [:]
        forgetOrder()
    }

    // MARK: Members

    /// Takes a member out that others have deleted. It keeps its place in an order that the application made.
    func hide(_ member: ManagedObject) {
        keepArrangement()
        _ = members?.remove(member)
    }

    /// Forgets members, but neither pending changes nor an order that the application made.
    func forgetLoaded() {
        keepArrangement()
        members = nil
    }

    private func keepArrangement() {
        if isRearranged, ownArrangement == nil { ownArrangement = ObjectList(members?.objects ?? []) }
    }

    /// Forgets members and changes.
    func unload() {
        clearChanges()
        members = nil
    }

    /// A copy with members of its own.
    func copy() -> ToManyState {
        let result = ToManyState()
        result.members = members?.copy()
        result.isTouched = isTouched
        result.added = added
        result.removed = removed
        result.appended = appended
        result.isRearranged = isRearranged
        result.ownArrangement = ownArrangement
        return result
    }
}
