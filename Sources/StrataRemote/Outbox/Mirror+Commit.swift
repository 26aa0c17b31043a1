import Foundation
import StrataSQLite
import StrataStore

extension Mirror {
    /// Saves changes of a context, and what the server is to be told about them, in one transaction. What an online
    /// save of the same objects has sent without an answer is queued before that.
    /// - Parameter enqueues: Whether the server is to be told; false if it has been already.
    /// - Throws: ``StoreError/invalidData(entity:property:key:reason:)`` for a new object without a primary key, and for
    ///   a change of a primary key.
    package func commit(_ changes: ChangeSet, enqueues: Bool) throws(StoreError) -> CommitResult {
        if changes.isEmpty { return .committed(CommitEffects()) }
        let unknown = enqueues ? unknownWrites(of: changes) : []
        let (result, told) = try echoing { (transaction) throws(StoreError) in
            let passed = try refusedEntries(of: unknown.map(\.identity), on: transaction.connection)
            var save = LocalSave(
                mirror: self, transaction: transaction, changes: changes, enqueues: enqueues, ticket: nil)
            let result = try save.run()
            if case .committed = result, !unknown.isEmpty {
                try adopt(unknown, passed: passed, on: transaction.connection)
            }
            return (result, save.told)
        }
        guard case .committed = result else { return result }
        noteAdopted(unknown)
        for change in told { self.changes.post(change) }
        return result
    }

    /// Saves changes that the server has carried out. Members that others have changed since, and what they have arranged, stay as
    /// they are: that waits to be sent. So does what later answers have told.
    /// - Parameters:
    ///   - sent: What was sent of them.
    ///   - ticket: Taken before they were sent.
    /// - Returns: What became of it; the objects that answers have told since, named by the topmost entity: the server is asked
    ///   for them again; and those of them that are not as the changes have them, by topmost entity and key.
    func commitDone(
        _ changes: ChangeSet, _ sent: SentUpdates, _ ticket: ReadTicket
    ) throws(StoreError) -> (result: CommitResult, overtaken: Set<RemoteIdentity>, altered: Set<RowIdentity>) {
        let (save, result, told) = try echoing { (transaction) throws(StoreError) in
            var changes = changes.below(
                try waitingMembers(of: changes.owners(model), on: transaction.connection), model)
            let told = sent.toldLater(order, ticket)
            if !told.isEmpty {
                changes = changes.below(told, try rows(of: told.keys, on: transaction.connection), model)
            }
            var save = LocalSave(
                mirror: self, transaction: transaction, changes: changes, enqueues: false, ticket: ticket)
            let result = try save.run()
            return (save, result, told)
        }
        guard case .committed = result else { return (result, [], []) }
        for change in save.told { self.changes.post(change) }
        return (result, save.overtaken.union(told.keys.compactMap(sent.name)), Set(told.keys))
    }
}

/// A save on its way into the mirror.
private struct LocalSave {
    let mirror: Mirror
    let transaction: StoreTransaction
    let changes: ChangeSet
    let enqueues: Bool
    /// Taken before the changes were sent to the server; nil if they were not.
    let ticket: ReadTicket?
    var outbox: OutboxWriter
    /// The rows before the save, of objects that it changes without making them.
    var oldRows: [RowIdentity: RowReference] = [:]
    /// The keys and slots of references that become nil with what they lead to.
    var cleared: [RowIdentity: SlotSet] = [:]
    /// The primary keys of members that are removed.
    var removedIDs: [RowIdentity: String] = [:]
    /// What contexts hear about besides the save itself.
    private(set) var told: [StoreChange] = []
    /// Objects that answers have told since the changes were sent, named by the topmost entity.
    private(set) var overtaken: Set<RemoteIdentity> = []

    init(mirror: Mirror, transaction: StoreTransaction, changes: ChangeSet, enqueues: Bool, ticket: ReadTicket?) {
        self.mirror = mirror
        self.transaction = transaction
        self.changes = changes
        self.enqueues = enqueues
        self.ticket = ticket
        outbox = OutboxWriter(mirror: mirror, connection: transaction.connection)
    }

    var model: ManagedObjectModel { mirror.model }

    mutating func run() throws(StoreError) -> CommitResult {
        try checkNames()
        try readOldRows()
        try checkPrimaryKeys()
        let links = DeletedLinks(mirror: mirror, connection: transaction.connection)
        try links.note(changes.deletes)
        let result = try transaction.write(changes)
        guard case .committed = result else { return result }
        let doubles = try nameInserts()
        if !doubles.isEmpty {
            // References that were redirected go back.
            if !told.isEmpty { mirror.echoes.forgetAll() }
            return .conflicts(try transaction.abandon(for: doubles))
        }
        // Of others the server has to hear first.
        if !enqueues, !changes.inserts.isEmpty, try !links.isEmpty {
            for (entityIndex, list) in Dictionary(grouping: changes.inserts, by: \.row.row.entityIndex) {
                try links.restore(list.map { id(of: $0.row.row) }, root: mirror.root(entityIndex))
            }
        }
        try forgetDeleted()
        if enqueues { try enqueue() }
        if let ticket { try noteWritten(ticket) }
        return result
    }

    // MARK: Names

    private func checkNames() throws(StoreError) {
        for change in changes.inserts {
            let row = change.row.row
            let slot = mirror.primaryKeys[row.entityIndex]
            if row.isPresent(slot.index), slot.storage != .text || !row.bytes(slot.index).isEmpty { continue }
            throw .invalidData(
                entity: model.entities[row.entityIndex].name, property: slot.name, key: row.key,
                reason: "a new object needs a primary key before it is saved; set one")
        }
    }

    /// Enters the primary keys of new objects, which are written by now.
    /// - Returns: Conflicts with objects that have them already.
    private mutating func nameInserts() throws(StoreError) -> [TakenKey] {
        var keys: [Int: [Int64]] = [:]
        for change in changes.inserts {
            keys[mirror.root(change.row.row.entityIndex), default: []].append(change.row.row.key)
        }
        var hasOthers = false
        for (root, keys) in keys {
            let count = try outbox.name(keys, root: root)
            if count < keys.count { hasOthers = true }
        }
        return hasOthers ? try takenNames() : []
    }

    /// Looks at the new objects whose primary key is known already.
    private mutating func takenNames() throws(StoreError) -> [TakenKey] {
        var taken: [TakenKey] = []
        for change in changes.inserts {
            let row = change.row.row
            let root = mirror.root(row.entityIndex)
            let slot = mirror.primaryKeys[row.entityIndex]
            let id = id(of: row)
            let known = try mirror.known(id, root: root, on: transaction.connection)
            if known?.key == row.key { continue }
            if let other = known?.key, try replaced(other, by: change.row, id, root) {
                try outbox.name(id, root: root, key: row.key)
            } else if let other = known?.key {
                taken.append(
                    TakenKey(entityIndex: row.entityIndex, key: row.key, otherKey: other, slot: slot.index))
            } else {
                // It was deleted here, and the server has not received that: the delete becomes an update.
                try outbox.name(id, root: root, key: row.key)
                outbox.remade.insert(RowIdentity(entityIndex: root, key: row.key))
            }
        }
        return taken
    }

    /// Takes the placeholder of a new object away: others refer to the object already.
    /// - Returns: Whether it was one.
    private mutating func replaced(
        _ key: Int64, by own: RowReference, _ id: String, _ root: Int
    ) throws(StoreError) -> Bool {
        var session = ApplySession(mirror: mirror, transaction: transaction)
        guard try session.replacePlaceholder(key, by: own, id, model.entities[root]) else { return false }
        try mirror.noteSuccessor(of: key, own.row.key, root: root, on: transaction.connection)
        if let change = session.result.change { told.append(change) }
        return true
    }

    private func checkPrimaryKeys() throws(StoreError) {
        for update in changes.updates {
            let row = update.row.row
            let slot = mirror.primaryKeys[row.entityIndex]
            guard update.slots.contains(slot.index),
                let old = oldRows[RowIdentity(entityIndex: mirror.root(row.entityIndex), key: row.key)],
                !old.row.hasSameValue(as: row, slot: slot.index, storage: slot.storage)
            else { continue }
            throw .invalidData(
                entity: model.entities[row.entityIndex].name, property: slot.name, key: row.key,
                reason: "the primary key of an object that has been saved cannot change; make another object")
        }
    }

    // MARK: Before

    /// Reads what the change is made to: the server compares by it, and deleted objects take their names along.
    private mutating func readOldRows() throws(StoreError) {
        var keys: [Int: [Int64]] = [:]
        for update in changes.updates {
            keys[mirror.root(update.row.row.entityIndex), default: []].append(update.row.row.key)
        }
        for delete in changes.deletes { keys[mirror.root(delete.entityIndex), default: []].append(delete.key) }
        if enqueues {
            for clearing in changes.clearings { keys[mirror.root(clearing.entityIndex), default: []] += clearing.keys }
        }
        if enqueues || ticket != nil {
            // Rows of new objects are not there yet.
            for pair in changes.pairs { keys[mirror.root(pair.entityIndex), default: []].append(pair.owner) }
            for order in changes.orders { keys[mirror.root(order.entityIndex), default: []].append(order.owner) }
        }
        oldRows = try mirror.rows(keys, on: transaction.connection)
        guard enqueues else { return }
        for clearing in changes.clearings {
            let root = mirror.root(clearing.entityIndex)
            let targets = Set(clearing.targets)
            for key in clearing.keys {
                let identity = RowIdentity(entityIndex: root, key: key)
                guard let row = oldRows[identity]?.row, row.isPresent(clearing.slot),
                    targets.contains(Int64(bitPattern: row.word(clearing.slot)))
                else { continue }
                cleared[identity, default: SlotSet()].insert(clearing.slot)
            }
        }
        for pair in changes.pairs where !pair.removed.isEmpty {
            let destination = model.entities[pair.entityIndex].relationships[pair.relationshipIndex].destinationIndex
            let found = try mirror.ids(
                entityIndex: destination, keys: pair.removed, placeholdersOnly: false, on: transaction.connection)
            for (key, id) in found {
                removedIDs[RowIdentity(entityIndex: mirror.root(destination), key: key)] = id.id
            }
        }
    }

    // MARK: After

    private func id(of row: RowPointer) -> String { PrimaryKey.id(of: row, mirror.primaryKeys[row.entityIndex]) ?? "" }

    /// The names of deleted objects lead nowhere, but stay as long as the server has to hear about the end.
    private func forgetDeleted() throws(StoreError) {
        for (root, list) in Dictionary(grouping: changes.deletes, by: { mirror.root($0.entityIndex) }) {
            var ids = list.compactMap { delete in
                oldRows[RowIdentity(entityIndex: root, key: delete.key)].map { id(of: $0.row) }
            }
            if enqueues {
                try outbox.forgetKeys(ids, root: root)
            } else {
                // What was refused of them, for instance, has nothing to be sent to.
                let waiting = try mirror.entries(root: root, keys: list.map(\.key), on: transaction.connection)
                let entries = waiting.values.flatMap(\.self)
                try mirror.remove(entries.map(\.seq).sorted(), on: transaction.connection)
                // Others may have deleted them here, too, and then only that knows their names.
                let names = entries.filter { $0.kind == .delete }.map(\.id)
                let known = try mirror.known(names, root: root, on: transaction.connection)
                ids += names.filter { known[$0].map { $0.key == nil } ?? false }
                try outbox.forget(ids, root: root)
                for id in ids { mirror.order.noteDeleted(RemoteIdentity(entity: model.entities[root].name, id: id)) }
            }
        }
    }

    /// Whatever was asked for before the server carried out the changes does not set them back.
    private mutating func noteWritten(_ ticket: ReadTicket) throws(StoreError) {
        let rows = changes.inserts.map(\.row.row) + oldRows.values.map(\.row)
        let gone = Set(changes.deletes.map { RowIdentity(entityIndex: mirror.root($0.entityIndex), key: $0.key) })
        let names = rows.map { row in
            (
                own: RemoteIdentity(entity: model.entities[row.entityIndex].name, id: id(of: row)),
                rooted: RemoteIdentity(entity: model.entities[row.entityIndex].rootName, id: id(of: row)),
                isGone: gone.contains(RowIdentity(entityIndex: mirror.root(row.entityIndex), key: row.key))
            )
        }
        overtaken = mirror.order.noteWritten(Set(names.map(\.rooted)), since: ticket)
        for (root, made) in Dictionary(grouping: changes.inserts, by: { mirror.root($0.row.row.entityIndex) }) {
            let ids = made.map { id(of: $0.row.row) }
            try mirror.removeRefusedDeletions(of: ids, root: root, on: transaction.connection)
        }
        let links = DeletedLinks(mirror: mirror, connection: transaction.connection)
        for name in names {
            // A deleted object that an answer has told meanwhile may have been made again: a server was restored, for instance.
            let mayBeOlder = overtaken.contains(name.rooted)
            // A new object that others have deleted meanwhile would otherwise stay: pulls have passed its deletion.
            let mayBeGone =
                mirror.order.hasBegun(name.own.entity, since: ticket)
                || mirror.order.isDeleted(name.rooted, since: ticket)
            if mayBeOlder || !name.isGone && mayBeGone { try links.noteStale(name.own) }
        }
    }

    private mutating func enqueue() throws(StoreError) {
        try outbox.prepare(oldRows.keys)
        try outbox.insert(changes.inserts.map { $0.row.row })
        for update in changes.updates { enqueue(update.row.row, update.slots, changes.operations(of: update)) }
        for (identity, slots) in cleared.sorted(by: { $0.key.key < $1.key.key }) {
            if let row = oldRows[identity]?.row { enqueue(row, slots) }
        }
        enqueueMembers()
        for delete in changes.deletes {
            guard let row = oldRows[RowIdentity(entityIndex: mirror.root(delete.entityIndex), key: delete.key)]?.row
            else { continue }
            outbox.delete(row, id: id(of: row))
        }
        try outbox.write()
        try outbox.noteSecrets(changes.inserts.map { $0.row.row } + changes.updates.map { $0.row.row })
    }

    private mutating func enqueue(
        _ row: RowPointer, _ slots: SlotSet, _ operations: [Int: FieldOperations] = [:]
    ) {
        guard let base = oldRows[RowIdentity(entityIndex: mirror.root(row.entityIndex), key: row.key)]?.row else {
            return
        }
        var told = SlotSet()
        for slot in slots where model.entities[row.entityIndex].slots[slot].isTold { told.insert(slot) }
        if !told.isEmpty { outbox.update(base, slots: told, operations: operations.mapValues(\.opened)) }
    }

    private mutating func enqueueMembers() {
        for pair in changes.pairs {
            let relationship = model.entities[pair.entityIndex].relationships[pair.relationshipIndex]
            let root = mirror.root(relationship.destinationIndex)
            var change = MemberChange(relationship: relationship.name, added: Set(pair.added))
            for key in pair.removed {
                change.removed[key] = removedIDs[RowIdentity(entityIndex: root, key: key)]
            }
            enqueue(change, of: RowIdentity(entityIndex: mirror.root(pair.entityIndex), key: pair.owner))
        }
        for order in changes.orders {
            let relationship = model.entities[order.entityIndex].relationships[order.relationshipIndex]
            enqueue(
                MemberChange(relationship: relationship.name, isOrder: true),
                of: RowIdentity(entityIndex: mirror.root(order.entityIndex), key: order.owner))
        }
    }

    private mutating func enqueue(_ change: MemberChange, of owner: RowIdentity) {
        guard let base = oldRows[owner]?.row else { return }
        outbox.update(base, slots: SlotSet(), members: [change])
    }
}

/// A primary key that another object has.
package struct TakenKey {
    let entityIndex: Int
    let key: Int64
    let otherKey: Int64
    let slot: Int
}

extension StoreTransaction {
    /// Takes the transaction back because of primary keys that others have, and describes these.
    func abandon(for taken: [TakenKey]) throws(StoreError) -> [StoreConflict] {
        takeBack()
        var result: [StoreConflict] = []
        for double in taken {
            let row = try rows(entityIndex: double.entityIndex, keys: [double.otherKey])
            result.append(
                StoreConflict(
                    reason: .unique(slots: [double.slot]), entityIndex: double.entityIndex, key: double.key,
                    storeRow: row.count > 0 ? row[0] : nil, otherKey: double.otherKey))
        }
        return result
    }
}

extension SlotDescription {
    /// Whether servers are told about the slot: what is computed here, or kept only in memory, is none of their
    /// business.
    var isTold: Bool { isStored && derivation == nil }
}

extension EntityDescription {
    /// The slots that servers are told about.
    var toldSlots: SlotSet { SlotSet(slots.lazy.filter(\.isTold).map(\.index)) }
}
