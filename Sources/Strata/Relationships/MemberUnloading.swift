import StrataStore

/// Forgets members of to-many relationships that may no longer be right, so that they are loaded again. Pending
/// changes, and an order that the application made, stay.
struct MemberUnloading {
    let core: ContextCore

    /// The members of the relationships that lead back from a row's targets.
    func owners(of row: RowPointer, _ binding: EntityBinding) {
        for (slot, relationship) in binding.toOnes { owner(row, slot, relationship) }
    }

    /// The members of the relationships that lead back from where an object led before and leads now, as far as the two
    /// differ.
    func owners(from before: RowPointer, to after: RowPointer, _ binding: EntityBinding) {
        for (slot, relationship) in binding.toOnes where !before.hasSameValue(as: after, slot: slot, storage: .key) {
            owner(before, slot, relationship)
            owner(after, slot, relationship)
        }
    }

    /// The members of the relationship that leads back from the target of one slot of a row.
    func owner(_ row: RowPointer, _ slot: Int, _ relationship: RelationshipDescription) {
        guard row.isPresent(slot), let index = core.model.inverse(of: relationship)?.toManyIndex,
            let owner = core.object(relationship.destinationIndex, Int64(bitPattern: row.word(slot)))
        else { return }
        members(of: owner, index)
    }

    /// The members of the relationship that leads back from the target of a slot, if it is one of a relationship.
    func members(ledBackFrom object: ManagedObject, _ slot: Int) {
        if let relationship = object.relationship(slot: slot) { owner(object.row, slot, relationship) }
    }

    /// The members of one relationship.
    func members(of owner: ManagedObject, _ index: Int) {
        guard let state = owner.extras?.toMany(index), state.members != nil, !owner.isInserted else { return }
        owner.mutating(owner.observerIndex(toMany: index)) { state.forgetLoaded() }
    }

    /// The members of all relationships of an object.
    func allMembers(of owner: ManagedObject) {
        for index in (owner.extras?.toManys ?? []).indices { members(of: owner, index) }
    }

    /// The members of every many-to-many relationship that has or could have one of some objects among them.
    func pairs(with objects: [ManagedObject]) { pairs(of: Set(objects.map(\.binding.entity.index))) }

    /// The members of every many-to-many relationship that may have objects of some entities among them.
    func pairs(of entities: Set<Int>) {
        guard !entities.isEmpty else { return }
        let model = core.model
        var seen: Set<RelationshipDescription> = []
        for entity in entities {
            for relationship in model.entities[entity].relationships where relationship.isToMany {
                guard let inverse = model.inverse(of: relationship), let other = inverse.toManyIndex,
                    seen.insert(inverse).inserted
                else { continue }
                for owner in core.identityMap.table(relationship.destinationIndex).objects
                where owner.binding.entity.descends(from: relationship.destinationIndex, in: model) {
                    members(of: owner, other)
                }
            }
        }
    }

    /// The members at the other ends of changed objects: they may have been loaded after the change, and so by it.
    func ends(of objects: [ManagedObject]) {
        for object in objects {
            owners(of: object.row, object.binding)
            if let snapshot = object.changes?.snapshot { owners(of: snapshot.row, object.binding) }
        }
        let deleted = objects.filter { $0.flags.contains(.deleted) }
        for object in deleted { object.forgetLoadedMembers() }
        pairs(with: deleted)
    }

    /// Takes back the pending pairs of an object, on both sides.
    func pendingPairs(of object: ManagedObject) {
        for (index, state) in (object.extras?.toManys ?? []).enumerated() {
            guard let state else { continue }
            if let other = core.model.inverse(of: object.relationship(toMany: index))?.toManyIndex {
                for member in Array(state.added.values) + Array(state.removed.values) {
                    guard let back = member.extras?.toMany(other) else { continue }
                    core.tracker.willChangeMembers(member, other)
                    back.added[object.key] = nil
                    back.removed[object.key] = nil
                    back.forgetAppended { $0 === object }
                    member.mutating(member.observerIndex(toMany: other)) { back.forgetLoaded() }
                }
            }
            if state.hasChanges { core.tracker.willChangeMembers(object, index) }
            object.mutating(object.observerIndex(toMany: index)) { state.unload() }
        }
    }
}

extension ContextCore {
    var unloading: MemberUnloading { MemberUnloading(core: self) }
}
