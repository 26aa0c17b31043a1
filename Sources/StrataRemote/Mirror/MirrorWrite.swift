import Foundation
import StrataSQLite

/// A change of one object as a back end is told of it.
package struct MirrorWrite: Sendable {
    /// What is done.
    package var kind: OutboxEntry.Kind
    /// The object's own entity.
    package var entity: EntityDescription
    /// The object.
    package var identity: RowIdentity
    /// The values; for an insert with the members of relationships that are kept as pairs.
    package var write: RemoteWrite
    /// Changes of members, for an update alone.
    package var relations: [RemoteRelation] = []
    /// The objects that the values refer to.
    package var references: Set<RemoteIdentity> = []
}

extension Mirror {
    /// What a back end is to be told of an entry, as the object is now; nil if the object has gone without a trace.
    /// - Parameter isWhole: Whether an update has all values, not just those that were changed.
    package func write(for entry: OutboxEntry, isWhole: Bool = false) throws(StoreError) -> MirrorWrite? {
        try writes(for: [entry], isWhole: isWhole).first ?? nil
    }

    /// What a back end is to be told of entries, in their order.
    package func writes(
        for list: [OutboxEntry], isWhole: Bool = false
    ) throws(StoreError) -> [MirrorWrite?] {
        try store.reading { (connection) throws(StoreError) in
            let reader = WriteReader(mirror: self, connection: connection)
            let rows = try reader.rows(of: list.filter { $0.kind != .delete }.map(\.identity))
            try reader.learn(list, rows)
            var result: [MirrorWrite?] = []
            for entry in list {
                let row = rows[RowIdentity(entityIndex: root(entry.identity.entityIndex), key: entry.identity.key)]
                result.append(try reader.write(for: entry, row: row, isWhole: isWhole))
            }
            return result
        }
    }

    /// What a back end is to be told of a change set that has not been saved: new objects first, then changed, then
    /// deleted ones. Objects of which only members changed come with no values.
    package func writes(for changes: ChangeSet) throws(StoreError) -> [MirrorWrite] {
        try store.reading { (connection) throws(StoreError) in
            let reader = WriteReader(mirror: self, connection: connection)
            return try reader.writes(for: changes)
        }
    }
}

/// Turns rows into what back ends are told.
final class WriteReader {
    private let mirror: Mirror
    private let connection: Connection
    /// The names of objects, by topmost entity and key.
    private var names: [RowIdentity: RemoteIdentity] = [:]

    init(mirror: Mirror, connection: Connection) {
        self.mirror = mirror
        self.connection = connection
    }

    private var model: ManagedObjectModel { mirror.model }

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

    private func note(_ row: RowPointer, in wanted: inout Set<RowIdentity>) {
        let entity = model.entities[row.entityIndex]
        for slot in entity.slots where slot.storage == .key && row.isPresent(slot.index) {
            guard let index = slot.relationshipIndex else { continue }
            let root = mirror.root(entity.relationships[index].destinationIndex)
            wanted.insert(RowIdentity(entityIndex: root, key: Int64(bitPattern: row.word(slot.index))))
        }
    }

    private func learn(_ wanted: Set<RowIdentity>) throws(StoreError) {
        let missing = wanted.filter { names[$0] == nil }
        for (root, list) in Dictionary(grouping: missing, by: \.entityIndex) {
            let found = try mirror.ids(
                entityIndex: root, keys: list.map(\.key), placeholdersOnly: false, on: connection)
            for (key, name) in found { names[RowIdentity(entityIndex: root, key: key)] = name }
        }
    }

    // MARK: Entries

    func write(for entry: OutboxEntry, row: RowReference?, isWhole: Bool) throws(StoreError) -> MirrorWrite? {
        let token = entry.token ?? UUID()
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
    private func write(
        _ row: RowPointer, kind: OutboxEntry.Kind, slots: SlotSet?, token: UUID
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
        return .binary(try mirror.store.externalData(named: String(decoding: row.bytes(slot.index), as: UTF8.self)))
    }

    // MARK: Members

    /// The to-many relationships that a whole object tells: those that no other object tells, and those with an order.
    private func toldRelationships(_ entity: EntityDescription) -> [RelationshipDescription] {
        entity.relationships.filter { $0.isToMany && ($0.storage == .pairs(isPrimary: true) || $0.isOrdered) }
    }

    private func addMembers(of row: RowPointer, to result: inout MirrorWrite) throws(StoreError) {
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

    private func add(_ change: MemberChange, of row: RowPointer, to result: inout MirrorWrite) throws(StoreError) {
        guard let relationship = result.entity.relationship(named: change.relationship) else { return }
        if change.isOrder {
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

    // MARK: Change sets

    func writes(for changes: ChangeSet) throws(StoreError) -> [MirrorWrite] {
        var wanted: Set<RowIdentity> = []
        for insert in changes.inserts {
            let row = insert.row.row
            if let id = PrimaryKey.id(of: row, mirror.primaryKeys[row.entityIndex]) {
                names[RowIdentity(entityIndex: mirror.root(row.entityIndex), key: row.key)] = RemoteIdentity(
                    entity: model.entities[row.entityIndex].name, id: id)
            }
            note(row, in: &wanted)
        }
        for update in changes.updates { note(update.row.row, in: &wanted) }
        for pair in changes.pairs {
            let relationship = model.entities[pair.entityIndex].relationships[pair.relationshipIndex]
            let root = mirror.root(relationship.destinationIndex)
            for key in pair.added + pair.removed { wanted.insert(RowIdentity(entityIndex: root, key: key)) }
            wanted.insert(RowIdentity(entityIndex: mirror.root(pair.entityIndex), key: pair.owner))
        }
        for delete in changes.deletes {
            wanted.insert(RowIdentity(entityIndex: mirror.root(delete.entityIndex), key: delete.key))
        }
        try learn(wanted)
        var result: [MirrorWrite] = []
        var positions: [RowIdentity: Int] = [:]
        for insert in changes.inserts {
            var write = try write(insert.row.row, kind: .insert, slots: nil, token: UUID())
            write.write.isWhole = true
            positions[rooted(write.identity)] = result.count
            result.append(write)
        }
        for update in changes.updates {
            let write = try write(update.row.row, kind: .update, slots: update.slots, token: UUID())
            positions[rooted(write.identity)] = result.count
            result.append(write)
        }
        try addPairs(changes.pairs, to: &result, &positions)
        for delete in changes.deletes {
            let identity = RowIdentity(entityIndex: mirror.root(delete.entityIndex), key: delete.key)
            guard let name = names[identity] else { continue }
            let version = try mirror.known(name.id, root: identity.entityIndex, on: connection)?.version
            result.append(
                MirrorWrite(
                    kind: .delete, entity: model.entities[delete.entityIndex],
                    identity: RowIdentity(entityIndex: delete.entityIndex, key: delete.key),
                    write: RemoteWrite(id: name.id, baseVersion: version)))
        }
        return result
    }

    private func rooted(_ identity: RowIdentity) -> RowIdentity {
        RowIdentity(entityIndex: mirror.root(identity.entityIndex), key: identity.key)
    }

    private func addPairs(
        _ pairs: [ChangeSet.PairChange], to result: inout [MirrorWrite], _ positions: inout [RowIdentity: Int]
    ) throws(StoreError) {
        for pair in pairs {
            let owner = RowIdentity(entityIndex: mirror.root(pair.entityIndex), key: pair.owner)
            let relationship = model.entities[pair.entityIndex].relationships[pair.relationshipIndex]
            let root = mirror.root(relationship.destinationIndex)
            let added = pair.added.compactMap { names[RowIdentity(entityIndex: root, key: $0)] }
            let removed = pair.removed.compactMap { names[RowIdentity(entityIndex: root, key: $0)] }
            if positions[owner] == nil {
                guard let name = names[owner], let entity = model.entity(named: name.entity) else { continue }
                positions[owner] = result.count
                let version = try mirror.known(name.id, root: owner.entityIndex, on: connection)?.version
                result.append(
                    MirrorWrite(
                        kind: .update, entity: entity,
                        identity: RowIdentity(entityIndex: entity.index, key: pair.owner),
                        write: RemoteWrite(id: name.id, baseVersion: version)))
            }
            guard let position = positions[owner] else { continue }
            if result[position].kind == .insert {
                result[position].write.values[relationship.name] = .references(added.map(\.id))
            } else {
                result[position].relations.append(
                    RemoteRelation(
                        id: result[position].write.id, relationship: relationship.name, added: added.map(\.id),
                        removed: removed.map(\.id), token: UUID()))
            }
            result[position].references.formUnion(added)
        }
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
