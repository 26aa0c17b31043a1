import Foundation
import StrataSQLite
import StrataStore

// What becomes of refused entries that a save takes along.

extension Mirror {
    /// Takes out entries whose place a save has taken. It has not said their operations: they wait for the next push.
    /// - Parameters:
    ///   - changes: What the save has done.
    ///   - carriedOut: The writes that the server has carried out.
    func forgetRefused(
        _ refused: [RowIdentity: OutboxEntry], behind changes: ChangeSet, carriedOut: CarriedOutWrites
    ) throws(StoreError) {
        if refused.isEmpty { return }
        var updates: [RowIdentity: ChangeSet.Update] = [:]
        for update in changes.updates {
            updates[RowIdentity(entityIndex: root(update.row.row.entityIndex), key: update.row.row.key)] = update
        }
        try store.transaction { (transaction) throws(StoreError) in
            let connection = transaction.connection
            for (identity, entry) in refused {
                let update = updates[identity]
                let operations = update.map { changes.operations(of: $0) } ?? [:]
                if let update { try pass(update.slots, operations, entry, identity, on: connection) }
                guard var current = try current(entry, on: connection),
                    current.state == .failed || (current.state == .waiting && current.sent == nil)
                else { continue }
                if let update { current.comeBehind(update.slots, operations) }
                if let missing = carriedOut.missing(of: current, model) { current.operations = missing }
                try leaveOperations(of: current, on: connection)
            }
        }
    }

    /// Has the operations of an entry wait for the next push as if they had never been sent, and nothing else of it.
    private func leaveOperations(of entry: OutboxEntry, on connection: Connection) throws(StoreError) {
        guard entry.kind == .update, !entry.operations.isEmpty else { return try remove(entry.seq, on: connection) }
        var rest = entry
        rest.keep(SlotSet(rest.operations.keys))
        rest.members = []
        rest.state = .waiting
        rest.error = nil
        rest.attempts = 0
        rest.forgetAttempt()
        try settle(rest, on: connection)
    }

    /// Leaves out of waiting changes what a save has done since with the same members. It has gone past what was refused, and past
    /// what waits for that.
    func leaveOutMembers(of changes: ChangeSet) throws(StoreError) {
        if changes.pairs.isEmpty { return }
        try store.transaction { (transaction) throws(StoreError) in
            let connection = transaction.connection
            if try connection.integer("SELECT 1 FROM _outbox LIMIT 1") == nil { return }
            for (root, pairs) in Dictionary(grouping: changes.pairs, by: { root($0.entityIndex) }) {
                let found = try entries(root: root, keys: pairs.map(\.owner), on: connection)
                for pair in pairs {
                    for entry in found[pair.owner] ?? [] { try leaveOut(pair, of: entry, on: connection) }
                }
            }
        }
    }

    private func leaveOut(
        _ pair: ChangeSet.PairChange, of entry: OutboxEntry, on connection: Connection
    ) throws(StoreError) {
        // It may have changed by another pair.
        guard var rest = try current(entry, on: connection), rest.kind == .update, rest.state != .sent else { return }
        // Operations must not be carried out twice: what may have been is sent again as it was.
        if rest.sent != nil, !rest.operations.isEmpty { return }
        let before = rest.members
        let relationship = model.entities[pair.entityIndex].relationships[pair.relationshipIndex]
        rest.leaveOut(pair.added + pair.removed, of: relationship.name)
        if rest.members == before { return }
        rest.forgetAttempt()
        if rest.slots.isEmpty, rest.members.isEmpty { return try remove(rest.seq, on: connection) }
        try write(rest, on: connection)
    }

    /// Changes the entries after a refused one as if they had been made after the save. What the save has assigned is later than
    /// their values.
    private func pass(
        _ slots: SlotSet, _ operations: [Int: FieldOperations], _ entry: OutboxEntry, _ identity: RowIdentity,
        on connection: Connection
    ) throws(StoreError) {
        for var later in try entries(root: identity.entityIndex, key: identity.key, on: connection)
        where later.seq > entry.seq && later.kind == .update && later.sent == nil {
            let before = later
            later.comeBehind(slots, operations)
            for slot in slots where operations[slot] == nil { later.slots.remove(slot) }
            if later.isUnchanged(since: before) { continue }
            if later.slots.isEmpty, later.members.isEmpty {
                try remove(later.seq, on: connection)
            } else {
                try write(later, on: connection)
            }
        }
    }

    /// Joins what an online save was to take along with what came after it.
    func joinEntries(of objects: Set<RowIdentity>) throws(StoreError) {
        if objects.isEmpty { return }
        try store.transaction { (transaction) throws(StoreError) in
            for identity in objects {
                let list = try entries(root: identity.entityIndex, key: identity.key, on: transaction.connection)
                try joinEntries(list, on: transaction.connection)
            }
        }
    }

    /// Joins the entry of an object that an online save was to take along with what came after it.
    func joinEntries(_ entries: [OutboxEntry], on connection: Connection) throws(StoreError) {
        guard entries.count > 1, let first = entries.first(where: \.goesAlong), first.sent == nil else { return }
        try settle(first, on: connection)
    }

    /// Takes out entries that a save has found to be carried out, although the save itself is not done.
    func forgetCarriedOut(
        _ refused: [RowIdentity: OutboxEntry], _ carriedOut: CarriedOutWrites, _ own: OwnUnknownWrites
    ) throws(StoreError) {
        try store.transaction { (transaction) throws(StoreError) in
            for (identity, entry) in refused where entry.kind == .update {
                guard var current = try current(entry, on: transaction.connection),
                    let missing = carriedOut.missing(of: current, model)
                else { continue }
                let token = current.token
                current.operations = missing
                try leaveOperations(of: current, on: transaction.connection)
                try DeletedLinks(mirror: self, connection: transaction.connection).noteStale(current.identity)
                // Nothing of it has to be left out of the next save.
                if own.write(of: identity)?.write.write.token == token { own.remove(identity) }
            }
        }
    }
}

/// Writes that the server has carried out, as far as its answers and the states of objects tell.
struct CarriedOutWrites: Sendable {
    /// The attributes whose operations the server lacks, by the token of the write.
    private var missing: [UUID: Set<String>] = [:]

    var isEmpty: Bool { missing.isEmpty }

    /// - Parameter missing: The attributes whose operations the server lacks nevertheless.
    mutating func add(_ token: UUID, missing: Set<String>) { self.missing[token] = missing }

    /// The operations of an entry that the server lacks; nil if it is not known to have carried out the entry.
    fileprivate func missing(of entry: OutboxEntry, _ model: ManagedObjectModel) -> [Int: FieldOperations]? {
        guard let names = entry.token.flatMap({ missing[$0] }) else { return nil }
        let slots = model.entities[entry.identity.entityIndex].slots
        return entry.operations.filter { names.contains(slots[$0.key].name) }
    }
}

extension OutboxEntry {
    /// Leaves changes of some members out.
    fileprivate mutating func leaveOut(_ keys: [Int64], of relationship: String) {
        for index in members.indices where members[index].relationship == relationship {
            for key in keys {
                members[index].added.remove(key)
                members[index].removed[key] = nil
            }
        }
        members.removeAll(where: \.isEmpty)
    }

    /// A save that was made after the entry has been carried out before it. Values that it assigns replace the operations.
    fileprivate mutating func comeBehind(_ changed: SlotSet, _ done: [Int: FieldOperations]) {
        for slot in changed {
            guard let own = operations[slot] else { continue }
            let left = done[slot].map { own.behind($0.opened) } ?? FieldOperations()
            operations[slot] = left.isEmpty ? nil : left
            if left.isEmpty { slots.remove(slot) }
        }
    }
}

extension FieldOperations {
    /// What is left of operations if later ones have been carried out before them: what those remove is not added, and what
    /// they add is not removed.
    fileprivate func behind(_ later: FieldOperations) -> FieldOperations {
        let (added, removed) = later.elements
        var result = FieldOperations()
        for step in steps {
            switch step {
            case .increment: result.append(step)
            case .append(let elements): result.append(.append(elements.filter { !removed.contains($0) }))
            case .appendUnique(let elements): result.append(.appendUnique(elements.filter { !removed.contains($0) }))
            case .remove(let elements): result.append(.remove(elements.filter { !added.contains($0) }))
            }
        }
        return result
    }
}
