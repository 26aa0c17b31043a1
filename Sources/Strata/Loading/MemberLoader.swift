/// Loads the members of to-many relationships: always for a whole batch.
struct MemberLoader {
    let core: ContextCore

    private var model: ManagedObjectModel { core.model }

    /// Loads a relationship for all objects of the batch of an object.
    /// - Returns: How many objects these are.
    @discardableResult
    func load(toMany index: Int, of object: ManagedObject) throws(PersistenceError) -> Int {
        let relationship = object.relationship(toMany: index)
        var owners: [Int64: ManagedObject] = [object.key: object]
        if let batch = object.batch {
            let table = core.identityMap.table(object.binding.entity.index)
            for key in batch.keys(around: object.key) {
                guard let other = table.object(key), other.flags.isDisjoint(with: [.missing, .inserted]),
                    index < other.binding.entity.toManyIndexes.count,
                    other.relationship(toMany: index).hasSameDeclaration(as: relationship),
                    other.extras?.toMany(index)?.members == nil
                else { continue }
                owners[key] = other
            }
        }
        try load(relationship, of: owners)
        return owners.count
    }

    /// Loads a relationship for some objects that have it and have not loaded it.
    /// - Parameter areAll: Whether these are all that there are.
    func load(
        _ relationship: RelationshipDescription, of owners: [Int64: ManagedObject], areAll: Bool = false
    ) throws(PersistenceError) {
        guard let index = relationship.toManyIndex, let first = owners.values.first else { return }
        let entity = first.binding.entity
        let members = try members(of: relationship, entityIndex: entity.index, owners: owners, areAll: areAll)
        for (key, owner) in owners {
            let state = owner.toManyState(index)
            state.members = members[key] ?? owner.makeStorage(index)
            state.readFailed = false
        }
        if case .pairs = relationship.storage {
            core.pairOwners.add(owners.keys, ToManySide(entity, toMany: index))
        }
    }

    /// The members of some owners as this context sees them, by owner.
    private func members(
        of relationship: RelationshipDescription, entityIndex: Int, owners: [Int64: ManagedObject],
        areAll: Bool = false
    ) throws(PersistenceError) -> [Int64: MemberStorage] {
        let index = relationship.toManyIndex ?? 0
        let keys = owners.keys.sorted()
        var result: [Int64: MemberStorage] = [:]
        func storage(_ key: Int64) -> MemberStorage {
            if let found = result[key] { return found }
            let made = owners[key]?.makeStorage(index) ?? ManagedObject.makeMembers(ordered: false, isClosed: true)
            result[key] = made
            return made
        }
        if case .inverseSlot(let slot) = relationship.storage {
            let reader = StoreMembers(core: core, relationship: relationship, entityIndex: entityIndex, slot: slot)
            let runs = try reader.runs(owners: keys, areAll: areAll)
            for run in runs where owners[run.owner] != nil { storage(run.owner).insert(contentsOf: run.members) }
            let isOrdered = relationship.isOrdered
            var unordered: [(owner: Int64, member: ManagedObject)] = []
            for member in core.tracker.objects
            where !member.isDeleted && member.hasChanges
                && member.binding.entity.descends(from: relationship.destinationIndex, in: model)
            {
                guard let owner = member.targetKey(slot), let state = owners[owner] else { continue }
                guard state.extras?.toMany(index)?.appended.contains(member) != true else { continue }
                if isOrdered { unordered.append((owner, member)) } else { storage(owner).insert(member) }
            }
            if isOrdered {
                // Those that were set to lead to an owner while it was deleted have no order. A child must find the same one.
                unordered.sort { $0.member.key < $1.member.key }
                for (owner, member) in unordered { storage(owner).insert(member) }
            }
        } else {
            for (owner, member) in try pairs(relationship, entityIndex: entityIndex, owners: keys) {
                storage(owner).insert(member)
            }
        }
        for (key, owner) in owners {
            if let state = owner.extras?.toMany(index) {
                apply(state, to: storage(key), owner: key, relationship)
            }
        }
        return result
    }

    /// Puts pending changes on top of members that were read.
    private func apply(
        _ state: ToManyState, to storage: MemberStorage, owner: Int64, _ relationship: RelationshipDescription
    ) {
        for object in state.removed.values { _ = storage.remove(object) }
        for object in state.added.values where !object.isDeleted && !state.appended.contains(object) {
            storage.insert(object)
        }
        for object in state.appended.objects where !object.isDeleted {
            if case .inverseSlot(let slot) = relationship.storage, object.targetKey(slot) != owner { continue }
            // Where the order was arranged, the arrangement gives the place. Others may have added the object, too, and then
            // what follows it there follows it here.
            if !state.isRearranged { _ = storage.remove(object) }
            storage.insert(object)
        }
        if state.isRearranged, let list = storage as? AnyMemberList {
            let present = Set(list.objects)
            list.replaceAll(OrderMerge.merge(state.arrangement.filter(present.contains), with: list.objects))
        }
    }

    /// The members of owners whose relationship is kept as pairs. Unknown ones become faults.
    private func pairs(
        _ relationship: RelationshipDescription, entityIndex: Int, owners: [Int64]
    ) throws(PersistenceError) -> [(owner: Int64, member: ManagedObject)] {
        let pairs: [(owner: Int64, member: Int64)]
        if let parent = core.parent {
            pairs = try parent.core.members.shown(relationship, entityIndex: entityIndex, owners: owners)
                .flatMap { entry in entry.members.map { (entry.owner, $0.key) } }
        } else {
            pairs = try core.readStore { (store) throws(StoreError) in
                try store.memberKeys(
                    entityIndex: entityIndex, relationshipIndex: relationship.index, owners: owners)
            }
        }
        let table = core.identityMap.table(relationship.destinationIndex)
        var seen: Set<Int64> = []
        let unknown = pairs.map(\.member).filter { table.object($0) == nil && seen.insert($0).inserted }
        let made = try core.targets.makeTargets(unknown, destinationIndex: relationship.destinationIndex)
        // `made` keeps the new objects alive until the pairs hold them.
        return withExtendedLifetime(made) {
            pairs.compactMap { pair in
                guard let member = table.object(pair.member), !member.isDeleted else { return nil }
                return (pair.owner, member)
            }
        }
    }

    /// The members of owners as this context shows them to a child: its own objects, with their rows, loaded for all the
    /// owners at once.
    func shown(
        _ relationship: RelationshipDescription, entityIndex: Int, owners: [Int64]
    ) throws(PersistenceError) -> [(owner: Int64, members: [ManagedObject])] {
        let index = relationship.toManyIndex ?? 0
        let batch = FaultBatch(keys: owners)
        let table = core.identityMap.table(entityIndex)
        // The owners may be of several entities of the hierarchy; where that is so, only their rows tell which.
        let made = try core.targets.makeTargets(
            owners.filter { table.object($0) == nil }, destinationIndex: core.rootIndex(of: entityIndex))
        let objects = withExtendedLifetime(made) { owners.compactMap { table.object($0) } }
        for object in objects { object.join(batch) }
        for object in objects
        where !object.flags.contains(.missing) && object.toManyState(index).members == nil {
            try load(toMany: index, of: object)
        }
        var shown: [(owner: Int64, members: [ManagedObject])] = []
        for owner in objects where !owner.isDeleted {
            shown.append((owner: owner.key, members: try owner.loadedMembers(toMany: index).objects))
        }
        let deleted = objects.filter { !$0.isShown }
        if case .inverseSlot = relationship.storage, !deleted.isEmpty {
            // The child may have changed these, and then they live on there: with those that are set to lead to them here. Others may
            // have done that after the delete.
            let owners = Dictionary(deleted.map { ($0.key, $0) }) { first, _ in first }
            let members = try members(of: relationship, entityIndex: entityIndex, owners: owners)
            shown += members.sorted { $0.key < $1.key }.map { (owner: $0.key, members: $0.value.objects) }
        }
        for object in shown.flatMap(\.members) where object.isFault { try core.faults.load(object) }
        return shown.map { entry in (entry.owner, entry.members.filter { !$0.isDeleted }) }
    }
}

extension ContextCore {
    var members: MemberLoader { MemberLoader(core: self) }
}

extension EntityDescription {
    /// Whether the entity is the one at a position, or inherits from it.
    func descends(from index: Int, in model: ManagedObjectModel) -> Bool {
        self.index == index
            || (rootIndex == model.entities[index].rootIndex
                && model.entities[index].descendantIndexes.contains(self.index))
    }
}
