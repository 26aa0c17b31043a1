import Foundation
import StrataSQLite

/// Takes in records as part of a transaction. Its stored properties are what the parts of one transaction hand each other: the
/// state when it began, and what is collected for its end.
struct ApplySession {
    let mirror: Mirror
    let transaction: StoreTransaction
    var isWhole = true
    var ticket: ReadTicket?
    /// An entry of the outbox whose conflict has been decided: what it still has is put on top of what is told.
    var settled: OutboxEntry?
    /// What contexts hear of.
    var change: StoreChange?

    var changes = ChangeSet()
    var previousRows: [RowReference] = []
    var deletedRows: [RowReference?] = []
    var items: [Item] = []
    var positions: [RemoteIdentity: Int] = [:]
    var keys: [RemoteIdentity: Int64] = [:]
    /// Objects that are not here any more, so that nothing may refer to them.
    var gone: Set<RemoteIdentity> = []
    var rows: [RowIdentity: RowReference] = [:]
    var outboxIsEmpty = false
    /// Objects whose entries the same answer settles, by topmost entity and key: their own records tell their members.
    var settling: Set<RowIdentity> = []
    var notes = ApplyNotes()
    /// Records that cannot be taken in.
    var unreadable: [UnreadableRecord] = []
    /// Objects of which the server is asked again: their record was overtaken, or came before their save has ended.
    var overtaken: [RemoteIdentity] = []

    /// A record on its way in. Identities name the topmost entity of the hierarchy.
    struct Item {
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
    var model: ManagedObjectModel { mirror.model }

    mutating func run(_ records: [RemoteRecord], deleted: [RemoteIdentity]) throws(StoreError) -> AppliedChanges {
        outboxIsEmpty = try connection.integer("SELECT 1 FROM _outbox LIMIT 1") == nil
        for record in records { flatten(record) }
        for (root, indexes) in Dictionary(grouping: items.indices, by: { items[$0].entity.rootIndex }) {
            let known = try mirror.known(indexes.map { items[$0].identity.id }, root: root, on: connection)
            for index in indexes { items[index].known = known[items[index].identity.id] }
        }
        for identity in deleted { try delete(identity) }
        try DeletedLinks(mirror: mirror, connection: connection).note(changes.deletes)
        try findKeys()
        try readRows()
        for item in items { try place(item) }
        try write()
        try writeVersions()
        try noteForLater()
        return AppliedChanges(rows: records.map { row(of: $0) }, change: change, unreadable: unreadable)
    }

    private mutating func noteForLater() throws(StoreError) {
        let links = DeletedLinks(mirror: mirror, connection: connection)
        for identity in overtaken {
            try links.noteStale(identity)
            // Those that are here belong to the answer all the same, as they are by now.
            guard let entity = model.entity(named: identity.entity) else { continue }
            let known = try mirror.known(identity.id, root: entity.rootIndex, on: connection)
            if let key = known?.key { keys[named(identity.id, entity)] = key }
        }
        for record in unreadable {
            if let identity = record.identity { try links.noteStale(identity) }
            mirror.unreadable.add(record)
        }
        mirror.unreadable.remove(items.map(\.record.identity))
        if let ticket { mirror.order.noteRead(items.map(\.identity), ticket) }
    }

    func row(of record: RemoteRecord) -> RowIdentity? {
        guard let entity = model.entity(named: record.entity) else { return nil }
        return keys[named(mirror.canonical(record.id, entity), entity)].map { RowIdentity(entityIndex: entity.index, key: $0) }
    }

    func named(_ id: String, _ entity: EntityDescription) -> RemoteIdentity {
        RemoteIdentity(entity: entity.rootName, id: id)
    }

    // MARK: Records

    /// Puts a record and those within it into the list, each object once.
    mutating func flatten(_ record: RemoteRecord) {
        guard let entity = model.entity(named: record.entity), !entity.isAbstract else { return }
        var record = record
        record.id = mirror.canonical(record.id, entity)
        for (name, value) in record.values {
            switch value {
            case .value: continue
            case .record(let inner):
                flatten(inner)
                record.values[name] = .reference(inner.id)
            case .records(let list):
                for inner in list { flatten(inner) }
                record.values[name] = .references(list.map(\.id))
            case .reference, .references: break
            }
            canonicalize(name, entity, &record)
        }
        if let error = misfit(record, entity) {
            unreadable.append(UnreadableRecord(identity: record.identity, error: error))
            return
        }
        let identity = named(record.id, entity)
        if let position = positions[identity] {
            items[position].record.values.merge(record.values) { $1 }
            items[position].record.version = record.version ?? items[position].record.version
            items[position].record.modified = record.modified ?? items[position].record.modified
        } else if mirror.order.isDeleted(identity, since: ticket) {
            gone.insert(identity)
        } else if mirror.order.isOvertaken(identity, ticket) || mirror.births.isUnderWay(identity) {
            overtaken.append(record.identity)
        } else {
            positions[identity] = items.count
            items.append(Item(record: record, entity: entity, identity: identity))
        }
    }

    /// References as they stand here.
    private func canonicalize(_ name: String, _ entity: EntityDescription, _ record: inout RemoteRecord) {
        guard let relationship = entity.relationship(named: name) else { return }
        let destination = model.destination(of: relationship)
        guard mirror.primaryKeys[destination.rootIndex].storage != .text else { return }
        switch record.values[name] {
        case .reference(let id?): record.values[name] = .reference(mirror.canonical(id, destination))
        case .references(let ids):
            record.values[name] = .references(ids.map { mirror.canonical($0, destination) })
        default: break
        }
    }

    /// Why a record cannot be taken in; nil if it can.
    private func misfit(_ record: RemoteRecord, _ entity: EntityDescription) -> RemoteError? {
        func error(_ property: String, _ reason: String) -> RemoteError {
            RemoteError(
                .invalidAnswer, domain: "Strata", message: "\(entity.name).\(property): \(reason)",
                identity: record.identity)
        }
        let primaryKey = mirror.primaryKeys[entity.index]
        if PrimaryKey.value(record.id, primaryKey) == nil {
            return error(
                primaryKey.name,
                "the server's primary key \"\(record.id)\" is not a \(primaryKey.type?.name ?? "key")")
        }
        for (name, value) in record.values {
            guard case .value(let value) = value, let attribute = entity.attribute(named: name),
                let first = attribute.slots.first
            else { continue }
            var parts = [(entity.slots[first], value)]
            if case .composite = attribute.type {
                guard case .composite(let given) = value else { continue }
                parts = attribute.slots.map { index in
                    (entity.slots[index], given[String(entity.slots[index].name.dropFirst(name.count + 1))] ?? .null)
                }
            }
            for (slot, value) in parts where slot.index != primaryKey.index && !RowEditing.accepts(value, slot) {
                return error(slot.name, "the server's \(value.kind) \(value) is not a \(slot.type?.name ?? "key")")
            }
        }
        return nil
    }

    func references(of item: Item) -> [(entity: EntityDescription, id: String)] {
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
    mutating func findKeys() throws(StoreError) {
        var newOnes: [Int: [(RemoteIdentity, EntityDescription, isPlaceholder: Bool)]] = [:]
        var seen: Set<RemoteIdentity> = []
        let links = DeletedLinks(mirror: mirror, connection: connection)
        let hasLinks = try !links.isEmpty
        // Servers may leave references to what is deleted. They lead nowhere until the object itself is told again.
        var deleted: Set<RemoteIdentity> = []
        var looked: Set<RemoteIdentity> = []
        for (entity, id) in hasLinks ? items.flatMap(references) : [] {
            let identity = named(id, entity)
            guard positions[identity] == nil, looked.insert(identity).inserted else { continue }
            if try links.leads(to: id, root: entity.rootIndex) { deleted.insert(identity) }
        }
        for item in items {
            if hasLinks, tellsAllReferences(item) {
                try links.forget(owner: item.record.id, entityIndex: item.entity.index)
            }
            seen.insert(item.identity)
            if let known = item.known {
                if let key = known.key {
                    keys[item.identity] = key
                } else {
                    gone.insert(item.identity)
                }
            } else {
                newOnes[item.entity.rootIndex, default: []].append((item.identity, item.entity, false))
            }
        }
        var knownTargets: [RemoteIdentity: KnownObject] = [:]
        var targets: [Int: Set<String>] = [:]
        for (entity, id) in items.flatMap(references) where !seen.contains(named(id, entity)) {
            targets[entity.rootIndex, default: []].insert(id)
        }
        for (root, ids) in targets {
            for (id, known) in try mirror.known(ids.sorted(), root: root, on: connection) {
                knownTargets[RemoteIdentity(entity: model.entities[root].name, id: id)] = known
            }
        }
        for item in items {
            for (entity, id) in references(of: item) {
                let identity = named(id, entity)
                if gone.contains(identity) {
                    try links.add(identity, from: item.record.identity)
                    continue
                }
                guard seen.insert(identity).inserted else { continue }
                if let known = knownTargets[identity] {
                    if let key = known.key {
                        keys[identity] = key
                    } else {
                        gone.insert(identity)
                        try links.add(identity, from: item.record.identity)
                    }
                } else if deleted.contains(identity) || mirror.order.isDeleted(identity, since: ticket) {
                    gone.insert(identity)
                    try links.add(identity, from: item.record.identity)
                } else {
                    newOnes[entity.rootIndex, default: []].append((identity, entity, true))
                }
            }
        }
        for (root, list) in newOnes.sorted(by: { $0.key < $1.key }) {
            var next = try transaction.allocateKeys(list.count, rootIndex: root).lowerBound
            for (identity, entity, isPlaceholder) in list {
                keys[identity] = next
                notes.names.append((mirror.entities.numbers[root], identity.id, next))
                if isPlaceholder {
                    let concrete = entity.descendantIndexes.first { !model.entities[$0].isAbstract } ?? entity.index
                    notes.placeholders[root, default: []].append((identity.id, next, model.entities[concrete].name))
                } else if hasLinks {
                    try links.restore(identity.id, root: root)
                }
                next += 1
            }
        }
        try writeNames()
    }

    /// Whether a record leaves no doubt about what its object refers to.
    private func tellsAllReferences(_ item: Item) -> Bool {
        isWhole
            && item.entity.relationships.allSatisfy { relationship in
                switch relationship.storage {
                case .slot, .pairs(isPrimary: true): item.record.values[relationship.name] != nil
                default: true
                }
            }
    }

    mutating func readRows() throws(StoreError) {
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

    // MARK: Deletes

    /// The server has deleted an object.
    mutating func delete(_ identity: RemoteIdentity) throws(StoreError) {
        guard let entity = model.entity(named: identity.entity) else { return }
        let identity = RemoteIdentity(entity: identity.entity, id: mirror.canonical(identity.id, entity))
        let name = named(identity.id, entity)
        guard positions[name] == nil, let known = try mirror.known(identity.id, root: entity.rootIndex, on: connection)
        else { return }
        // The answer is older than one that told the object: it is asked for again.
        if mirror.order.isOvertaken(name, ticket) { return overtaken.append(identity) }
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
        // What becomes of changes is decided when they are sent. If the server once had the object that was created here,
        // its deletion wins over the insert that waits for its answer.
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

    mutating func forget(_ identity: RemoteIdentity, _ entity: EntityDescription) throws(StoreError) {
        gone.insert(identity)
        mirror.order.noteDeleted(identity)
        try OutboxWriter(mirror: mirror, connection: connection).forget(identity.id, root: entity.rootIndex)
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
