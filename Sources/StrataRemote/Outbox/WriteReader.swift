import Foundation
import StrataSQLite

/// Turns rows into what back ends are told.
final class WriteReader {
    let mirror: Mirror
    let connection: Connection
    /// The names of objects, by topmost entity and key.
    var names: [RowIdentity: RemoteIdentity] = [:]
    private let listsMembers: Bool
    /// Whether the content of external files is told; nothing stands for it otherwise.
    private let readsFiles: Bool

    init(mirror: Mirror, connection: Connection, listsMembers: Bool = false, readsFiles: Bool = true) {
        self.mirror = mirror
        self.connection = connection
        self.listsMembers = listsMembers
        self.readsFiles = readsFiles
    }

    var model: ManagedObjectModel { mirror.model }

    func rows(of identities: [RowIdentity]) throws(StoreError) -> [RowIdentity: RowReference] {
        var result: [RowIdentity: RowReference] = [:]
        for (root, list) in Dictionary(grouping: identities, by: { mirror.root($0.entityIndex) }) {
            try mirror.store.rows(entityIndex: root, keys: list.map(\.key), on: connection).forEach {
                (slab, row) throws(StoreError) in
                result[RowIdentity(entityIndex: root, key: row.key)] = RowReference(slab: slab, row: row)
            }
        }
        return result
    }

    /// Looks up the names of all objects that entries and their rows refer to, in a few statements.
    func learn(_ list: [OutboxEntry], _ rows: [RowIdentity: RowReference]) throws(StoreError) {
        var wanted: Set<RowIdentity> = []
        for reference in rows.values { note(reference.row, in: &wanted) }
        for entry in list {
            let entity = model.entities[entry.identity.entityIndex]
            for change in entry.members {
                guard let relationship = entity.relationship(named: change.relationship) else { continue }
                let root = mirror.root(relationship.destinationIndex)
                for key in change.added { wanted.insert(RowIdentity(entityIndex: root, key: key)) }
            }
        }
        try learn(wanted)
    }

    func note(_ row: RowPointer, in wanted: inout Set<RowIdentity>) {
        let entity = model.entities[row.entityIndex]
        for slot in entity.slots where slot.storage == .key && row.isPresent(slot.index) {
            guard let index = slot.relationshipIndex else { continue }
            let root = mirror.root(entity.relationships[index].destinationIndex)
            wanted.insert(RowIdentity(entityIndex: root, key: Int64(bitPattern: row.word(slot.index))))
        }
    }

    func learn(_ wanted: Set<RowIdentity>) throws(StoreError) {
        let missing = wanted.filter { names[$0] == nil }
        for (root, list) in Dictionary(grouping: missing, by: \.entityIndex) {
            let found = try mirror.ids(
                entityIndex: root, keys: list.map(\.key), placeholdersOnly: false, on: connection)
            for (key, name) in found { names[RowIdentity(entityIndex: root, key: key)] = name }
        }
    }

    // MARK: Entries

    func write(for entry: OutboxEntry, row: RowReference?, isWhole: Bool) throws(StoreError) -> MirrorWrite? {
        // Whoever sends the entry gives it a token before that.
        let token = entry.token ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        if entry.kind == .delete {
            let root = mirror.root(entry.identity.entityIndex)
            return MirrorWrite(
                kind: .delete, entity: model.entities[entry.identity.entityIndex], identity: entry.identity,
                write: RemoteWrite(
                    id: entry.id, baseVersion: try mirror.known(entry.id, root: root, on: connection)?.version,
                    token: token))
        }
        guard let row = row?.row else { return nil }
        let all = isWhole || entry.kind == .insert
        var result = try write(row, kind: entry.kind, slots: all ? nil : entry.slots, token: token)
        if all {
            try addMembers(of: row, to: &result)
        } else {
            for change in entry.members { try add(change, of: row, to: &result) }
        }
        result.write.isWhole = all
        return result
    }

    /// - Parameter slots: The slots that are told; nil for all.
    func write(
        _ row: RowPointer, kind: ChangeKind, slots: SlotSet?, token: UUID
    ) throws(StoreError) -> MirrorWrite {
        let entity = model.entities[row.entityIndex]
        let primaryKey = mirror.primaryKeys[row.entityIndex]
        guard let id = PrimaryKey.id(of: row, primaryKey) else {
            throw .invalidData(
                entity: entity.name, property: primaryKey.name, key: row.key, reason: "there is no primary key")
        }
        var result = MirrorWrite(
            kind: kind, entity: entity, identity: RowIdentity(entityIndex: entity.index, key: row.key),
            write: RemoteWrite(id: id, token: token))
        result.write.baseVersion = try mirror.known(id, root: entity.rootIndex, on: connection)?.version
        result.write.secrets = mirror.secrets.of(RowIdentity(entityIndex: entity.rootIndex, key: row.key))
        for attribute in entity.attributes {
            guard let first = attribute.slots.first, first != primaryKey.index,
                attribute.slots.contains(where: { entity.slots[$0].isTold && slots?.contains($0) ?? true })
            else { continue }
            result.write.values[attribute.name] = .value(try value(attribute, row, entity))
        }
        for relationship in entity.relationships {
            guard let slot = relationship.slot, slots?.contains(slot) ?? true else { continue }
            let name = row.isPresent(slot) ? names[target(relationship, row, slot)] : nil
            result.write.values[relationship.name] = .reference(name?.id)
            if let name { result.references.insert(name) }
        }
        return result
    }

    private func target(_ relationship: RelationshipDescription, _ row: RowPointer, _ slot: Int) -> RowIdentity {
        RowIdentity(
            entityIndex: mirror.root(relationship.destinationIndex), key: Int64(bitPattern: row.word(slot)))
    }

    private func value(
        _ attribute: AttributeDescription, _ row: RowPointer, _ entity: EntityDescription
    ) throws(StoreError) -> Value {
        guard let first = attribute.slots.first else { return .null }
        guard case .composite = attribute.type else { return try value(entity.slots[first], row) }
        var elements: [String: Value] = [:]
        for index in attribute.slots {
            let slot = entity.slots[index]
            elements[String(slot.name.dropFirst(attribute.name.count + 1))] = try value(slot, row)
        }
        return elements.values.allSatisfy(\.isNull) ? .null : .composite(elements)
    }

    private func value(_ slot: SlotDescription, _ row: RowPointer) throws(StoreError) -> Value {
        guard row.isPresent(slot.index), !slot.storage.isInline, row.isExternal(slot.index) else {
            return row.value(slot)
        }
        guard readsFiles else { return .binary(Data()) }
        return .binary(try mirror.store.externalData(named: String(decoding: row.bytes(slot.index), as: UTF8.self)))
    }

    // MARK: Members

    /// The to-many relationships that a whole object tells: those that no other object tells, and those with an order.
    private func toldRelationships(_ entity: EntityDescription) -> [RelationshipDescription] {
        entity.relationships.filter { $0.isToMany && ($0.storage == .pairs(isPrimary: true) || $0.isOrdered) }
    }

    func addMembers(of row: RowPointer, to result: inout MirrorWrite) throws(StoreError) {
        for relationship in toldRelationships(result.entity) {
            result.write.values[relationship.name] = .references(try list(relationship, of: row, &result))
        }
    }

    private func list(
        _ relationship: RelationshipDescription, of row: RowPointer, _ result: inout MirrorWrite
    ) throws(StoreError) -> [String] {
        let keys = try mirror.store.memberKeys(
            entityIndex: row.entityIndex, relationshipIndex: relationship.index, owners: [row.key], on: connection
        ).map(\.member)
        let root = mirror.root(relationship.destinationIndex)
        let members = keys.map { RowIdentity(entityIndex: root, key: $0) }
        try learn(Set(members))
        let found = members.compactMap { names[$0] }
        // The other end of a to-one inverse refers here itself, and comes later.
        if case .pairs = relationship.storage { result.references.formUnion(found) }
        return found.map(\.id)
    }

    func add(_ change: MemberChange, of row: RowPointer, to result: inout MirrorWrite) throws(StoreError) {
        guard let relationship = result.entity.relationship(named: change.relationship) else { return }
        if change.isOrder || listsMembers {
            result.write.values[relationship.name] = .references(try list(relationship, of: row, &result))
            return
        }
        let root = mirror.root(relationship.destinationIndex)
        let added = change.added.sorted().compactMap { names[RowIdentity(entityIndex: root, key: $0)] }
        let removed = change.removed.sorted { $0.key < $1.key }.map(\.value)
        guard !added.isEmpty || !removed.isEmpty else { return }
        result.references.formUnion(added)
        result.relations.append(
            RemoteRelation(
                id: result.write.id, relationship: relationship.name, added: added.map(\.id), removed: removed,
                token: result.write.token.derived(relationship.index)))
    }
}

extension UUID {
    /// Another UUID that belongs to this one, the same each time.
    func derived(_ number: Int) -> UUID {
        var bytes = uuid
        bytes.0 ^= 0xA5
        bytes.1 ^= UInt8(truncatingIfNeeded: number + 1)
        return UUID(uuid: bytes)
    }
}
