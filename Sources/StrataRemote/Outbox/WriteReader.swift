import Foundation
import StrataSQLite
import StrataStore

/// Turns rows into what back ends are told.
final class WriteReader {
    let mirror: Mirror
    let connection: Connection
    /// The names of objects, by topmost entity and key.
    var names: [RowIdentity: RemoteIdentity] = [:]
    /// What is known of objects, as far as it was looked up, by topmost entity and primary key.
    private var knownObjects: [RemoteIdentity: KnownObject?] = [:]
    /// The members of objects, as far as they were looked up.
    private var memberKeys: [Place: [Int64]] = [:]
    private let listsMembers: Bool
    /// The kinds of operations that are told as such.
    private let computes: RemoteCapabilities.Features
    /// Whether the content of external files is told; nothing stands for it otherwise.
    private let readsFiles: Bool

    init(
        mirror: Mirror, connection: Connection, listsMembers: Bool = false,
        computes: RemoteCapabilities.Features = [], readsFiles: Bool = true
    ) {
        self.mirror = mirror
        self.connection = connection
        self.listsMembers = listsMembers
        self.computes = computes
        self.readsFiles = readsFiles
    }

    var model: ManagedObjectModel { mirror.model }

    /// A relationship of an object.
    private struct Place: Hashable {
        let entityIndex: Int
        let relationshipIndex: Int
        let owner: Int64
    }

    func rows(of identities: [RowIdentity]) throws(StoreError) -> [RowIdentity: RowReference] {
        try mirror.rows(of: identities, on: connection)
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

    /// Looks up what is known of objects by primary key, by one statement for each hierarchy.
    func learnVersions(_ ids: [Int: [String]]) throws(StoreError) {
        for (root, list) in ids {
            let found = try mirror.known(list, root: root, on: connection)
            let name = model.entities[root].name
            for id in list { knownObjects[RemoteIdentity(entity: name, id: id)] = .some(found[id]) }
        }
    }

    /// The server's version of an object that a change of it is made to.
    func version(_ id: String, root: Int) throws(StoreError) -> String? {
        let identity = RemoteIdentity(entity: model.entities[root].name, id: id)
        if let known = knownObjects[identity] { return known?.version }
        try learnVersions([root: [id]])
        return knownObjects[identity].flatMap(\.self)?.version
    }

    /// Looks up the versions of what entries are about, and the members that are told, in a few statements.
    func learnStates(
        _ list: [OutboxEntry], _ rows: [RowIdentity: RowReference], isWhole: Bool
    ) throws(StoreError) {
        var ids: [Int: [String]] = [:]
        var owners: [Int: [Int: [Int64]]] = [:]
        for entry in list where entry.sent == nil {
            let root = mirror.root(entry.identity.entityIndex)
            if entry.kind == .delete {
                ids[root, default: []].append(entry.id)
                continue
            }
            guard let row = rows[RowIdentity(entityIndex: root, key: entry.identity.key)]?.row else { continue }
            if let id = PrimaryKey.id(of: row, mirror.primaryKeys[row.entityIndex]) {
                ids[root, default: []].append(id)
            }
            let entity = model.entities[row.entityIndex]
            let told =
                isWhole || entry.kind == .insert
                ? toldRelationships(entity)
                : entry.members.filter { $0.isOrder || listsMembers }.compactMap {
                    entity.relationship(named: $0.relationship)
                }
            for relationship in told {
                owners[entity.index, default: [:]][relationship.index, default: []].append(row.key)
            }
        }
        try learnVersions(ids)
        for (entityIndex, relationships) in owners {
            for (index, keys) in relationships { try learnMembers(entityIndex, index, keys) }
        }
    }

    private func learnMembers(_ entityIndex: Int, _ relationshipIndex: Int, _ owners: [Int64]) throws(StoreError) {
        func place(_ owner: Int64) -> Place {
            Place(entityIndex: entityIndex, relationshipIndex: relationshipIndex, owner: owner)
        }
        for owner in owners { memberKeys[place(owner)] = [] }
        let found = try mirror.store.memberKeys(
            entityIndex: entityIndex, relationshipIndex: relationshipIndex, owners: owners, on: connection)
        for (owner, member) in found { memberKeys[place(owner), default: []].append(member) }
        let destination = model.entities[entityIndex].relationships[relationshipIndex].destinationIndex
        try learn(Set(found.map { RowIdentity(entityIndex: mirror.root(destination), key: $0.member) }))
    }

    // MARK: Entries

    func write(for entry: OutboxEntry, row: RowReference?, isWhole: Bool) throws(StoreError) -> MirrorWrite? {
        // The sender gives the entry a token before that.
        let token = entry.token ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        if entry.kind == .delete {
            let root = mirror.root(entry.identity.entityIndex)
            return MirrorWrite(
                kind: .delete, entity: model.entities[entry.identity.entityIndex], identity: entry.identity,
                write: RemoteWrite(
                    id: entry.id, baseVersion: try version(entry.id, root: root), token: token))
        }
        guard let row = row?.row else { return nil }
        let all = isWhole || entry.kind == .insert
        var result = try write(row, kind: entry.kind, slots: all ? nil : entry.slots, token: token)
        if all {
            try addMembers(of: row, to: &result)
        } else {
            for change in entry.members { try add(change, of: row, to: &result) }
        }
        if entry.kind == .update, !entry.operations.isEmpty { tell(entry.operations, in: &result) }
        result.write.isWhole = all
        return result
    }

    /// Replaces results by operations if the back end supports them. An attribute with more than one operation is sent as
    /// the result.
    func tell(_ operations: [Int: FieldOperations], in result: inout MirrorWrite) {
        for (slot, done) in operations {
            guard done.steps.count == 1, let step = done.steps.first, computes.contains(step.feature) else { continue }
            let name = result.entity.slots[slot].name
            result.write.values[name] = nil
            result.write.operations[name] = step
        }
        // A server that carries out no request twice can apply it to any value. For others, the version tells whether they have
        // carried it out.
        if computes.contains(.idempotencyTokens), result.write.values.isEmpty, !result.write.operations.isEmpty {
            result.write.baseVersion = nil
        }
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
        result.write.baseVersion = try version(id, root: entity.rootIndex)
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
        let place = Place(entityIndex: row.entityIndex, relationshipIndex: relationship.index, owner: row.key)
        if memberKeys[place] == nil { try learnMembers(row.entityIndex, relationship.index, [row.key]) }
        let root = mirror.root(relationship.destinationIndex)
        let members = (memberKeys[place] ?? []).map { RowIdentity(entityIndex: root, key: $0) }
        let found = members.compactMap { names[$0] }
        if mirror.depends(on: relationship) { result.references.formUnion(found) }
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

extension FieldOperation {
    /// The feature that a back end needs to support the operation.
    package var feature: RemoteCapabilities.Features {
        if case .increment = self { .increments } else { .arrayOperations }
    }
}
