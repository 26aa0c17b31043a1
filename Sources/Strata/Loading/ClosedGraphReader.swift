import StrataStore

/// Follows relationships of objects whose context is gone.
///
/// There are no pending changes to consider. The batch of the objects keeps what is read as rows, not as objects:
/// objects live only while your code holds them, and keep no other objects alive.
struct ClosedGraphReader {
    let core: ContextCore

    /// The target of a to-one relationship; nil if it has no row.
    /// - Parameters:
    ///   - keys: The targets of the whole batch, which are read together.
    ///   - onLoad: Called after the store was asked, with the number of objects that it was asked for.
    func target(
        _ key: Int64, among keys: [Int64], rootIndex: Int, from object: ManagedObject, _ onLoad: (Int) -> Void
    ) throws(PersistenceError) -> ManagedObject? {
        try objects([key], readingWith: keys, rootIndex: rootIndex, batch: batch(of: object), onLoad).first
    }

    /// The members of a to-many relationship, read for the whole batch of the owner.
    func members(
        of owner: ManagedObject, toMany index: Int, _ onLoad: (Int) -> Void
    ) throws(PersistenceError) -> MemberStorage {
        let relationship = owner.relationship(toMany: index)
        let side = ToManySide(owner.binding.entity, toMany: index)
        let batch = batch(of: owner)
        let rootIndex = core.rootIndex(of: relationship.destinationIndex)
        if batch.related.members(side, of: owner.key) == nil {
            let table = core.identityMap.table(owner.binding.entity.index)
            var owners = batch.keys(around: owner.key).filter { key in
                guard key != owner.key else { return true }
                guard let other = table.object(key), !other.isFault,
                    index < other.binding.entity.toManyIndexes.count
                else { return false }
                return other.relationship(toMany: index).hasSameDeclaration(as: relationship)
            }
            if !owners.contains(owner.key) { owners.append(owner.key) }
            try read(relationship, side, owner.binding.entity.index, owners, into: batch.related)
            onLoad(owners.count)
        }
        let keys = batch.related.members(side, of: owner.key) ?? []
        let storage = owner.makeStorage(index)
        storage.insert(
            contentsOf: try objects(keys, readingWith: keys, rootIndex: rootIndex, batch: batch) { _ in }
                .filter { !$0.isDeleted })
        return storage
    }

    private func read(
        _ relationship: RelationshipDescription, _ side: ToManySide, _ entityIndex: Int, _ owners: [Int64],
        into related: RelatedRows
    ) throws(PersistenceError) {
        let rootIndex = core.rootIndex(of: relationship.destinationIndex)
        var members: [Int64: [Int64]] = [:]
        for owner in owners { members[owner] = [] }
        if let parent = core.parent {
            var rows: [RowReference] = []
            let shown = try parent.core.members.shown(relationship, entityIndex: entityIndex, owners: owners)
            for (owner, objects) in shown {
                members[owner] = objects.map(\.key)
                rows += objects.map(\.sharedRow)
            }
            related.add(rows, keys: [], rootIndex: rootIndex)
        } else if case .inverseSlot(let slot) = relationship.storage, core.coordinator.network(of: entityIndex) == nil {
            let rows = try core.readStore { (store) throws(StoreError) in
                try store.memberRows(
                    entityIndex: entityIndex, relationshipIndex: relationship.index, owners: owners)
            }.rows
            for row in rows where row.row.isPresent(slot) {
                members[Int64(bitPattern: row.row.word(slot)), default: []].append(row.row.key)
            }
            related.add(rows, keys: [], rootIndex: rootIndex)
        } else {
            let pairs = try core.readStore { (store) throws(StoreError) in
                try store.memberKeys(
                    entityIndex: entityIndex, relationshipIndex: relationship.index, owners: owners)
            }
            for pair in pairs { members[pair.owner, default: []].append(pair.member) }
            let keys = Set(pairs.map(\.member)).sorted()
            related.add(
                try core.rows.rows(entityIndex: relationship.destinationIndex, keys: keys), keys: keys,
                rootIndex: rootIndex)
        }
        related.add(members, side)
    }

    /// The objects of some keys: those that still exist, and new ones from rows that the batch keeps or that are read
    /// now.
    private func objects(
        _ keys: [Int64], readingWith others: [Int64], rootIndex: Int, batch: FaultBatch, _ onLoad: (Int) -> Void
    ) throws(PersistenceError) -> [ManagedObject] {
        let table = core.identityMap.table(rootIndex)
        let related = batch.related
        func isUnknown(_ key: Int64) -> Bool {
            table.object(key) == nil && related.row(rootIndex, key) == nil && !related.isMissing(rootIndex, key)
        }
        if keys.contains(where: isUnknown) {
            let unread = others.filter(isUnknown)
            related.add(try core.rows.rows(entityIndex: rootIndex, keys: unread), keys: unread, rootIndex: rootIndex)
            onLoad(unread.count)
        }
        return keys.compactMap { key in
            if let known = table.object(key) { return known }
            guard let (row, batch) = related.row(rootIndex, key) else { return nil }
            guard row.row.isHeaderOnly else { return core.factory.materialize(row, batch: batch) }
            // The store of a remote back end has only the key so far; the object asks for the rest when it is read.
            return core.factory.makeFault(key: key, binding: core.binding(at: row.row.entityIndex))
        }
    }

    /// The batch of an object: one of its own, if it was not read with others.
    private func batch(of object: ManagedObject) -> FaultBatch {
        if let batch = object.batch { return batch }
        let batch = FaultBatch(keys: [object.key])
        object.someExtras.batch = batch
        return batch
    }
}

extension ContextCore {
    var closedGraph: ClosedGraphReader { ClosedGraphReader(core: self) }
}
