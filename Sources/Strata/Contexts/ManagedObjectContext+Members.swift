// Members of to-many relationships whose other end is a to-one, and rows that need not be read because the context has
// them.

extension ManagedObjectContext {
    /// Tells a store which rows of a hierarchy it need not read, because the object of each has it at the same version;
    /// nil if the context knows no object of the hierarchy.
    ///
    /// ``materialize(_:refreshing:)`` takes the headers that come instead. Nobody else may be handed them: they have no
    /// slots, so that reading one traps, and the row cache leaves them out.
    func knownRows(entityIndex: Int) -> KnownRows? {
        let table = tables[entityIndex]
        guard table.count > 0 else { return nil }
        return { entityIndex, key, version in
            guard let object = table.object(key) else { return false }
            return object.row.version == version && object.row.entityIndex == entityIndex
                && object.flags.isDisjoint(with: [.fault, .missing])
        }
    }

    /// The object of a header.
    ///
    /// Reading is synchronous, so the object that the store was told of is still there; only an `awakeFromFetch` that
    /// ran for another row of the batch may have let go of it, or have refreshed it. Then a fault stands for the row,
    /// and reads it when it is touched.
    func materialize(header row: RowPointer, known: ManagedObject?, group: FetchGroup?) -> ManagedObject {
        guard let known else {
            let binding = coordinator.bindings[row.entityIndex]
            return makeFault(
                key: row.key, binding: binding, origin: makeOrigin(binding, slab: binding.emptyRow.slab, group: group))
        }
        if let group { known.join(group) }
        return known
    }

    /// The members of owners, as the parent or the store has them: those that were moved in this context with the owner
    /// that they have here, without those that were deleted.
    /// - Parameters:
    ///   - slot: The to-one slot at the other end.
    ///   - areAll: Whether the owners are all that there are.
    func sourceMembers(
        _ relationship: RelationshipDescription, entityIndex: Int, owners: [Int64], slot: Int, areAll: Bool
    ) throws(PersistenceError) -> [MemberRuns.Run] {
        var members = MemberRuns()
        if let parent {
            let rows = RowBatch(
                try parent.viewMembers(relationship, entityIndex: entityIndex, owners: owners)
                    .flatMap { $0.members.map(\.sharedRow) })
            add(rows, slot: slot, to: &members)
            return members.runs
        }
        let destination = relationship.destinationIndex
        let rootIndex = model.entities[destination].rootIndex
        try settleClearings(rootIndex: rootIndex)
        if coordinator.network != nil {
            return try networkMembers(relationship, entityIndex: entityIndex, owners: owners, slot: slot)
        }
        let stamp = coordinator.rowCache.stamp
        let batch: RowBatch
        if relationship.isOrdered || tables[destination].count <= 4 * owners.count {
            // Where little is known, nearly all rows are needed; and only rows come in the order of the relationship.
            batch = try store { () throws(StoreError) in
                try coordinator.store.memberRows(
                    entityIndex: entityIndex, relationshipIndex: relationship.index, owners: owners, areAll: areAll)
            }
        } else {
            // Keys first: the index tells who belongs where, and only the rows of those that are not known are read.
            let pairs = try store { () throws(StoreError) in
                try coordinator.store.memberKeys(
                    entityIndex: entityIndex, relationshipIndex: relationship.index, owners: owners)
            }
            let unknown = addKnown(pairs, slot: slot, in: tables[destination], to: &members)
            guard !unknown.isEmpty else { return members.runs }
            batch = try store { () throws(StoreError) in
                try coordinator.store.rows(entityIndex: destination, keys: unknown)
            }
        }
        coordinator.rowCache.add(batch, rootIndex: rootIndex, stamp: stamp)
        add(batch, slot: slot, to: &members)
        return members.runs
    }

    /// The members of owners of which the store may know the keys alone: their owners stand in the pairs.
    private func networkMembers(
        _ relationship: RelationshipDescription, entityIndex: Int, owners: [Int64], slot: Int
    ) throws(PersistenceError) -> [MemberRuns.Run] {
        let pairs = try store { () throws(StoreError) in
            try coordinator.store.memberKeys(
                entityIndex: entityIndex, relationshipIndex: relationship.index, owners: owners)
        }
        let table = tables[relationship.destinationIndex]
        var unread: [Int64] = []
        for (owner, key) in pairs {
            guard let member = table.object(key), member.flags.isDisjoint(with: [.fault, .missing]),
                member.hasChanges || member.targetKey(slot) == owner
            else {
                unread.append(key)
                continue
            }
        }
        let rows = try store { () throws(StoreError) in
            try coordinator.store.rows(entityIndex: relationship.destinationIndex, keys: unread.sorted())
        }
        var members = MemberRuns()
        // They are kept alive until the runs hold them.
        let read = materialize(rows, refreshing: true)
        return withExtendedLifetime(read) {
            for (owner, key) in pairs {
                guard let member = table.object(key), !member.isDeleted else { continue }
                guard member.hasChanges else {
                    members.append(member, owner: owner)
                    continue
                }
                if let owner = member.targetKey(slot) { members.append(member, owner: owner) }
            }
            return members.runs
        }
    }

    /// Adds the members that the context knows.
    /// - Returns: The keys of the others.
    private func addKnown(
        _ pairs: [(owner: Int64, member: Int64)], slot: Int, in table: ObjectTable, to members: inout MemberRuns
    ) -> [Int64] {
        var unknown: [Int64] = []
        var loners: [ManagedObject] = []
        for (owner, key) in pairs {
            guard let member = table.object(key), member.flags.isDisjoint(with: [.fault, .missing]) else {
                unknown.append(key)
                continue
            }
            if member.hasChanges {
                guard !member.isDeleted, let owner = member.targetKey(slot) else { continue }
                members.append(member, owner: owner)
            } else if member.targetKey(slot) == owner {
                members.append(member, owner: owner)
            } else {
                // Others moved it since it was read; its row must say so, too, or the two ends would disagree.
                unknown.append(key)
                continue
            }
            if member.group == nil { loners.append(member) }
        }
        // Members that came one by one fire together from now on.
        if loners.count > 1 {
            let group = FetchGroup(keys: loners.map(\.key))
            for member in loners { member.join(group) }
        }
        return unknown
    }

    /// Adds the objects of a batch with the owner that each has: in this context where it was changed here, else by its
    /// row. Deleted ones, and those without an owner, are left out.
    private func add(_ batch: RowBatch, slot: Int, to members: inout MemberRuns) {
        for (position, member) in materialize(batch, refreshing: true).enumerated() where !member.isDeleted {
            let row = RowPointer(batch.pointers[position])
            var owner = row.isPresent(slot) ? Int64(bitPattern: row.word(slot)) : nil
            if member.targetKey(slot) != owner {
                if member.hasChanges {
                    owner = member.targetKey(slot)
                } else {
                    // A parent may show another owner at the same version. Both ends must agree.
                    member.mutatingAll { member.fill(batch[position], isAwakening: isAwakening) }
                }
            }
            if let owner { members.append(member, owner: owner) }
        }
    }
}

/// Members by owner, in the order in which they came.
struct MemberRuns {
    struct Run {
        let owner: Int64
        var members: [ManagedObject]
    }

    private(set) var runs: [Run] = []
    private var positions: [Int64: Int] = [:]
    /// Members mostly come grouped by owner.
    private var last = -1

    mutating func append(_ member: ManagedObject, owner: Int64) {
        if last < 0 || runs[last].owner != owner {
            last = positions[owner] ?? runs.count
            if last == runs.count {
                positions[owner] = last
                runs.append(Run(owner: owner, members: []))
            }
        }
        runs[last].members.append(member)
    }
}
