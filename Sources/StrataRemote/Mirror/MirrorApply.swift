import Foundation
import StrataSQLite

/// What became of what a server told.
package struct AppliedChanges: Sendable {
    /// For each record of the page the object here; nil for one that was deleted here, or is about to be.
    package var rows: [RowIdentity?] = []
    /// What contexts hear of; nil if nothing changed.
    package var change: StoreChange?
}

extension Mirror {
    /// Takes in what a server told, in one transaction. Objects that it refers to and that are not here become
    /// placeholders. What was changed here stays on top until the server has heard of it. Contexts hear of the change.
    /// - Parameters:
    ///   - isWhole: Whether the records have all values; false if some properties alone were asked for.
    ///   - ticket: Taken before the request was sent.
    ///   - state: A value to keep in the same transaction: how far a pull came.
    ///   - keeps: Whether the objects are a part of the mirror from now on. False leaves those that are as they are, and
    ///     those that are new no more than here.
    package func apply(
        _ page: RemotePage, isWhole: Bool = true, ticket: ReadTicket? = nil,
        state: (name: String, value: String)? = nil, keeps: Bool = true
    ) throws(StoreError) -> AppliedChanges {
        let known = keeps ? [:] : try filled(page.records)
        let applied = try applying { (session) throws(StoreError) in
            session.isWhole = isWhole
            session.ticket = ticket
            if let state { try MirrorState.set(state.name, state.value, on: session.connection) }
            return try session.run(page.records, deleted: page.deleted)
        }
        for (record, row) in zip(page.records, applied.rows) {
            guard let row else { continue }
            let root = root(row.entityIndex)
            if keeps {
                passing.remove([row.key], rootIndex: root)
            } else if known[record.identity] == nil {
                passing.add([row.key], rootIndex: root)
            }
        }
        return applied
    }

    /// Those of some objects that are here with more than their name.
    private func filled(_ records: [RemoteRecord]) throws(StoreError) -> [RemoteIdentity: Int64] {
        var known = try keys(of: records.map(\.identity))
        for (root, list) in Dictionary(grouping: known, by: { model.entity(named: $0.key.entity)?.rootIndex ?? 0 }) {
            let empty = try placeholders(among: list.map(\.value).sorted(), entityIndex: root)
            for (name, key) in list where empty[key] != nil { known[name] = nil }
        }
        return known
    }

    /// Runs a closure that takes in what a server told, and tells contexts of it.
    func applying<T>(_ body: (inout ApplySession) throws(StoreError) -> T) throws(StoreError) -> T {
        let (result, change) = try store.transaction { (transaction) throws(StoreError) in
            var session = ApplySession(mirror: self, transaction: transaction)
            let result = try body(&session)
            return (result, session.change)
        }
        if let change { changes.post(change) }
        return result
    }
}

/// Takes in records as part of a transaction.
struct ApplySession {
    let mirror: Mirror
    let transaction: StoreTransaction
    var isWhole = true
    var ticket: ReadTicket?
    /// An entry of the outbox whose conflict has been decided: what it still has is put on top of what is told.
    var settled: OutboxEntry?
    /// What contexts hear of.
    private(set) var change: StoreChange?

    private var changes = ChangeSet()
    private var previousRows: [RowReference] = []
    private var deletedRows: [RowReference?] = []
    private var items: [Item] = []
    private var positions: [RemoteIdentity: Int] = [:]
    private var keys: [RemoteIdentity: Int64] = [:]
    /// Objects that are not here any more, so that nothing may refer to them.
    private var gone: Set<RemoteIdentity> = []
    private var rows: [RowIdentity: RowReference] = [:]
    private var outboxIsEmpty = false

    /// A record on its way in. Identities name the topmost entity of the hierarchy.
    private struct Item {
        var record: RemoteRecord
        let entity: EntityDescription
        let identity: RemoteIdentity
        var known: KnownObject?
    }

    init(mirror: Mirror, transaction: StoreTransaction) {
        self.mirror = mirror
        self.transaction = transaction
    }

    var connection: Connection { transaction.connection }
    private var model: ManagedObjectModel { mirror.model }

    mutating func run(_ records: [RemoteRecord], deleted: [RemoteIdentity]) throws(StoreError) -> AppliedChanges {
        outboxIsEmpty = try connection.integer("SELECT 1 FROM _outbox LIMIT 1") == nil
        for record in records { flatten(record) }
        for index in items.indices {
            items[index].known = try mirror.known(
                items[index].identity.id, root: items[index].entity.rootIndex, on: connection)
        }
        for identity in deleted { try delete(identity) }
        try findKeys()
        try readRows()
        for item in items { try place(item) }
        try write()
        return AppliedChanges(rows: records.map { row(of: $0) }, change: change)
    }

    private func row(of record: RemoteRecord) -> RowIdentity? {
        guard let entity = model.entity(named: record.entity) else { return nil }
        return keys[named(record.id, entity)].map { RowIdentity(entityIndex: entity.index, key: $0) }
    }

    private func named(_ id: String, _ entity: EntityDescription) -> RemoteIdentity {
        RemoteIdentity(entity: entity.rootName, id: id)
    }

    // MARK: Records

    /// Puts a record and those within it into the list, each object once.
    private mutating func flatten(_ record: RemoteRecord) {
        guard let entity = model.entity(named: record.entity), !entity.isAbstract else { return }
        var record = record
        for (name, value) in record.values {
            switch value {
            case .record(let inner):
                flatten(inner)
                record.values[name] = .reference(inner.id)
            case .records(let list):
                for inner in list { flatten(inner) }
                record.values[name] = .references(list.map(\.id))
            default: break
            }
        }
        let identity = named(record.id, entity)
        if let position = positions[identity] {
            items[position].record.values.merge(record.values) { $1 }
            items[position].record.version = record.version ?? items[position].record.version
            items[position].record.modified = record.modified ?? items[position].record.modified
        } else if mirror.tombstones.covers(identity, ticket) {
            gone.insert(identity)
        } else {
            positions[identity] = items.count
            items.append(Item(record: record, entity: entity, identity: identity))
        }
    }

    private func references(of item: Item) -> [(entity: EntityDescription, id: String)] {
        item.record.values.flatMap { (name, value) -> [(entity: EntityDescription, id: String)] in
            guard let relationship = item.entity.relationship(named: name) else { return [] }
            let destination = model.destination(of: relationship)
            switch value {
            case .reference(let id): return id.map { [(destination, $0)] } ?? []
            case .references(let ids): return ids.map { (destination, $0) }
            default: return []
            }
        }
    }

    /// Finds the keys of all objects that records are about or refer to, and makes keys for those that are new.
    private mutating func findKeys() throws(StoreError) {
        var newOnes: [Int: [(RemoteIdentity, EntityDescription, isPlaceholder: Bool)]] = [:]
        var seen: Set<RemoteIdentity> = []
        // Those that were deleted here, of which the server has not heard.
        var deletedHere: Set<RemoteIdentity> = []
        let links = DeletedLinks(mirror: mirror, connection: connection)
        for item in items {
            seen.insert(item.identity)
            if let known = item.known {
                if let key = known.key {
                    keys[item.identity] = key
                } else {
                    gone.insert(item.identity)
                    deletedHere.insert(item.identity)
                }
            } else {
                newOnes[item.entity.rootIndex, default: []].append((item.identity, item.entity, false))
            }
        }
        for item in items {
            for (entity, id) in references(of: item) {
                let identity = named(id, entity)
                if deletedHere.contains(identity) {
                    try links.add(identity, from: item.record.identity)
                    continue
                }
                guard seen.insert(identity).inserted, !gone.contains(identity) else { continue }
                if let known = try mirror.known(id, root: entity.rootIndex, on: connection) {
                    if let key = known.key {
                        keys[identity] = key
                    } else {
                        gone.insert(identity)
                        deletedHere.insert(identity)
                        try links.add(identity, from: item.record.identity)
                    }
                } else if mirror.tombstones.covers(identity, ticket) {
                    gone.insert(identity)
                } else {
                    newOnes[entity.rootIndex, default: []].append((identity, entity, true))
                }
            }
        }
        for (root, list) in newOnes.sorted(by: { $0.key < $1.key }) {
            var next = try transaction.allocateKeys(list.count, rootIndex: root).lowerBound
            for (identity, entity, isPlaceholder) in list {
                keys[identity] = next
                let insert = try connection.statement("INSERT INTO _remote(root, id, key) VALUES(?, ?, ?)")
                insert.bind(mirror.entities.numbers[root], at: 1)
                insert.bind(identity.id, at: 2)
                insert.bind(next, at: 3)
                try insert.run()
                if isPlaceholder { try makePlaceholder(identity.id, entity, next) }
                next += 1
            }
        }
    }

    private func makePlaceholder(_ id: String, _ entity: EntityDescription, _ key: Int64) throws(StoreError) {
        let slot = mirror.primaryKeys[entity.rootIndex]
        let concrete = entity.descendantIndexes.first { !model.entities[$0].isAbstract } ?? entity.index
        guard let place = mirror.store.place(entityIndex: entity.rootIndex, slot: slot.index) else { return }
        let hasEntity = mirror.store.hasEntityColumn(entity.index)
        let statement = try connection.statement(
            "INSERT INTO \(place.table)(_id, _version, \(place.column)\(hasEntity ? ", _entity" : "")) "
                + "VALUES(?, 0, ?\(hasEntity ? ", ?" : ""))")
        statement.bind(key, at: 1)
        switch PrimaryKey.value(id, slot) {
        case .integer(let number): statement.bind(number, at: 2)
        case .uuid(let uuid): statement.bind(uuid.data, at: 2)
        default: statement.bind(id, at: 2)
        }
        if hasEntity { statement.bind(model.entities[concrete].name, at: 3) }
        try statement.run()
    }

    private mutating func readRows() throws(StoreError) {
        var wanted: [Int: [Int64]] = [:]
        for item in items {
            if let key = item.known?.key { wanted[item.entity.rootIndex, default: []].append(key) }
        }
        for (root, keys) in wanted {
            try transaction.rows(entityIndex: root, keys: keys).forEach { (slab, row) throws(StoreError) in
                rows[RowIdentity(entityIndex: root, key: row.key)] = RowReference(slab: slab, row: row)
            }
        }
    }

    // MARK: Values

    /// The slots that a record tells, with their values.
    private func told(_ item: Item) throws(StoreError) -> [(slot: SlotDescription, value: Value)] {
        var result: [(slot: SlotDescription, value: Value)] = []
        let entity = item.entity
        for (name, value) in item.record.values {
            if let attribute = entity.attribute(named: name) {
                guard case .value(let value) = value else { continue }
                if case .composite = attribute.type {
                    var elements: [String: Value] = [:]
                    if case .composite(let given) = value { elements = given }
                    for index in attribute.slots {
                        let slot = entity.slots[index]
                        result.append((slot, elements[String(slot.name.dropFirst(name.count + 1))] ?? .null))
                    }
                } else if let index = attribute.slots.first {
                    result.append((entity.slots[index], value))
                }
            } else if let relationship = entity.relationship(named: name), let slot = relationship.slot {
                guard case .reference(let id) = value else { continue }
                let identity = id.map { named($0, model.destination(of: relationship)) }
                let key = identity.flatMap { gone.contains($0) ? nil : keys[$0] }
                result.append((entity.slots[slot], key.map(Value.object) ?? .null))
            }
        }
        let primaryKey = mirror.primaryKeys[entity.index]
        guard let id = PrimaryKey.value(item.record.id, primaryKey) else {
            throw .invalidData(
                entity: entity.name, property: primaryKey.name, key: keys[item.identity] ?? 0,
                reason: "the server's primary key \"\(item.record.id)\" is no \(primaryKey.type?.name ?? "key")")
        }
        return result.filter { $0.slot.isTold && $0.slot.index != primaryKey.index } + [(primaryKey, id)]
    }

    private func set(
        _ value: Value, _ slot: SlotDescription, _ entity: EntityDescription, in slab: inout RowSlab
    ) throws(StoreError) {
        guard RowEditing.setValue(value, slot, layout: entity.slots, in: &slab) else {
            throw .invalidData(
                entity: entity.name, property: slot.name, key: slab.row.key,
                reason: "the server's \(value.kind) \(value) is no \(slot.type?.name ?? "key")")
        }
    }

    // MARK: Placing

    private mutating func place(_ item: Item) throws(StoreError) {
        guard let key = keys[item.identity] else { return }
        let entity = item.entity
        let told = try told(item)
        guard let old = rows[RowIdentity(entityIndex: entity.rootIndex, key: key)] else {
            var slab = RowEditing.emptyRow(entity: entity, key: key)
            for (slot, value) in told { try set(value, slot, entity, in: &slab) }
            try insert(slab, item)
            return try note(item)
        }
        if old.row.version == 0 { return try fill(old, item, told) }
        guard old.row.entityIndex == entity.index else {
            throw .invalidData(
                entity: model.entities[old.row.entityIndex].name, property: "entity", key: key,
                reason: "the server says that it is a \(entity.name); purge it and read it again")
        }
        if let known = item.known?.modified, let modified = item.record.modified, modified < known { return }
        try update(old, item, told)
    }

    private mutating func insert(_ slab: RowSlab, _ item: Item) throws(StoreError) {
        RowEditing.setVersion(1, in: slab)
        changes.inserts.append(.init(row: RowReference(slab: slab, row: slab.row)))
        try placeMembers(item, slab.row.key, entries: [])
    }

    /// Gives a placeholder its values.
    private mutating func fill(
        _ old: RowReference, _ item: Item, _ told: [(slot: SlotDescription, value: Value)]
    ) throws(StoreError) {
        let entity = item.entity
        var slab = RowEditing.emptyRow(entity: entity, key: old.row.key)
        for (slot, value) in told { try set(value, slot, entity, in: &slab) }
        if old.row.entityIndex != entity.index, mirror.store.hasEntityColumn(entity.index),
            let place = mirror.store.place(entityIndex: entity.rootIndex, slot: mirror.primaryKeys[entity.index].index)
        {
            let statement = try connection.statement("UPDATE \(place.table) SET _entity = ? WHERE _id = ?")
            statement.bind(entity.name, at: 1)
            statement.bind(old.row.key, at: 2)
            try statement.run()
        }
        RowEditing.setVersion(1, in: slab)
        // What refers to it may have come without saying so here: that is not taken away.
        var slots = SlotSet()
        for slot in entity.slots where slot.isStored && (slab.row.isPresent(slot.index)) { slots.insert(slot.index) }
        changes.updates.append(.init(row: RowReference(slab: slab, row: slab.row), slots: slots, baseVersion: 0))
        previousRows.append(old)
        try placeMembers(item, old.row.key, entries: [])
        try note(item)
    }

    /// Puts what is told under what was changed here.
    private mutating func update(
        _ old: RowReference, _ item: Item, _ told: [(slot: SlotDescription, value: Value)]
    ) throws(StoreError) {
        let entity = item.entity
        var entries: [OutboxEntry] =
            outboxIsEmpty ? [] : try mirror.entries(root: entity.rootIndex, key: old.row.key, on: connection)
        // Nobody else can have changed what the server does not know; if it does, sending it will tell.
        if entries.contains(where: { $0.kind == .insert && $0.seq != settled?.seq }) { return }
        entries.removeAll { $0.kind == .delete }
        var local = SlotSet()
        for entry in entries { local.formUnion(entry.seq == settled?.seq ? settled?.slots ?? SlotSet() : entry.slots) }
        var slab = RowSlab.copy(of: old.row)
        var changed = SlotSet()
        for (slot, value) in told where !local.contains(slot.index) {
            try set(value, slot, entity, in: &slab)
            if !slab.row.hasSameValue(as: old.row, slot: slot.index, storage: slot.storage) {
                changed.insert(slot.index)
            }
        }
        if !changed.isEmpty {
            RowEditing.setVersion(old.row.version + 1, in: slab)
            changes.updates.append(
                .init(row: RowReference(slab: slab, row: slab.row), slots: changed, baseVersion: old.row.version))
            previousRows.append(old)
        }
        try placeMembers(item, old.row.key, entries: entries)
        if try rebase(entries, told, old.row, entity), isWhole { try note(item) }
    }

    /// Notes what the server told in the bases of waiting entries.
    /// - Returns: Whether nothing that was changed here has another value at the server than it had when it was changed
    ///   here. Else the entries stay as they are based, so that the conflict is met when they are sent.
    private func rebase(
        _ entries: [OutboxEntry], _ told: [(slot: SlotDescription, value: Value)], _ old: RowPointer,
        _ entity: EntityDescription
    ) throws(StoreError) -> Bool {
        var agrees = true
        for var entry in entries {
            let isSettled = entry.seq == settled?.seq
            if isSettled, let settled { entry = settled }
            let base = entry.base.flatMap(RowSlab.init(stored:)) ?? RowSlab.copy(of: old)
            var slab = RowSlab.copy(of: base.row)
            for (slot, value) in told {
                var trial = slab
                if entry.slots.contains(slot.index), !isSettled {
                    trial = RowSlab.copy(of: slab.row)
                    try set(value, slot, entity, in: &trial)
                    if !trial.row.hasSameValue(as: base.row, slot: slot.index, storage: slot.storage) { agrees = false }
                } else {
                    try set(value, slot, entity, in: &slab)
                }
            }
            if !isSettled, !entry.slots.allSatisfy({ index in told.contains { $0.slot.index == index } }) {
                agrees = agrees && entry.slots.isEmpty
            }
            entry.base = slab.stored
            try mirror.write(entry, on: connection)
        }
        return agrees
    }

    /// Notes the server's version of an object.
    private func note(_ item: Item) throws(StoreError) {
        let statement = try connection.statement(
            "UPDATE _remote SET version = ?, modified = ? WHERE root = ? AND id = ?")
        if let version = item.record.version { statement.bind(version, at: 1) } else { statement.bindNull(at: 1) }
        if let modified = item.record.modified {
            statement.bind(modified.timeIntervalSinceReferenceDate, at: 2)
        } else {
            statement.bindNull(at: 2)
        }
        statement.bind(mirror.entities.numbers[item.entity.rootIndex], at: 3)
        statement.bind(item.record.id, at: 4)
        try statement.run()
    }

    // MARK: Members

    private mutating func placeMembers(_ item: Item, _ key: Int64, entries: [OutboxEntry]) throws(StoreError) {
        for (name, value) in item.record.values {
            guard case .references(let ids) = value, let relationship = item.entity.relationship(named: name),
                relationship.isToMany
            else { continue }
            let destination = model.destination(of: relationship)
            var members: [Int64] = []
            for id in ids {
                let identity = named(id, destination)
                if !gone.contains(identity), let member = keys[identity], !members.contains(member) {
                    members.append(member)
                }
            }
            switch relationship.storage {
            case .pairs(let isPrimary):
                guard isPrimary || mirror.keepsInverses else { continue }
                try placePairs(relationship, item.entity, key, members, isPrimary: isPrimary, entries)
            case .inverseSlot(let slot): try adopt(members, destination, slot: slot, owner: key)
            case .slot: break
            }
            let isArrangedHere = entries.contains { $0.members.contains { $0.relationship == name && $0.isOrder } }
            guard relationship.isOrdered, !isArrangedHere, !members.isEmpty else { continue }
            changes.orders.append(
                .init(
                    entityIndex: item.entity.index, relationshipIndex: relationship.index, owner: key,
                    kind: .arrange(members)))
        }
    }

    /// Makes the pairs of an object those that the server tells, with what was added and removed here on top.
    private mutating func placePairs(
        _ relationship: RelationshipDescription, _ entity: EntityDescription, _ key: Int64, _ members: [Int64],
        isPrimary: Bool, _ entries: [OutboxEntry]
    ) throws(StoreError) {
        let present = Set(
            try transaction.memberKeys(
                entityIndex: entity.index, relationshipIndex: relationship.index, owners: [key]
            ).map(\.member))
        let wanted = Set(members)
        let different = present.symmetricDifference(wanted).sorted()
        guard !different.isEmpty else { return }
        guard !isPrimary else {
            let waiting = entries.flatMap(\.members).filter { $0.relationship == relationship.name }
            let free = different.filter { key in
                !waiting.contains { $0.added.contains(key) || $0.removed[key] != nil }
            }
            return addPairs(
                relationship, entity.index, key, free.filter(wanted.contains), free.filter { !wanted.contains($0) })
        }
        // The other side has the changes that wait.
        guard let inverse = model.inverse(of: relationship) else { return }
        for owner in different {
            let waiting =
                outboxIsEmpty
                ? [] : try mirror.entries(root: mirror.root(relationship.destinationIndex), key: owner, on: connection)
            let isTaken = waiting.flatMap(\.members).contains {
                $0.relationship == inverse.name && ($0.added.contains(key) || $0.removed[key] != nil)
            }
            // A new object tells its members itself.
            if isTaken || waiting.contains(where: { $0.kind == .insert }) { continue }
            addPairs(
                inverse, relationship.destinationIndex, owner, wanted.contains(owner) ? [key] : [],
                wanted.contains(owner) ? [] : [key])
        }
    }

    private mutating func addPairs(
        _ relationship: RelationshipDescription, _ entityIndex: Int, _ owner: Int64, _ added: [Int64],
        _ removed: [Int64]
    ) {
        guard !added.isEmpty || !removed.isEmpty else { return }
        changes.pairs.append(
            .init(
                entityIndex: model.entity(named: relationship.declaringEntity)?.index ?? entityIndex,
                relationshipIndex: relationship.index, owner: owner, added: added, removed: removed))
    }

    /// Members of which nothing is known yet refer to their owner. Others tell by themselves where they belong.
    private func adopt(
        _ members: [Int64], _ destination: EntityDescription, slot: Int, owner: Int64
    ) throws(StoreError) {
        guard !members.isEmpty, let place = mirror.store.place(entityIndex: destination.index, slot: slot) else {
            return
        }
        let statement = try connection.statement(
            """
            UPDATE \(place.table) SET \(place.column) = ? WHERE _version = 0 \
            AND _id IN (SELECT value FROM strata_list(?))
            """)
        statement.bind(owner, at: 1)
        statement.bind(ValueList(keys: members), at: 2)
        try statement.run()
    }

    // MARK: Deletes

    /// The server has deleted an object.
    private mutating func delete(_ identity: RemoteIdentity) throws(StoreError) {
        guard let entity = model.entity(named: identity.entity) else { return }
        let name = named(identity.id, entity)
        guard positions[name] == nil, let known = try mirror.known(identity.id, root: entity.rootIndex, on: connection)
        else { return }
        guard let key = known.key else {
            // Deleted on both sides.
            for entry in try mirror.entries(
                "root = ? AND kind = 2 AND id = ?", on: connection,
                { statement in
                    statement.bind(mirror.entities.numbers[entity.rootIndex], at: 1)
                    statement.bind(identity.id, at: 2)
                })
            { try mirror.remove(entry.seq, on: connection) }
            return try forget(name, entity)
        }
        let entries = try mirror.entries(root: entity.rootIndex, key: key, on: connection)
        // What is to become of changes is decided when they are sent. A new object that the server is known to have had
        // is none any more.
        if entries.contains(where: { $0.kind == .update || ($0.kind == .insert && $0.state != .sent) }) { return }
        for entry in entries { try mirror.remove(entry.seq, on: connection) }
        try remove(name, entity, key)
    }

    /// Takes an object away.
    mutating func remove(_ identity: RemoteIdentity, _ entity: EntityDescription, _ key: Int64) throws(StoreError) {
        let found = try transaction.rows(entityIndex: entity.rootIndex, keys: [key])
        if found.count > 0 {
            changes.deletes.append(
                .init(entityIndex: found[0].row.entityIndex, key: key, baseVersion: found[0].row.version))
            deletedRows.append(found[0])
        }
        try forget(identity, entity)
    }

    private mutating func forget(_ identity: RemoteIdentity, _ entity: EntityDescription) throws(StoreError) {
        gone.insert(identity)
        mirror.tombstones.add(identity)
        try OutboxWriter(mirror: mirror, connection: connection).forget(identity.id, root: entity.rootIndex)
    }

    // MARK: One object

    /// A row with what a record tells over another one, and the slots that it tells; nil if it is about another entity.
    func row(of record: RemoteRecord, over row: RowPointer) throws(StoreError) -> (slab: RowSlab, slots: SlotSet)? {
        guard let entity = model.entity(named: record.entity), entity.index == row.entityIndex else { return nil }
        var other = self
        let item = Item(record: record, entity: entity, identity: named(record.id, entity))
        for (destination, id) in references(of: item) {
            let identity = named(id, destination)
            // An object that is not here yet is another one than any that is.
            other.keys[identity] = try mirror.known(id, root: destination.rootIndex, on: connection)?.key ?? -1
        }
        var slab = RowSlab.copy(of: row)
        var slots = SlotSet()
        for (slot, value) in try other.told(item) {
            try set(value, slot, entity, in: &slab)
            slots.insert(slot.index)
        }
        return (slab, slots)
    }

    /// Gives an object values that it had before: some slots, or all of a deleted one.
    mutating func putBack(_ base: RowSlab, slots: SlotSet?, _ entry: OutboxEntry) throws(StoreError) {
        let entity = model.entities[entry.identity.entityIndex]
        let found = try transaction.rows(entityIndex: entity.rootIndex, keys: [entry.identity.key])
        var slab = found.count > 0 ? RowSlab.copy(of: found[0].row) : RowSlab.copy(of: base.row)
        for slot in entity.slots where slot.storage == .key && base.row.isPresent(slot.index) {
            // What it referred to may have gone meanwhile.
            guard let index = slot.relationshipIndex else { continue }
            let key = Int64(bitPattern: base.row.word(slot.index))
            let target = try transaction.rows(entityIndex: entity.relationships[index].destinationIndex, keys: [key])
            if target.count == 0 { RowEditing.setNil(slot.index, in: base) }
        }
        guard found.count > 0 else {
            RowEditing.setVersion(base.row.version + 1, in: slab)
            for slot in entity.slots where slot.storage == .key && !base.row.isPresent(slot.index) {
                RowEditing.setNil(slot.index, in: slab)
            }
            changes.inserts.append(.init(row: RowReference(slab: slab, row: slab.row)))
            return
        }
        guard let slots, !slots.isEmpty else { return }
        for slot in slots { RowEditing.copySlot(slot, layout: entity.slots, from: base.row, to: &slab) }
        RowEditing.setVersion(found[0].row.version + 1, in: slab)
        changes.updates.append(
            .init(row: RowReference(slab: slab, row: slab.row), slots: slots, baseVersion: found[0].row.version))
        previousRows.append(found[0])
    }

    /// Makes an object a placeholder.
    mutating func empty(_ entity: EntityDescription, _ key: Int64) throws(StoreError) {
        let found = try transaction.rows(entityIndex: entity.rootIndex, keys: [key])
        guard found.count > 0, found[0].row.version > 0 else { return }
        let old = found[0]
        let own = model.entities[old.row.entityIndex]
        let primaryKey = mirror.primaryKeys[own.index].index
        var slab = RowEditing.emptyRow(entity: own, key: key)
        RowEditing.copySlot(primaryKey, layout: own.slots, from: old.row, to: &slab)
        changes.updates.append(
            .init(
                row: RowReference(slab: slab, row: slab.row),
                slots: SlotSet(own.slots.filter { $0.isStored && $0.index != primaryKey }.map(\.index)),
                baseVersion: old.row.version))
        previousRows.append(old)
    }

    /// Takes all objects of a hierarchy away, placeholders included.
    mutating func removeAll(_ entity: EntityDescription) throws(StoreError) {
        var keys: [Int64] = []
        let list = try connection.statement("SELECT key FROM _remote WHERE root = ? AND key IS NOT NULL")
        list.bind(mirror.entities.numbers[entity.index], at: 1)
        while try list.step() { keys.append(list.integer(0)) }
        try transaction.rows(entityIndex: entity.index, keys: keys).forEach { (slab, row) throws(StoreError) in
            changes.deletes.append(.init(entityIndex: row.entityIndex, key: row.key, baseVersion: row.version))
            deletedRows.append(RowReference(slab: slab, row: row))
        }
    }

    // MARK: Writing

    /// Writes what has been collected.
    mutating func write() throws(StoreError) {
        let effects: CommitEffects
        switch try transaction.write(changes) {
        case .committed(let made), .partly(let made, _, _): effects = made
        case .conflicts(let conflicts):
            // Nobody else can write within this transaction, and nothing is unique in a mirror.
            throw .constraint(
                entity: conflicts.first.map { model.entities[$0.entityIndex].name } ?? "", reason: "\(conflicts)")
        }
        guard !changes.isEmpty else { return }
        change = StoreChange(
            changes: changes, effects: effects, previousRows: previousRows, deletedRows: deletedRows)
    }
}

extension RowSlab {
    /// Reads what ``stored`` gave; nil if it is no row.
    convenience init?(stored data: Data) {
        guard data.count >= RowPointer.fixedSize(0) else { return nil }
        self.init(capacity: data.count)
        data.withUnsafeBytes { bytes in
            if let start = bytes.baseAddress { memory.copyMemory(from: start, byteCount: bytes.count) }
        }
        guard row.byteCount == data.count, RowPointer.fixedSize(row.slotCount) <= data.count else { return nil }
    }

    /// The single row as bytes.
    var stored: Data { Data(bytes: memory, count: row.byteCount) }
}
