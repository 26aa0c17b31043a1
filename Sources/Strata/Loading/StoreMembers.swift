import StrataStore

/// The members of a to-many relationship whose other end is a to-one, as the parent or the store has them, without those that were
/// deleted or moved to another owner in this context. Their place in an order must not depend on which owners are read together, so
/// ``MemberLoader`` adds what was moved here.
struct StoreMembers {
    let core: ContextCore
    let relationship: RelationshipDescription
    let entityIndex: Int
    /// The to-one slot at the other end.
    let slot: Int

    /// - Parameter areAll: Whether the owners are all that there are.
    func runs(owners: [Int64], areAll: Bool) throws(PersistenceError) -> [MemberRuns.Run] {
        var members = MemberRuns()
        if let parent = core.parent {
            let rows = RowBatch(
                try parent.core.members.shown(relationship, entityIndex: entityIndex, owners: owners)
                    .flatMap { $0.members.map(\.sharedRow) })
            add(rows, to: &members)
            return members.runs
        }
        let destination = relationship.destinationIndex
        let rootIndex = core.rootIndex(of: destination)
        try core.nullifications.settle(rootIndex: rootIndex)
        if core.coordinator.network(of: entityIndex) != nil { return try networkRuns(owners: owners) }
        let cache = core.rowCache
        let stamp = cache.stamp
        let table = core.identityMap.table(destination)
        let batch: RowBatch
        if relationship.isOrdered || table.count <= 4 * owners.count {
            // Where little is known, nearly all rows are needed; and only rows come in the order of the relationship.
            batch = try core.readStore { (store) throws(StoreError) in
                try store.memberRows(
                    entityIndex: entityIndex, relationshipIndex: relationship.index, owners: owners, areAll: areAll)
            }
        } else {
            // Keys first: the index tells who belongs where, and only the rows of those that are not known are read.
            let unknown = addKnown(try keys(owners: owners), in: table, to: &members)
            guard !unknown.isEmpty else { return members.runs }
            batch = try core.readStore { (store) throws(StoreError) in
                try store.rows(entityIndex: destination, keys: unknown)
            }
        }
        cache.add(batch, rootIndex: rootIndex, stamp: stamp, owner: core.inbox.contextNumber)
        add(batch, to: &members)
        return members.runs
    }

    private func keys(owners: [Int64]) throws(PersistenceError) -> [(owner: Int64, member: Int64)] {
        try core.readStore { (store) throws(StoreError) in
            try store.memberKeys(entityIndex: entityIndex, relationshipIndex: relationship.index, owners: owners)
        }
    }

    /// The members of owners of which the store may have only the keys: the pairs name their owners.
    private func networkRuns(owners: [Int64]) throws(PersistenceError) -> [MemberRuns.Run] {
        let pairs = try keys(owners: owners)
        let table = core.identityMap.table(relationship.destinationIndex)
        var unread: [Int64] = []
        for (owner, key) in pairs {
            guard let member = table.object(key), member.flags.isDisjoint(with: .unread),
                member.hasChanges || member.targetKey(slot) == owner
            else {
                unread.append(key)
                continue
            }
        }
        let rows = try core.readStore { (store) throws(StoreError) in
            try store.rows(entityIndex: relationship.destinationIndex, keys: unread.sorted())
        }
        var members = MemberRuns()
        // They are kept alive until the runs hold them.
        let read = core.factory.materialize(rows, refreshing: true)
        return withExtendedLifetime(read) {
            for (owner, key) in pairs {
                guard let member = table.object(key), !member.isDeleted else { continue }
                guard member.hasChanges else {
                    members.append(member, owner: owner)
                    continue
                }
                if member.targetKey(slot) == owner { members.append(member, owner: owner) }
            }
            return members.runs
        }
    }

    /// Adds the members that the context knows.
    /// - Returns: The keys of the others.
    private func addKnown(
        _ pairs: [(owner: Int64, member: Int64)], in table: ObjectTable, to members: inout MemberRuns
    ) -> [Int64] {
        var unknown: [Int64] = []
        var loners: [ManagedObject] = []
        for first in stride(from: 0, to: pairs.count, by: Self.run) {
            let run = pairs[first..<min(first + Self.run, pairs.count)]
            let settled = settled(run, in: table)
            for position in run.indices {
                let (owner, key) = run[position]
                guard let member = table.object(key) else {
                    unknown.append(key)
                    continue
                }
                if settled & 1 << UInt64(position - first) != 0 {
                    members.append(member, owner: owner)
                } else if !member.flags.isDisjoint(with: .unread) {
                    unknown.append(key)
                    continue
                } else if member.hasChanges {
                    guard !member.isDeleted, member.targetKey(slot) == owner else { continue }
                    members.append(member, owner: owner)
                } else {
                    // Others moved it since it was read; its row must say so, too, or the two ends would disagree.
                    unknown.append(key)
                    continue
                }
                if member.batch == nil { loners.append(member) }
            }
        }
        // Members that were read one by one fire together from now on.
        if loners.count > 1 { FaultBatch.join(loners) }
        return unknown
    }

    /// The number of members that are looked at together: few enough to stay in the cache, and one for each bit of a word.
    private static let run = 64

    /// Which members of a run are read, unchanged, and belong to the owner that the index names: a bit for each.
    ///
    /// Counting a reference lets no read after it begin, so the objects are not counted here: the processor waits once
    /// for the objects and rows of a whole run.
    private func settled(_ run: ArraySlice<(owner: Int64, member: Int64)>, in table: ObjectTable) -> UInt64 {
        // What the closure needs is taken out before, so that it counts no reference either.
        let (slot, unsettled) = (slot, ObjectFlags.unread.union(.changed))
        var bits: UInt64 = 0
        for position in run.indices {
            let (owner, key) = run[position]
            guard let member = table.reference(key) else { continue }
            let isSettled = member._withUnsafeGuaranteedRef {
                $0.flags.isDisjoint(with: unsettled) && $0.targetKey(slot) == owner
            }
            if isSettled { bits |= 1 << UInt64(position - run.startIndex) }
        }
        return bits
    }

    /// Adds the objects of rows with the owner that each has by its row. Deleted ones, those without an owner, and those that were
    /// moved here are left out.
    private func add(_ rows: RowBatch, to members: inout MemberRuns) {
        for (position, member) in core.factory.materialize(rows, refreshing: true).enumerated() where !member.isDeleted
        {
            let row = RowPointer(rows.pointers[position])
            let owner = row.isPresent(slot) ? Int64(bitPattern: row.word(slot)) : nil
            if member.targetKey(slot) != owner {
                guard !member.hasChanges else { continue }
                // A parent may show another owner at the same version. Both ends must agree.
                member.mutatingAll { member.fill(rows[position]) }
            }
            if let owner { members.append(member, owner: owner) }
        }
    }
}

/// Members by owner, in the order in which they were read.
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
