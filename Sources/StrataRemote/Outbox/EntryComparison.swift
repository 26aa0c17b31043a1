import StrataSQLite
import StrataStore

/// How the server's state of an object stands to a change that waits.
package struct EntryComparison {
    /// Where the server has changed the object since the change was made; for a new object where it has other values.
    package var conflicting = SlotSet()
    /// Where both sides agree.
    package var equal = SlotSet()
    /// Operations that may have been carried out by an attempt without an answer, and are not done again: the server's value
    /// is neither that of before nor the one that was sent.
    package var doubtful = SlotSet()
    /// The slots of the change; for a new object all that servers are told about.
    package var all: SlotSet
    /// The slots in which a new object has nothing here.
    package var lacking = SlotSet()

    /// Whether the server has what the change makes of the object. What a new object lacks the server may have filled in.
    var isCarriedOut: Bool {
        !all.isEmpty && doubtful.isEmpty && all.allSatisfy { equal.contains($0) || lacking.contains($0) }
    }
}

extension Mirror {
    /// Compares the server's state of an object with the change of an entry.
    ///
    /// An operation is never in conflict. If it is not known whether an earlier attempt was carried out, the server's state
    /// decides. A value that says nothing counts as the operation's result, so that no operation is carried out twice.
    /// - Parameter isKnown: Whether the server would have answered for an earlier attempt, had it been carried out.
    package func compare(
        _ entry: OutboxEntry, with record: RemoteRecord, isKnown: Bool = false
    ) throws(StoreError) -> EntryComparison {
        var result = EntryComparison(all: entry.slots)
        let isRepeated = !isKnown && entry.attempts > 1 && entry.sent != nil
        try store.transaction { (transaction) throws(StoreError) in
            let session = ApplySession(mirror: self, transaction: transaction)
            let found = try transaction.rows(
                entityIndex: root(entry.identity.entityIndex), keys: [entry.identity.key])
            guard found.count > 0 else { return }
            let own = try row(found[0], of: entry, on: transaction.connection)
            let entity = model.entities[entry.identity.entityIndex]
            if entry.kind == .insert {
                for slot in entity.slots where slot.isTold && slot.index != primaryKeys[entity.index].index {
                    result.all.insert(slot.index)
                }
            }
            guard let told = try session.row(of: record, over: own.row) else { return }
            let base = entry.base.flatMap(RowSlab.restored(from:))
            var evidence = OperationEvidence()
            for (slot, done) in entry.operations where isRepeated && told.slots.contains(slot) {
                let description = entity.slots[slot]
                guard let type = description.type, let before = base?.row.value(description) else { continue }
                evidence.add(
                    done, before: before, now: told.slab.row.value(description),
                    after: done.applied(to: before, of: type))
            }
            let mayBeDone = isRepeated && evidence.mayBeCarriedOut
            for slot in result.all where told.slots.contains(slot) {
                let storage = entity.slots[slot].storage
                if let done = entry.operations[slot], let type = entity.slots[slot].type {
                    let description = entity.slots[slot]
                    guard mayBeDone, let before = base?.row.value(description) else { continue }
                    let now = told.slab.row.value(description)
                    if done.areMissing(in: now, since: before) { continue }
                    result.equal.insert(slot)
                    if now != done.applied(to: before, of: type) { result.doubtful.insert(slot) }
                    continue
                }
                if entry.kind == .insert, !own.row.isPresent(slot) { result.lacking.insert(slot) }
                if told.slab.row.hasSameValue(as: own.row, slot: slot, storage: storage) {
                    result.equal.insert(slot)
                } else if base.map({ !told.slab.row.hasSameValue(as: $0.row, slot: slot, storage: storage) }) ?? true {
                    result.conflicting.insert(slot)
                }
            }
        }
        return result
    }

    /// Whether the server tells other values or members of some properties than the mirror has.
    /// - Parameter orWaiting: Whether the states that waiting changes were made to, and those that they make, count as the mirror's,
    ///   too. Other values than all of these were written by others.
    func differs(
        _ record: RemoteRecord, from identity: RowIdentity, in names: Set<String>, orWaiting: Bool = false
    ) throws(StoreError) -> Bool {
        try store.transaction { (transaction) throws(StoreError) in
            let root = root(identity.entityIndex)
            let found = try transaction.rows(entityIndex: root, keys: [identity.key])
            guard found.count > 0 else { return false }
            var rows = [found[0]]
            let waiting = orWaiting ? try entries(root: root, key: identity.key, on: transaction.connection) : []
            for entry in waiting {
                rows.append(try row(found[0], of: entry, on: transaction.connection))
                if let base = entry.base.flatMap(RowSlab.restored(from:)) {
                    rows.append(RowReference(slab: base, row: base.row))
                }
            }
            let session = ApplySession(mirror: self, transaction: transaction)
            let entity = model.entities[found[0].row.entityIndex]
            var slots = SlotSet(names.flatMap(entity.slots(of:)))
            for row in rows {
                guard let changed = try session.differences(record, from: row.row, of: entity) else { return false }
                for slot in slots where !changed.contains(slot) { slots.remove(slot) }
            }
            if !slots.isEmpty { return true }
            return try hasOtherMembers(record, identity, in: names, on: transaction.connection)
        }
    }

    /// Whether the server has other values than those that operations of an entry were done to.
    func isBehind(_ entry: OutboxEntry, _ record: RemoteRecord) throws(StoreError) -> Bool {
        guard let base = entry.base.flatMap(RowSlab.restored(from:)) else { return false }
        return try store.transaction { (transaction) throws(StoreError) in
            try differs(record, from: base.row, in: entry.operations.keys, transaction)
        }
    }

    private func differs(
        _ record: RemoteRecord, from row: RowPointer, in slots: some Sequence<Int>, _ transaction: StoreTransaction
    ) throws(StoreError) -> Bool {
        let session = ApplySession(mirror: self, transaction: transaction)
        let changed = try session.differences(record, from: row, of: model.entities[row.entityIndex])
        return changed.map { changed in slots.contains(where: changed.contains) } ?? false
    }
}

extension Mirror {
    /// Whether the server has other values of an object than it had, as far as is known here, when it was changed or deleted
    /// here; for a changed one also whether it has other members.
    package func hasChanged(_ record: RemoteRecord, since entry: OutboxEntry) throws(StoreError) -> Bool {
        try store.transaction { (transaction) throws(StoreError) in
            try ApplySession(mirror: self, transaction: transaction).hasChanged(record, since: entry)
        }
    }

    /// Whether the server has other members of an object than are here, without the changes that wait.
    /// - Parameter names: The relationships to look at; nil for all.
    fileprivate func hasOtherMembers(
        _ record: RemoteRecord, _ identity: RowIdentity, in names: Set<String>? = nil, on connection: Connection
    ) throws(StoreError) -> Bool {
        let entity = model.entities[identity.entityIndex]
        let (root, key) = (root(identity.entityIndex), identity.key)
        let changes = try entries(root: root, key: key, on: connection).flatMap(\.members)
        for relationship in entity.relationships where relationship.storage == .pairs(isPrimary: true) {
            if names?.contains(relationship.name) == false { continue }
            guard case .references(let told) = record.values[relationship.name] else { continue }
            let pairs = try store.memberKeys(
                entityIndex: entity.index, relationshipIndex: relationship.index, owners: [key], on: connection)
            var keys = Set(pairs.map(\.member))
            let own = changes.filter { $0.relationship == relationship.name }
            for change in own { keys.subtract(change.added) }
            let destination = model.destination(of: relationship)
            let names = try ids(
                entityIndex: destination.index, keys: keys.sorted(), placeholdersOnly: false, on: connection)
            var members = Set(names.values.map(\.id))
            for change in own { members.formUnion(change.removed.values) }
            if members != Set(told.map { canonical($0, destination) }) { return true }
        }
        return false
    }
}

extension ApplySession {
    /// As ``Mirror/hasChanged(_:since:)``, in this transaction.
    func hasChanged(_ record: RemoteRecord, since entry: OutboxEntry) throws(StoreError) -> Bool {
        let entity = model.entities[entry.identity.entityIndex]
        guard let base = entry.base.flatMap(RowSlab.restored(from:)),
            let changed = try differences(record, from: base.row, of: entity), changed.isEmpty
        else {
            return true
        }
        guard entry.kind == .update else { return false }
        return try mirror.hasOtherMembers(record, entry.identity, on: connection)
    }

    /// The slots in which the server has other values than a row, as far as others can change them; nil if the record does not fit.
    fileprivate func differences(
        _ record: RemoteRecord, from row: RowPointer, of entity: EntityDescription
    ) throws(StoreError) -> SlotSet? {
        guard let told = try self.row(of: record, over: row) else { return nil }
        let known = try mirror.known(
            mirror.canonical(record.id, entity), root: entity.rootIndex, on: connection)
        let own = ServerProperties(known, record)
        var result = SlotSet()
        for slot in told.slots where !own.isSame(told.slab.row, row, entity.slots[slot]) { result.insert(slot) }
        return result
    }
}
