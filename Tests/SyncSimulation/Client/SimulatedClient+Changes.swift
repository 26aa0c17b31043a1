import Foundation
import Strata
import StrataRemote
import StrataStore

/// Changes that are written to the mirror without a context.
extension SimulatedClient {
    private func slot(_ name: String, _ entity: EntityDescription) -> SlotDescription {
        guard let slot = entity.slot(named: name) else { fatalError("\(entity.name) has no \(name)") }
        return slot
    }

    /// What the app sees of an entity.
    func rows(_ name: String, subentities: Bool = true) throws -> [RowReference] {
        var plan = FetchPlan(entityIndex: entity(name).index)
        plan.includesSubentities = subentities
        return try store.fetch(plan).rows
    }

    private func pick(_ name: String) throws -> RowReference? {
        let all = try rows(name)
        return all.isEmpty ? nil : world.executor.random.one(of: all)
    }

    /// One of the objects that are here; nil if there is none.
    func anyIdentity() throws -> RemoteIdentity? {
        try pick(world.executor.random.one(of: Self.rootNames)).map(identity)
    }

    static let rootNames = ["Folder", "Item", "Tag", "Counter", "Device"]

    func identity(_ row: RowReference) -> RemoteIdentity {
        let entity = model.entities[row.entityIndex]
        return RemoteIdentity(
            entity: entity.name, id: PrimaryKey.id(of: row.row, slot(entity.primaryKeyField ?? "", entity)) ?? "")
    }

    /// The primary key of a new object; nil if it is taken. Those of counters are used again.
    func newKey(_ name: String) throws -> String? {
        switch name {
        case "Counter":
            let number = "\(1 + world.executor.random.below(world.subjects.keys))"
            return try rows(name).contains { identity($0).id == number } ? nil : number
        case "Device":
            let random = [world.executor.random.next(), world.executor.random.next()]
            return random.withUnsafeBytes { $0.load(as: UUID.self) }.uuidString
        default: return "\(name)-\(newText())"
        }
    }

    /// A value that nobody else gives to anything.
    func newValue(_ property: String, _ entity: EntityDescription) -> Value {
        let text = newText()
        guard slot(property, entity).storage == .bytes else { return .string(text) }
        let length = world.executor.random.chance(0.1) ? 20_000 : world.executor.random.below(50)
        return .binary(Data(text.utf8) + Data(repeating: 0, count: length))
    }

    /// Does something at random and saves it.
    func act() throws {
        let name = world.executor.random.one(of: world.subjects.entities)
        var changes = ChangeSet()
        switch world.executor.random.below(10) {
        case 0..<3: try insert(name, &changes)
        case 3..<7: try update(name, &changes)
        case 7..<9: try relate(&changes)
        default: try delete(name, &changes)
        }
        if changes.isEmpty { return }
        guard case .committed = try mirror.commit(changes, enqueues: true) else {
            return world.violate("client \(number): a save met a conflict")
        }
        if world.defect == .ownEchoIsForeign { try forgetOwnEchoes() }
    }

    private func forgetOwnEchoes() throws {
        try mirror.store.transaction { (transaction) throws(StoreError) in
            try transaction.connection.execute(
                """
                UPDATE _outbox SET base = (SELECT base FROM _outbox AS e WHERE e.root = _outbox.root AND \
                e.key = _outbox.key AND e.seq < _outbox.seq) WHERE kind = 1 AND EXISTS (SELECT 1 FROM _outbox AS e \
                WHERE e.root = _outbox.root AND e.key = _outbox.key AND e.seq < _outbox.seq AND e.kind = 1)
                """)
        }
    }

    private func insert(_ name: String, _ changes: inout ChangeSet) throws {
        let entity = entity(name)
        guard let id = try newKey(name) else { return }
        let key = try mirror.store.allocateKeys(1, rootIndex: entity.rootIndex).lowerBound
        var slab = RowEditing.emptyRow(entity: entity, key: key)
        set(.string(id), slot(entity.primaryKeyField ?? "", entity), entity, &slab)
        let identity = identity(RowReference(slab: slab, row: slab.row))
        change("a", nil, identity, entity, &slab)
        if entity.rootName == "Item", let folder = try pick("Folder") {
            set(.object(folder.key), slot("folder", entity), entity, &slab)
        }
        RowEditing.setVersion(1, in: slab)
        changes.inserts.append(.init(row: RowReference(slab: slab, row: slab.row)))
        if entity.rootName == "Item", world.executor.random.chance(0.5), let tag = try pick("Tag") {
            addPair(key, entity, added: [tag.key], removed: [], &changes)
            world.related(
                identity, added: [ModelServer.Write(tag: self.identity(tag).id, of: identity)], removed: [], by: number)
        }
    }

    private func set(_ value: Value, _ slot: SlotDescription, _ entity: EntityDescription, _ slab: inout RowSlab) {
        if !RowEditing.setValue(value, slot, layout: entity.slots, in: &slab) {
            fatalError("\(value) for \(slot.name)")
        }
    }

    /// Gives a property a value that nobody else gives, and tells the world of it.
    private func change(
        _ property: String, _ old: RowReference?, _ identity: RemoteIdentity, _ entity: EntityDescription,
        _ slab: inout RowSlab
    ) {
        let slot = slot(property, entity)
        let value = newValue(property, entity)
        set(value, slot, entity, &slab)
        world.saved(
            ModelServer.Write(identity: identity, property: property, value: .value(value)), by: number,
            seen: .value(old.map { self.value($0.row, slot) } ?? .null))
    }

    /// A value of a row, even if it is in a file of its own.
    func value(_ row: RowPointer, _ slot: SlotDescription) -> Value {
        guard row.isPresent(slot.index), !slot.storage.isInline, row.isExternal(slot.index) else {
            return row.value(slot)
        }
        do {
            return .binary(try store.externalData(named: String(decoding: row.bytes(slot.index), as: UTF8.self)))
        } catch {
            world.violate("client \(number): \(slot.name) cannot be read: \(error)")
            return .null
        }
    }

    private func update(_ name: String, _ changes: inout ChangeSet) throws {
        guard let row = try pick(name) else { return }
        let entity = model.entities[row.entityIndex]
        var slab = RowSlab.copy(of: row.row)
        var slots = SlotSet()
        let property = world.executor.random.one(of: entity.simulatedAttributes)
        change(property, row, identity(row), entity, &slab)
        slots.insert(slot(property, entity).index)
        if entity.rootName == "Item", world.executor.random.chance(0.3) {
            let folder = slot("folder", entity)
            set(try pick("Folder").map { .object($0.key) } ?? .null, folder, entity, &slab)
            if !slab.row.hasSameValue(as: row.row, slot: folder.index, storage: folder.storage) {
                slots.insert(folder.index)
            }
        }
        RowEditing.setVersion(row.version + 1, in: slab)
        changes.updates.append(
            .init(row: RowReference(slab: slab, row: slab.row), slots: slots, baseVersion: row.version))
    }

    private func addPair(
        _ owner: Int64, _ entity: EntityDescription, added: [Int64], removed: [Int64], _ changes: inout ChangeSet
    ) {
        guard let tags = entity.relationship(named: "tags") else { return }
        world.trace("\(number) relates \(owner) +\(added) -\(removed)")
        changes.pairs.append(
            .init(
                entityIndex: entity.index, relationshipIndex: tags.index, owner: owner, added: added, removed: removed))
    }

    private func relate(_ changes: inout ChangeSet) throws {
        guard let item = try pick("Item") else { return }
        let entity = model.entities[item.entityIndex]
        guard let tags = entity.relationship(named: "tags") else { return }
        let present = try store.memberKeys(
            entityIndex: item.entityIndex, relationshipIndex: tags.index, owners: [item.key]
        ).map(\.member)
        let owner = identity(item)
        if world.executor.random.chance(0.4), let gone = present.first {
            addPair(item.key, entity, added: [], removed: [gone], &changes)
            let tag = try rows("Tag").first { $0.row.key == gone }.map(identity)
            world.related(
                owner, added: [], removed: [ModelServer.Write(tag: tag?.id ?? "", of: owner)], by: number)
        } else if let tag = try pick("Tag"), !present.contains(tag.key) {
            addPair(item.key, entity, added: [tag.key], removed: [], &changes)
            world.related(owner, added: [ModelServer.Write(tag: identity(tag).id, of: owner)], removed: [], by: number)
        }
    }

    private func delete(_ name: String, _ changes: inout ChangeSet) throws {
        guard let row = try pick(name) else { return }
        changes.deletes.append(.init(entityIndex: row.entityIndex, key: row.key, baseVersion: row.version))
        let entity = model.entities[row.entityIndex]
        let values = entity.simulatedAttributes.map { ($0, RemoteValue.value(value(row.row, slot($0, entity)))) }
        world.deleted(identity(row), with: Dictionary(uniqueKeysWithValues: values), by: number)
        guard name == "Folder" else { return }
        for entity in model.entities where entity.rootName == "Item" {
            let folder = slot("folder", entity)
            let members = try rows(entity.name, subentities: false).filter {
                $0.row.isPresent(folder.index) && Int64(bitPattern: $0.row.word(folder.index)) == row.key
            }
            guard !members.isEmpty else { continue }
            changes.clearings.append(
                .init(entityIndex: entity.index, slot: folder.index, targets: [row.key], keys: members.map(\.key)))
        }
    }
}
