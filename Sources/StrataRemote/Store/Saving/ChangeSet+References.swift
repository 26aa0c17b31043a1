import StrataSQLite
import StrataStore

// What changes say of objects that others have deleted since.
extension ChangeSet {
    /// The objects that the changes refer to, by topmost entity and key, but for those that they make.
    func referenced(_ model: ManagedObjectModel) -> Set<RowIdentity> {
        var result: Set<RowIdentity> = []
        func add(_ entityIndex: Int, _ keys: [Int64]) {
            let root = model.entities[entityIndex].rootIndex
            for key in keys { result.insert(RowIdentity(entityIndex: root, key: key)) }
        }
        for row in inserts.map(\.row) + updates.map(\.row) {
            _ = row.withoutReferences(model) { _, target in
                result.insert(target)
                return false
            }
        }
        for pair in pairs {
            add(pair.entityIndex, [pair.owner])
            add(model.entities[pair.entityIndex].relationships[pair.relationshipIndex].destinationIndex, pair.added)
        }
        for order in orders {
            add(order.entityIndex, [order.owner])
            add(
                model.entities[order.entityIndex].relationships[order.relationshipIndex].destinationIndex, order.members
            )
        }
        for insert in inserts { result.remove(insert.row.identity(model)) }
        return result
    }

    /// The changes without what they say of some objects: references to these become nil, and they are not members of anything.
    /// - Returns: The changes, and the objects whose relationships differ from what was to be saved.
    func without(
        _ gone: Set<RowIdentity>, _ model: ManagedObjectModel
    ) -> (changes: ChangeSet, altered: Set<RowIdentity>) {
        var altered: Set<RowIdentity> = []
        func without(_ row: RowReference) -> RowReference {
            let part = row.withoutReferences(model) { _, target in gone.contains(target) }
            if part.slab !== row.slab { altered.insert(row.identity(model)) }
            return part
        }
        func isThere(_ entityIndex: Int, _ key: Int64) -> Bool {
            !gone.contains(RowIdentity(entityIndex: model.entities[entityIndex].rootIndex, key: key))
        }
        var result = self
        result.inserts = inserts.map { Insert(row: without($0.row)) }
        result.updates = updates.map { Update(row: without($0.row), slots: $0.slots, baseVersion: $0.baseVersion) }
        result.pairs = pairs.compactMap { pair in
            let end = model.entities[pair.entityIndex].relationships[pair.relationshipIndex].destinationIndex
            guard isThere(pair.entityIndex, pair.owner) else { return nil }
            return PairChange(
                entityIndex: pair.entityIndex, relationshipIndex: pair.relationshipIndex, owner: pair.owner,
                added: pair.added.filter { isThere(end, $0) }, removed: pair.removed)
        }
        result.orders = orders.compactMap { order in
            let end = model.entities[order.entityIndex].relationships[order.relationshipIndex].destinationIndex
            guard isThere(order.entityIndex, order.owner) else { return nil }
            return order.keeping { isThere(end, $0) }
        }
        return (result, altered)
    }
}

// What changes say of members of which later changes wait to be sent.
extension ChangeSet {
    /// The owners of the members that change, by topmost entity and key.
    func owners(_ model: ManagedObjectModel) -> Set<RowIdentity> {
        Set(
            pairs.map { RowIdentity(entityIndex: model.entities[$0.entityIndex].rootIndex, key: $0.owner) }
                + orders.map { RowIdentity(entityIndex: model.entities[$0.entityIndex].rootIndex, key: $0.owner) })
    }

    /// The changes without what others have changed since: what has been added or removed stays so, and what has been arranged
    /// keeps its order, with new members at the end.
    /// - Parameter waiting: What waits to be sent, by owner.
    func below(_ waiting: [RowIdentity: [MemberChange]], _ model: ManagedObjectModel) -> ChangeSet {
        func later(_ entityIndex: Int, _ relationshipIndex: Int, _ owner: Int64) -> [MemberChange] {
            let entity = model.entities[entityIndex]
            let name = entity.relationships[relationshipIndex].name
            return (waiting[RowIdentity(entityIndex: entity.rootIndex, key: owner)] ?? [])
                .filter { $0.relationship == name }
        }
        var result = self
        result.pairs = pairs.compactMap { pair in
            let later = later(pair.entityIndex, pair.relationshipIndex, pair.owner)
            if later.isEmpty { return pair }
            func isFree(_ key: Int64) -> Bool { !later.contains { $0.concerns(key) } }
            let (added, removed) = (pair.added.filter(isFree), pair.removed.filter(isFree))
            guard !added.isEmpty || !removed.isEmpty else { return nil }
            return PairChange(
                entityIndex: pair.entityIndex, relationshipIndex: pair.relationshipIndex, owner: pair.owner,
                added: added, removed: removed)
        }
        result.orders = orders.compactMap { order in
            guard case .arrange = order.kind,
                later(order.entityIndex, order.relationshipIndex, order.owner).contains(where: \.isOrder)
            else { return order }
            let added = pairs.first {
                $0.entityIndex == order.entityIndex && $0.relationshipIndex == order.relationshipIndex
                    && $0.owner == order.owner
            }?.added
            guard let added, !added.isEmpty else { return nil }
            return OrderChange(
                entityIndex: order.entityIndex, relationshipIndex: order.relationshipIndex, owner: order.owner,
                kind: .append(added))
        }
        return result
    }
}

extension RowReference {
    /// The row with some of its references set to nil; the same one if it has none of these.
    /// - Parameter isLeft: Whether to leave a reference out, by its relationship and the object that it leads to.
    func withoutReferences(
        _ model: ManagedObjectModel, where isLeft: (RelationshipDescription, RowIdentity) -> Bool
    ) -> RowReference {
        let entity = model.entities[row.entityIndex]
        var copy: RowSlab?
        for slot in entity.slots where slot.storage == .key && row.isPresent(slot.index) {
            guard let relationship = slot.relationshipIndex.map({ entity.relationships[$0] }) else { continue }
            let root = model.entities[relationship.destinationIndex].rootIndex
            let target = RowIdentity(entityIndex: root, key: Int64(bitPattern: row.word(slot.index)))
            guard isLeft(relationship, target) else { continue }
            let slab = copy ?? RowSlab.copy(of: row)
            RowEditing.setNil(slot.index, in: slab)
            copy = slab
        }
        return copy.map { RowReference(slab: $0, row: $0.row) } ?? self
    }

    /// The row's object, by topmost entity and key.
    func identity(_ model: ManagedObjectModel) -> RowIdentity {
        RowIdentity(entityIndex: model.entities[row.entityIndex].rootIndex, key: row.key)
    }
}

extension ChangeSet.OrderChange {
    fileprivate var members: [Int64] {
        switch kind {
        case .append(let keys), .arrange(let keys): keys
        }
    }

    /// The change for some of the members.
    func keeping(_ isKept: (Int64) -> Bool) -> Self {
        let kind: Kind =
            switch kind {
            case .append(let keys): .append(keys.filter(isKept))
            case .arrange(let keys): .arrange(keys.filter(isKept))
            }
        return Self(entityIndex: entityIndex, relationshipIndex: relationshipIndex, owner: owner, kind: kind)
    }
}
