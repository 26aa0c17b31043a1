import Foundation
import StrataSQLite
import StrataStore

/// Applies records as part of a transaction.
struct ApplySession {
    let mirror: Mirror
    let transaction: StoreTransaction
    var occasion = ApplyOccasion()

    var items: [Item] = []
    var positions: [RemoteIdentity: Int] = [:]
    var keys: [RemoteIdentity: Int64] = [:]
    /// Objects that are no longer here, so that nothing may refer to them.
    var gone: Set<RemoteIdentity> = []
    var local = LocalObjects()
    /// The members that records tell, until all rows are placed.
    var members = ToldMembers()
    var written = WrittenRows()
    var notes = ApplyNotes()
    var result = AppliedChanges()

    /// A record on its way in. Identities name the topmost entity of the hierarchy.
    struct Item {
        var record: RemoteRecord
        let entity: EntityDescription
        let identity: RemoteIdentity
        var known: KnownObject?
        /// Whether the record has only some of the values.
        var isPart = false
    }

    init(mirror: Mirror, transaction: StoreTransaction) {
        self.mirror = mirror
        self.transaction = transaction
    }

    var connection: Connection { transaction.connection }
    var model: ManagedObjectModel { mirror.model }

    mutating func run(_ records: [RemoteRecord], deleted: [RemoteIdentity]) throws(StoreError) -> AppliedChanges {
        for record in records { flatten(record, isPart: !occasion.isWhole) }
        for (root, indexes) in Dictionary(grouping: items.indices, by: { items[$0].entity.rootIndex }) {
            var known = local.known[root] ?? [:]
            let missing = indexes.map { items[$0].identity.id }.filter { known[$0] == nil }
            known.merge(try mirror.known(missing, root: root, on: connection)) { $1 }
            for index in indexes { items[index].known = known[items[index].identity.id] }
        }
        try delete(deleted)
        try DeletedLinks(mirror: mirror, connection: connection).note(written.changes.deletes)
        try findKeys()
        try readRows()
        for item in items { try place(item) }
        try placeMembers()
        try write()
        try noteForLater()
        result.rows = records.map { row(of: $0) }
        return result
    }

    private mutating func noteForLater() throws(StoreError) {
        let links = DeletedLinks(mirror: mirror, connection: connection)
        for identity in result.overtaken {
            try links.noteStale(identity)
            // Those that are here belong to the answer all the same, as they are by now.
            guard let entity = model.entity(named: identity.entity) else { continue }
            let known = try mirror.known(identity.id, root: entity.rootIndex, on: connection)
            if let key = known?.key { keys[named(identity.id, entity)] = key }
        }
        for item in items where mirror.order.hasBegun(item.entity.name, since: occasion.ticket) {
            try links.noteStale(item.record.identity)
        }
        for record in result.unreadable {
            if let identity = record.identity { try links.noteStale(identity) }
            mirror.unreadable.add(record)
        }
        mirror.unreadable.remove(items.map(\.record.identity))
        if occasion.ticket != nil { mirror.order.noteRead(items.lazy.map { ($0.identity, $0.record) }) }
    }

    func row(of record: RemoteRecord) -> RowIdentity? {
        guard let entity = model.entity(named: record.entity) else { return nil }
        return keys[named(mirror.canonical(record.id, entity), entity)].map {
            RowIdentity(entityIndex: entity.index, key: $0)
        }
    }

    func named(_ id: String, _ entity: EntityDescription) -> RemoteIdentity {
        RemoteIdentity(entity: entity.rootName, id: id)
    }

    // MARK: Records

    /// Puts a record and those within it into the list, each object once.
    mutating func flatten(_ record: RemoteRecord, isPart: Bool) {
        guard let entity = model.entity(named: record.entity), !entity.isAbstract else { return }
        var record = record
        record.id = mirror.canonical(record.id, entity)
        for (name, value) in record.values {
            switch value {
            case .value: continue
            case .record(let inner):
                flatten(inner, isPart: false)
                record.values[name] = .reference(inner.id)
            case .records(let list):
                for inner in list { flatten(inner, isPart: false) }
                record.values[name] = .references(list.map(\.id))
            case .reference, .references: break
            }
            canonicalize(name, entity, &record)
        }
        if let error = misfit(record, entity) {
            result.unreadable.append(UnreadableRecord(identity: record.identity, error: error))
            return
        }
        let identity = named(record.id, entity)
        if let position = positions[identity] {
            items[position].record.values.merge(record.values) { $1 }
            items[position].record.version = record.version ?? items[position].record.version
            items[position].record.modified = record.modified ?? items[position].record.modified
        } else if mirror.order.isDeleted(identity, since: occasion.ticket) {
            // It may have been made again since, so the server is asked.
            gone.insert(identity)
            result.overtaken.insert(record.identity)
        } else if mirror.order.isOvertaken(identity, occasion.ticket, record)
            || mirror.online.births.isUnderWay(identity)
        {
            result.overtaken.insert(record.identity)
        } else {
            positions[identity] = items.count
            items.append(Item(record: record, entity: entity, identity: identity, isPart: isPart))
        }
    }

    /// References as they appear here.
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

    /// Why a record cannot be applied; nil if it can.
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
        let links = DeletedLinks(mirror: mirror, connection: connection)
        let hasLinks = if let known = local.hasLinks { known } else { try !links.isEmpty }
        // Servers may leave references to what is deleted. They lead nowhere until the object itself is told again.
        let deleted = hasLinks ? try deletedTargets(links) : []
        if hasLinks { try forgetLinks(links) }
        var newOnes: [Int: [(RemoteIdentity, EntityDescription, isPlaceholder: Bool)]] = [:]
        var seen: Set<RemoteIdentity> = []
        for item in items {
            seen.insert(item.identity)
            if let known = item.known {
                if let key = known.key {
                    keys[item.identity] = key
                } else {
                    gone.insert(item.identity)
                }
            } else {
                newOnes[item.entity.rootIndex, default: []].append((item.identity, item.entity, item.isPart))
            }
        }
        let referred = items.map(references)
        var knownTargets: [RemoteIdentity: KnownObject] = [:]
        var targets: [Int: Set<String>] = [:]
        for list in referred {
            for (entity, id) in list where !seen.contains(named(id, entity)) {
                targets[entity.rootIndex, default: []].insert(id)
            }
        }
        for (root, ids) in targets {
            for (id, known) in try mirror.known(ids.sorted(), root: root, on: connection) {
                knownTargets[RemoteIdentity(entity: model.entities[root].name, id: id)] = known
            }
        }
        var dead: [DeletedLinks.Link] = []
        for (item, list) in zip(items, referred) {
            for (entity, id) in list {
                let identity = named(id, entity)
                if gone.contains(identity) {
                    dead.append((identity, item.record.identity))
                    continue
                }
                guard seen.insert(identity).inserted else { continue }
                if let key = knownTargets[identity]?.key {
                    keys[identity] = key
                } else if knownTargets[identity] != nil || deleted.contains(identity)
                    || mirror.order.isDeleted(identity, since: occasion.ticket)
                {
                    gone.insert(identity)
                    dead.append((identity, item.record.identity))
                } else {
                    newOnes[entity.rootIndex, default: []].append((identity, entity, true))
                }
            }
        }
        try links.add(dead)
        for (root, list) in newOnes.sorted(by: { $0.key < $1.key }) {
            try makeKeys(list, root)
            if hasLinks { try links.restore(list.filter { !$0.isPlaceholder }.map(\.0.id), root: root) }
        }
        try writeNames()
    }

    private mutating func makeKeys(
        _ list: [(RemoteIdentity, EntityDescription, isPlaceholder: Bool)], _ root: Int
    ) throws(StoreError) {
        var next = try transaction.allocateKeys(list.count, rootIndex: root).lowerBound
        for (identity, entity, isPlaceholder) in list {
            keys[identity] = next
            notes.names.append((mirror.entities.numbers[root], identity.id, next))
            if isPlaceholder {
                let concrete = entity.descendantIndexes.first { !model.entities[$0].isAbstract } ?? entity.index
                notes.placeholders[root, default: []].append((identity.id, next, model.entities[concrete].name))
            }
            next += 1
        }
    }

    /// Those of the objects that records refer to that were deleted, and are not told again here.
    private func deletedTargets(_ links: DeletedLinks) throws(StoreError) -> Set<RemoteIdentity> {
        var wanted: [Int: Set<String>] = [:]
        for (entity, id) in items.flatMap(references) where positions[named(id, entity)] == nil {
            wanted[entity.rootIndex, default: []].insert(id)
        }
        var result: Set<RemoteIdentity> = []
        for (root, ids) in wanted {
            for id in try links.targets(among: ids, root: root) {
                result.insert(RemoteIdentity(entity: model.entities[root].name, id: id))
            }
        }
        return result
    }

    private func forgetLinks(_ links: DeletedLinks) throws(StoreError) {
        let whole = items.filter(tellsAllReferences)
        for (entityIndex, list) in Dictionary(grouping: whole, by: \.entity.index) {
            try links.forget(owners: list.map(\.record.id), entityIndex: entityIndex)
        }
    }

    /// Whether a record leaves no doubt about what its object refers to.
    private func tellsAllReferences(_ item: Item) -> Bool {
        occasion.isWhole
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
        local.rows.merge(try mirror.rows(wanted, on: connection)) { $1 }
        for (root, keys) in wanted {
            try lookForEntries(root, keys)
        }
    }

    mutating func isOutboxEmpty() throws(StoreError) -> Bool {
        if let outboxIsEmpty = local.outboxIsEmpty { return outboxIsEmpty }
        let isEmpty = try connection.integer("SELECT 1 FROM _outbox LIMIT 1") == nil
        local.outboxIsEmpty = isEmpty
        return isEmpty
    }

    /// Reads the entries of objects of a hierarchy.
    mutating func lookForEntries(_ root: Int, _ keys: some Sequence<Int64>) throws(StoreError) {
        let missing = keys.filter { local.waiting[RowIdentity(entityIndex: root, key: $0)] == nil }
        if missing.isEmpty { return }
        if try isOutboxEmpty() { return }
        let found = try mirror.entries(root: root, keys: missing, on: connection)
        for key in missing { local.waiting[RowIdentity(entityIndex: root, key: key)] = found[key] ?? [] }
    }

    // MARK: Writing

    /// Writes what has been collected.
    mutating func write() throws(StoreError) {
        try writeNotes()
        let effects = try commit(written.changes)
        _ = try commit(written.parts)
        written.parts = ChangeSet()
        guard !written.changes.isEmpty else { return }
        result.change = written.change(effects)
    }

    private func commit(_ changes: ChangeSet) throws(StoreError) -> CommitEffects {
        switch try transaction.write(changes) {
        case .committed(let effects), .partly(let effects, _, _): return effects
        case .conflicts(let conflicts):
            // Nobody else can write within this transaction, and nothing is unique in a mirror.
            throw .constraint(
                entity: conflicts.first.map { model.entities[$0.entityIndex].name } ?? "", reason: "\(conflicts)")
        }
    }
}
