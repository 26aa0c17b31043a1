import Foundation
import StrataSQLite
import StrataStore

extension Mirror {
    /// Whether a record is about an object.
    func isSame(_ record: RemoteRecord, _ entity: EntityDescription, _ id: String) -> Bool {
        model.entity(named: record.entity)?.rootIndex == entity.rootIndex && canonical(record.id, entity) == id
    }

    /// A primary key as it appears here: servers write UUIDs in either case, and numbers with zeros in front.
    func canonical(_ id: String, _ entity: EntityDescription) -> String {
        PrimaryKey.canonical(id, primaryKeys[entity.rootIndex])
    }

    /// The server gave a new object another primary key than it was sent with: object, queued changes and references
    /// have it from now on.
    /// - Parameters:
    ///   - identity: The object, by the topmost entity and key.
    ///   - id: The new primary key.
    ///   - wasRefused: Whether the server refused an earlier creation: what refers to the object may have been sent with the
    ///     old key since, and is sent again.
    ///   - ticket: Taken before the creation was sent; nil if nothing is read meanwhile.
    package func rename(
        _ identity: RowIdentity, to id: String, wasRefused: Bool = false, since ticket: ReadTicket? = nil
    ) throws(StoreError) {
        try applying { (session) throws(StoreError) in
            session.occasion.ticket = ticket
            try session.rename(identity, to: id, wasRefused: wasRefused)
        }
    }
}

extension ApplySession {
    /// As ``Mirror/rename(_:to:wasRefused:)``, in this transaction.
    mutating func rename(_ identity: RowIdentity, to id: String, wasRefused: Bool) throws(StoreError) {
        let entity = model.entities[mirror.root(identity.entityIndex)]
        let slot = mirror.primaryKeys[entity.index]
        let new = mirror.canonical(id, entity)
        guard let value = PrimaryKey.value(new, slot) else {
            throw .invalidData(
                entity: entity.name, property: slot.name, key: identity.key,
                reason: "the server's primary key \"\(id)\" is not a \(slot.type?.name ?? "key")")
        }
        let found = try transaction.rows(entityIndex: entity.index, keys: [identity.key])
        guard found.count > 0 else { return try renameDeletion(of: identity, to: new, entity) }
        guard let old = PrimaryKey.id(of: found[0].row, slot), old != new else { return }
        var slab = RowSlab.copy(of: found[0].row, room: new.utf8.count)
        var changed = SlotSet([slot.index])
        let links = DeletedLinks(mirror: mirror, connection: connection)
        // A pull may have told the object by its new name before.
        if let other = try mirror.known(new, root: entity.index, on: connection) {
            if let key = other.key, key != identity.key {
                let double = try transaction.rows(entityIndex: entity.index, keys: [key])
                if double.count > 0 {
                    try deleteNotingLinks(double[0])
                    changed.formUnion(try takeOver(double[0], found[0], into: &slab))
                }
                try mirror.noteSuccessor(of: key, identity.key, root: entity.index, on: connection)
                // Pulls have passed it, even if the save that made it does not keep it here.
                let name = model.entities[found[0].row.entityIndex].name
                try links.noteStale(RemoteIdentity(entity: name, id: new))
            }
            try OutboxWriter(mirror: mirror, connection: connection).forget(new, root: entity.index)
        }
        // Who refers to it is read again, and refers to the object itself then. It may have been missing when its name was told.
        if try !links.isEmpty { try links.restore([new], root: entity.index) }
        try renameTables(old, new, entity, identity.key)
        let own = model.entities[found[0].row.entityIndex]
        let name = RemoteIdentity(entity: entity.name, id: new)
        if mirror.order.isDeleted(name, since: occasion.ticket) {
            // Others have deleted it since, and pulls have passed that.
            try links.noteStale(RemoteIdentity(entity: own.name, id: new))
        }
        try set(value, own.slots[mirror.primaryKeys[own.index].index], own, in: &slab)
        RowEditing.setVersion(found[0].row.version + 1, in: slab)
        written.update(to: slab, slots: changed, from: found[0])
        try write()
        if wasRefused { try tellReferences(to: identity) }
    }

    /// The object was deleted here meanwhile: the deletion that waits is of the object that the server has made.
    private mutating func renameDeletion(
        of identity: RowIdentity, to id: String, _ entity: EntityDescription
    ) throws(StoreError) {
        let waiting = try mirror.entries(root: entity.index, key: identity.key, on: connection)
        guard let deletion = waiting.last, deletion.kind == .delete, deletion.id != id else { return }
        if let other = try mirror.known(id, root: entity.index, on: connection) {
            // A pull has brought it back under that name.
            let double = try transaction.rows(entityIndex: entity.index, keys: other.key.map { [$0] } ?? [])
            if double.count > 0 { try deleteNotingLinks(double[0]) }
            try OutboxWriter(mirror: mirror, connection: connection).forget(id, root: entity.index)
        }
        try renameTables(deletion.id, id, entity, identity.key)
        try write()
    }

    /// Tells the server once more what refers to an object.
    private func tellReferences(to identity: RowIdentity) throws(StoreError) {
        var outbox = OutboxWriter(mirror: mirror, connection: connection)
        for entity in model.entities {
            for relationship in entity.relationships
            where relationship.declaringEntity == entity.name
                && mirror.root(relationship.destinationIndex) == mirror.root(identity.entityIndex)
            {
                let owners = try mirror.store.owners(
                    entityIndex: entity.index, relationshipIndex: relationship.index, members: [identity.key],
                    on: connection
                ).map(\.owner)
                if owners.isEmpty { continue }
                try outbox.prepare(owners.map { RowIdentity(entityIndex: entity.rootIndex, key: $0) })
                for owner in try transaction.rows(entityIndex: entity.rootIndex, keys: owners.sorted()).rows {
                    guard let slot = relationship.slot else {
                        outbox.update(
                            owner.row, slots: SlotSet(),
                            members: [MemberChange(relationship: relationship.name, added: [identity.key])])
                        continue
                    }
                    let told = RowSlab.copy(of: owner.row)
                    RowEditing.setNil(slot, in: told)
                    outbox.update(told.row, slots: SlotSet([slot]))
                }
            }
        }
        try outbox.write()
    }

    private func renameTables(
        _ old: String, _ new: String, _ entity: EntityDescription, _ key: Int64
    ) throws(StoreError) {
        let root = mirror.entities.numbers[entity.index]
        try run("UPDATE _remote SET id = ? WHERE root = ? AND id = ?", [new], root, old)
        try run("UPDATE OR IGNORE _remote_links SET id = ? WHERE root = ? AND id = ?", [new], root, old)
        try run("UPDATE _outbox SET id = ? WHERE root = ? AND id = ?", [new], root, old)
        for index in entity.descendantIndexes {
            let number = mirror.entities.numbers[index]
            try run(
                "UPDATE OR IGNORE _remote_links SET owner_id = ? WHERE owner = ? AND owner_id = ?", [new], number, old)
            try run("UPDATE OR IGNORE _remote_stale SET id = ? WHERE entity = ? AND id = ?", [new], number, old)
        }
        // Members that are to be removed are told by name.
        try changeMembers(of: mirror.root(entity.index)) { if $0.removed[key] == old { $0.removed[key] = new } }
    }

    /// Changes what waits of relationships to the objects of a hierarchy.
    func changeMembers(of root: Int, _ body: (inout MemberChange) -> Void) throws(StoreError) {
        for var entry in try mirror.entries("members IS NOT NULL", on: connection) {
            let owner = model.entities[entry.identity.entityIndex]
            let before = entry.members
            for index in entry.members.indices {
                guard let relationship = owner.relationship(named: entry.members[index].relationship),
                    mirror.root(relationship.destinationIndex) == root
                else { continue }
                body(&entry.members[index])
            }
            if entry.members != before { try mirror.write(entry, on: connection) }
        }
    }

    private func run(_ sql: String, _ texts: [String], _ number: Int64, _ old: String) throws(StoreError) {
        let statement = try connection.statement(sql)
        statement.bind(texts[0], at: 1)
        statement.bind(number, at: 2)
        statement.bind(old, at: 3)
        try statement.run()
    }
}
