import Foundation
import StrataSQLite
import StrataStore

/// Online saves that got no answer, and whose objects are saved to the mirror then: the server may have carried them out.
/// They are queued as they were sent, under their own names, and what was changed since comes after them. So the server
/// does each once, and nobody is in conflict with himself.
extension Mirror {
    /// What online saves of the objects of a change have sent without an answer: those of the same context, and of contexts that
    /// have given their changes up. Other contexts save theirs again, or have them settled by others.
    func unknownWrites(of changes: ChangeSet) -> [(identity: RowIdentity, unknown: UnknownWrite)] {
        if online.unknown.isEmpty { return [] }
        return objects(of: changes).compactMap { identity in
            online.unknown.write(of: identity, of: changes.source).map { (identity, $0) }
        }
    }

    /// The objects that a change is about, by topmost entity and key.
    func objects(of changes: ChangeSet) -> Set<RowIdentity> {
        var objects: Set<RowIdentity> = []
        for row in changes.inserts.map(\.row.row) + changes.updates.map(\.row.row) {
            objects.insert(RowIdentity(entityIndex: root(row.entityIndex), key: row.key))
        }
        for delete in changes.deletes {
            objects.insert(RowIdentity(entityIndex: root(delete.entityIndex), key: delete.key))
        }
        for pair in changes.pairs {
            objects.insert(RowIdentity(entityIndex: root(pair.entityIndex), key: pair.owner))
        }
        for order in changes.orders {
            objects.insert(RowIdentity(entityIndex: root(order.entityIndex), key: order.owner))
        }
        for clearing in changes.clearings {
            for key in clearing.keys { objects.insert(RowIdentity(entityIndex: root(clearing.entityIndex), key: key)) }
        }
        return objects
    }

    /// The changes of a context without operations that online saves of the same objects have carried out, where the mirror has the
    /// result: the rest of them is done to that.
    /// - Returns: The changes, and the objects whose rows are others than the context has.
    func behindCarriedOut(
        _ changes: ChangeSet
    ) throws(StoreError) -> (changes: ChangeSet, objects: Set<RowIdentity>) {
        var result = changes
        var objects: Set<RowIdentity> = []
        if online.unknown.isEmpty { return (result, objects) }
        for (index, update) in changes.updates.enumerated() {
            let identity = RowIdentity(entityIndex: root(update.row.row.entityIndex), key: update.row.row.key)
            guard let unknown = online.unknown.write(of: identity, of: changes.source), unknown.isHere else { continue }
            let rows = try store.rows(entityIndex: identity.entityIndex, keys: [identity.key])
            guard rows.count > 0 else { continue }
            result.leaveOut(unknown.write, ofUpdateAt: index, behind: rows[0].row, model)
            objects.insert(identity)
        }
        return (result, objects)
    }

    /// The places of the entries of some objects that the server has refused. Online saves have gone past them.
    func refusedEntries(of objects: [RowIdentity], on connection: Connection) throws(StoreError) -> Set<Int64> {
        var result: Set<Int64> = []
        for (root, list) in Dictionary(grouping: objects, by: \.entityIndex) {
            for entries in try entries(root: root, keys: list.map(\.key).sorted(), on: connection).values {
                result.formUnion(entries.filter { $0.state == .failed }.map(\.seq))
            }
        }
        return result
    }

    /// Queues writes that were sent without an answer before what has just been queued, in the same transaction.
    /// - Parameter passed: The places of entries that the server had refused before.
    func adopt(
        _ writes: [(identity: RowIdentity, unknown: UnknownWrite)], passed: Set<Int64>, on connection: Connection
    ) throws(StoreError) {
        for (identity, unknown) in writes { try adopt(unknown, of: identity, passed, on: connection) }
    }

    /// An attempt of a change that was refused later may have been carried out: a new save of the object repeats it
    /// first.
    /// - Parameter source: The context that saves.
    func noteUnknown(_ refused: [RowIdentity: OutboxEntry], _ source: ChangeSource?) {
        for (identity, entry) in refused {
            guard let write = sentWrite(of: entry) else { continue }
            online.unknown.add(write, identity, of: source, isOwn: false)
        }
    }

    /// The write of an attempt of an entry whose outcome is not known; nil if there was none.
    func sentWrite(of entry: OutboxEntry) -> MirrorWrite? {
        guard let sent = entry.sent, var write = FrozenWrite.decode(sent, entry, self) else { return nil }
        write.computed = computed(of: entry)
        return write
    }

    /// The values that the operations of an entry are about. Contexts have none of the operations.
    private func computed(of entry: OutboxEntry) -> [String: ComputedValue] {
        guard let base = entry.base.flatMap(RowSlab.restored(from:)) else { return [:] }
        var result: [String: ComputedValue] = [:]
        for (index, done) in entry.operations {
            let slot = model.entities[entry.identity.entityIndex].slots[index]
            let before = base.row.value(slot)
            guard let after = slot.type.flatMap({ done.applied(to: before, of: $0) }) else { continue }
            result[slot.name] = ComputedValue(
                before: .value(before), after: .value(after), operations: done, covered: FieldOperations())
        }
        return result
    }

    /// Writes are queued: nobody repeats them but the engine.
    func noteAdopted(_ writes: [(identity: RowIdentity, unknown: UnknownWrite)]) {
        for (identity, unknown) in writes {
            online.unknown.replace(unknown, identity, by: nil)
            // Not to find a new object looks like its end, and the server may not have had it when it was asked.
            if unknown.write.kind == .insert { order.noteWritten([unknown.write.rootedName]) }
            online.births.end([unknown.write.rootedName])
        }
    }

    private func adopt(
        _ unknown: UnknownWrite, of identity: RowIdentity, _ passed: Set<Int64>, on connection: Connection
    ) throws(StoreError) {
        let write = unknown.write
        var entries = try entries(root: identity.entityIndex, key: identity.key, on: connection)
        if entries.count == 2, var refused = entries.first, refused.state == .sent, refused.kind == .update,
            passed.contains(refused.seq), refused.token != write.write.token
        {
            // The save went past the entry, because the server had refused that: if it had been carried out, it would be gone.
            refused.state = .waiting
            refused.forgetAttempt()
            try settle(refused, on: connection)
        } else {
            // The save took the entry along, or went past it: what was queued after it has not been joined with it yet.
            try joinEntries(entries, on: connection)
        }
        entries = try self.entries(root: identity.entityIndex, key: identity.key, on: connection)
        // The change was made to what the mirror has of it.
        if unknown.isHere { return }
        guard entries.count == 1, var sent = entries.first, sent.state == .waiting,
            write.kind == sent.kind || write.kind == .update, write.kind != .delete || sent.kind == .delete
        else { return }
        // A change of an object that the server has never had was not carried out: the object is still to be created.
        if sent.kind == .insert, write.kind == .update, unknown.born == nil { return }
        let later = try rest(of: sent, behind: unknown, on: connection)
        if unknown.isCarriedOut, write.kind == .update, sent.kind == .update {
            try remove(sent.seq, on: connection)
            // The server may have made something else of it.
            try DeletedLinks(mirror: self, connection: connection).noteStale(identity)
            guard let later else { return }
            try add([later], on: connection)
            // A pull may have brought what was carried out before the context did all of it again.
            if !later.operations.isEmpty { try forgetVersion(later, on: connection) }
            return
        }
        if sent.kind == .insert, let born = unknown.born { sent.base = try row(of: born, on: connection).stored }
        if sent.kind == .delete, write.kind != .delete { sent.id = "" }
        sent.kind = write.kind
        sent.state = .sent
        sent.token = write.write.token
        sent.sent = FrozenWrite.encode(write)
        sent.attempts = 1
        if sent.kind == .update {
            sent.keep(SlotSet())
            for name in Array(write.write.values.keys) + write.write.operations.keys {
                for slot in write.entity.slots(of: name) { sent.slots.insert(slot) }
            }
            for (name, value) in write.computed where !value.operations.isEmpty {
                for slot in write.entity.slots(of: name) { sent.operations[slot] = value.operations }
            }
            sent.members = try members(of: write, on: connection)
            // What has been told since may have the operations in it: it would look as if they had not been carried out.
            if !write.computed.isEmpty, var base = sent.base.flatMap(RowSlab.restored(from:)) {
                for (name, value) in write.computed {
                    try place(value.before, name, write.entity, in: &base, on: connection)
                }
                sent.base = base.stored
            }
        }
        try self.write(sent, on: connection)
        if let later { try add([later], on: connection) }
    }

    /// The changes of members that a write reports.
    private func members(of write: MirrorWrite, on connection: Connection) throws(StoreError) -> [MemberChange] {
        var result: [MemberChange] = []
        for relation in write.relations {
            guard let relationship = write.entity.relationship(named: relation.relationship) else { continue }
            let root = root(relationship.destinationIndex)
            var change = MemberChange(relationship: relation.relationship)
            for id in relation.added {
                if let key = try known(id, root: root, on: connection)?.key { change.added.insert(key) }
            }
            for id in relation.removed {
                if let key = try known(id, root: root, on: connection)?.key { change.removed[key] = id }
            }
            result.append(change)
        }
        for (name, value) in write.write.values {
            guard case .references = value, let relationship = write.entity.relationship(named: name) else { continue }
            result.append(MemberChange(relationship: name, isOrder: relationship.isOrdered))
        }
        return result
    }

    /// What an entry says beyond a write that was sent before; nil if that is nothing.
    private func rest(
        of entry: OutboxEntry, behind unknown: UnknownWrite, on connection: Connection
    ) throws(StoreError) -> OutboxEntry? {
        let write = unknown.write
        let told = unknown.told
        var later = entry
        later.seq = 0
        if entry.kind == .delete {
            if write.kind == .delete { return nil }
            later.base = try base(of: entry, behind: write, born: unknown.born, on: connection)
            return later
        }
        later.kind = .update
        let reader = WriteReader(mirror: self, connection: connection, listsMembers: false, readsFiles: true)
        guard
            let row = try reader.rows(of: [entry.identity])[
                RowIdentity(entityIndex: root(entry.identity.entityIndex), key: entry.identity.key)],
            let now = try writes(
                for: [entry], isWhole: false, listsMembers: false, readsFiles: true, on: connection
            ).first ?? nil
        else { return nil }
        later.base =
            try base(of: entry, behind: write, born: unknown.born, on: connection)
            ?? RowSlab.copy(of: row.row).stored
        later.keep(SlotSet())
        for (name, value) in now.write.values {
            for slot in write.entity.slots(of: name) {
                add(slot, of: entry, behind: write, name, isTold: told[name] == value, to: &later)
            }
        }
        for (name, value) in write.computed where now.write.values[name] == nil && entry.kind == .update {
            guard let rest = FieldOperations().rest(after: value.covered), !rest.isEmpty else { continue }
            for slot in write.entity.slots(of: name) {
                later.slots.insert(slot)
                later.operations[slot] = rest
            }
        }
        // What was changed in the meantime and is now as it was before.
        for name in write.write.values.keys where now.write.values[name] == nil && write.computed[name] == nil {
            for slot in write.entity.slots(of: name) where entry.kind == .update { later.slots.insert(slot) }
        }
        later.members = try members(of: now, behind: write, told, entry, on: connection)
        return later.slots.isEmpty && later.members.isEmpty ? nil : later
    }

    /// Adds what an entry does to an attribute beyond a write that was sent before. Operations that do not follow those of the
    /// write make the value that is here.
    /// - Parameter isTold: Whether the write has told that value. Operations that follow may have made the same value of what others
    ///   have changed since.
    private func add(
        _ slot: Int, of entry: OutboxEntry, behind write: MirrorWrite, _ name: String, isTold: Bool,
        to later: inout OutboxEntry
    ) {
        let own = entry.operations[slot]
        if let own, let done = write.computed[name]?.covered {
            let rest = own.rest(after: done)
            if rest?.isEmpty ?? isTold { return }
            later.operations[slot] = rest
        } else if isTold {
            return
        } else if let own, write.write.values[name] == nil {
            later.operations[slot] = own
        }
        later.slots.insert(slot)
    }

    /// The row as the server has it once it has carried out a write before an entry.
    func base(
        of entry: OutboxEntry, behind write: MirrorWrite, born: MirrorWrite? = nil, on connection: Connection
    ) throws(StoreError) -> Data? {
        var row: RowSlab
        if let before = entry.base.flatMap(RowSlab.restored(from:)) {
            row = before
        } else if let born = write.kind == .insert ? write : born {
            row = try self.row(of: born, on: connection)
        } else {
            return nil
        }
        for (name, value) in write.write.values { try place(value, name, write.entity, in: &row, on: connection) }
        for (name, value) in write.computed {
            try place(value.after, name, write.entity, in: &row, on: connection)
        }
        return row.stored
    }

    /// A new object as it was sent: it has nothing else.
    private func row(of write: MirrorWrite, on connection: Connection) throws(StoreError) -> RowSlab {
        var row = RowEditing.emptyRow(entity: write.entity, key: write.identity.key)
        let primaryKey = primaryKeys[write.entity.index]
        if let id = PrimaryKey.value(write.write.id, primaryKey) {
            _ = RowEditing.setValue(id, primaryKey, layout: write.entity.slots, in: &row)
        }
        for (name, value) in write.write.values { try place(value, name, write.entity, in: &row, on: connection) }
        return row
    }

    /// The changes of members beyond those of a write that was sent before.
    private func members(
        of now: MirrorWrite, behind write: MirrorWrite, _ told: [String: RemoteValue], _ entry: OutboxEntry,
        on connection: Connection
    ) throws(StoreError) -> [MemberChange] {
        var result: [MemberChange] = []
        for relationship in write.entity.relationships where relationship.isToMany {
            let name = relationship.name
            let root = root(relationship.destinationIndex)
            let own = entry.members.first { $0.relationship == name }
            var change = MemberChange(relationship: name)
            if case .references(let listed)? = now.write.values[name] {
                // An insert tells all members, and a new order all of it.
                let before = told.members(of: name)
                if before == listed { continue }
                for id in listed where !before.contains(id) {
                    if let key = try known(id, root: root, on: connection)?.key { change.added.insert(key) }
                }
                for id in before where !listed.contains(id) {
                    if let key = try known(id, root: root, on: connection)?.key { change.removed[key] = id }
                }
                change.isOrder = relationship.isOrdered
                if case .inverseSlot = relationship.storage { (change.added, change.removed) = ([], [:]) }
            } else {
                let earlier = write.relations.filter { $0.relationship == name }
                var (added, removed) = (Set<Int64>(), [Int64: String]())
                for id in earlier.flatMap(\.added) {
                    if let key = try known(id, root: root, on: connection)?.key { added.insert(key) }
                    if let key = try known(id, root: root, on: connection)?.key, own?.added.contains(key) != true {
                        change.removed[key] = id
                    }
                }
                for id in earlier.flatMap(\.removed) {
                    guard let key = try known(id, root: root, on: connection)?.key else { continue }
                    removed[key] = id
                    if own?.removed[key] == nil { change.added.insert(key) }
                }
                for key in own?.added ?? [] where !added.contains(key) { change.added.insert(key) }
                for (key, id) in own?.removed ?? [:] where removed[key] == nil { change.removed[key] = id }
                change.isOrder = own?.isOrder ?? false
            }
            if !change.isEmpty { result.append(change) }
        }
        return result
    }

    private func place(
        _ value: RemoteValue, _ name: String, _ entity: EntityDescription, in row: inout RowSlab,
        on connection: Connection
    ) throws(StoreError) {
        for index in entity.slots(of: name) {
            let slot = entity.slots[index]
            var told = Value.null
            switch value {
            case .value(.composite(let elements)):
                told = elements[String(slot.name.dropFirst(name.count + 1))] ?? .null
            case .value(let value): told = value
            case .reference(let id?):
                guard let index = slot.relationshipIndex else { break }
                let root = root(entity.relationships[index].destinationIndex)
                if let key = try known(id, root: root, on: connection)?.key { told = .object(key) }
            default: break
            }
            _ = RowEditing.setValue(told, slot, layout: entity.slots, in: &row)
        }
    }
}

extension ChangeSet {
    /// Leaves out what a write has done of the operations on its object.
    /// - Parameter now: The object with the results of the write.
    fileprivate mutating func leaveOut(
        _ write: MirrorWrite, ofUpdateAt index: Int, behind now: RowPointer, _ model: ManagedObjectModel
    ) {
        let update = updates[index]
        let layout = model.entities[now.entityIndex].slots
        var operations = operations(of: update)
        var slots = update.slots
        var slab = RowSlab.copy(of: update.row.row, room: 64)
        for slot in slots {
            guard let done = write.computed[layout[slot].name]?.covered, let type = layout[slot].type,
                let rest = operations[slot]?.rest(after: done),
                let value = rest.applied(to: now.value(layout[slot]), of: type),
                RowEditing.setValue(value, layout[slot], layout: layout, in: &slab)
            else { continue }
            operations[slot] = rest.isEmpty ? nil : rest
            if rest.isEmpty { slots.remove(slot) }
        }
        self.operations[RowIdentity(entityIndex: now.entityIndex, key: now.key)] = operations
        updates[index] = Update(
            row: RowReference(slab: slab, row: slab.row), slots: slots, baseVersion: update.baseVersion)
    }
}
