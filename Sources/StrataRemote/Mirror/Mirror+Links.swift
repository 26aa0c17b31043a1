import Foundation
import StrataSQLite

/// References to objects that were deleted, here or at the server. The row of such an object is gone, and with it what
/// referred to it; but at the server the reference may still stand. The object can come back: the server does not agree
/// with its end, another client that has not heard of it writes the object anew, or a server without idempotency tokens
/// is told of its creation once more. Then the references must come back, too, and nothing else tells of them, since
/// their owners have not changed. So they are noted until the object is back, or the owner is told anew or goes.
struct DeletedLinks {
    let mirror: Mirror
    let connection: Connection

    /// Notes that an object refers to one that was deleted.
    func add(_ target: RemoteIdentity, from owner: RemoteIdentity) throws(StoreError) {
        guard let root = mirror.model.entity(named: target.entity)?.rootIndex,
            let entity = mirror.model.entity(named: owner.entity)
        else { return }
        let statement = try connection.statement(
            "INSERT OR IGNORE INTO _remote_links(root, id, owner, owner_id) VALUES(?, ?, ?, ?)")
        statement.bind(mirror.entities.numbers[root], at: 1)
        statement.bind(target.id, at: 2)
        statement.bind(mirror.entities.numbers[entity.index], at: 3)
        statement.bind(owner.id, at: 4)
        try statement.run()
    }

    /// Whether there are none, so that nothing has to be looked up.
    var isEmpty: Bool {
        get throws(StoreError) { try connection.integer("SELECT 1 FROM _remote_links LIMIT 1") == nil }
    }

    /// Whether an object is referred to that was deleted, and is not back.
    func leads(to id: String, root: Int) throws(StoreError) -> Bool {
        let statement = try connection.statement("SELECT 1 FROM _remote_links WHERE root = ? AND id = ? LIMIT 1")
        defer { statement.reset() }
        statement.bind(mirror.entities.numbers[root], at: 1)
        statement.bind(id, at: 2)
        return try statement.step()
    }

    /// What the object refers to is known anew, or it is gone.
    func forget(owner id: String, entityIndex: Int) throws(StoreError) {
        try run("DELETE FROM _remote_links WHERE owner = ? AND owner_id = ?", id, entityIndex)
    }

    /// The object is back: who referred to it is to be read again.
    func restore(_ id: String, root: Int) throws(StoreError) {
        try run(
            """
            INSERT OR IGNORE INTO _remote_stale(entity, id) \
            SELECT owner, owner_id FROM _remote_links WHERE root = ? AND id = ?
            """, id, root)
        try run("DELETE FROM _remote_links WHERE root = ? AND id = ?", id, root)
    }

    /// The server is to be asked about an object again.
    func noteStale(_ identity: RowIdentity) throws(StoreError) {
        let found = try mirror.ids(
            entityIndex: identity.entityIndex, keys: [identity.key], placeholdersOnly: false, on: connection)
        if let name = found[identity.key] { try noteStale(name) }
    }

    /// The server is to be asked about an object again.
    func noteStale(_ name: RemoteIdentity) throws(StoreError) {
        guard let entity = mirror.model.entity(named: name.entity) else { return }
        let statement = try connection.statement("INSERT OR IGNORE INTO _remote_stale(entity, id) VALUES(?, ?)")
        statement.bind(mirror.entities.numbers[entity.index], at: 1)
        statement.bind(name.id, at: 2)
        try statement.run()
    }

    private func run(_ sql: String, _ id: String, _ entityIndex: Int) throws(StoreError) {
        let statement = try connection.statement(sql)
        statement.bind(mirror.entities.numbers[entityIndex], at: 1)
        statement.bind(id, at: 2)
        try statement.run()
    }

    /// Notes who refers to objects whose rows are about to go.
    func note(_ deletes: [ChangeSet.Delete]) throws(StoreError) {
        if deletes.isEmpty { return }
        for (entityIndex, list) in Dictionary(grouping: deletes, by: \.entityIndex) {
            let keys = list.map(\.key)
            let names = try mirror.ids(
                entityIndex: entityIndex, keys: keys, placeholdersOnly: false, on: connection)
            for entity in mirror.model.entities {
                for relationship in entity.relationships where relationship.declaringEntity == entity.name {
                    guard mirror.root(relationship.destinationIndex) == mirror.root(entityIndex) else { continue }
                    let found = try mirror.store.owners(
                        entityIndex: entity.index, relationshipIndex: relationship.index, members: keys,
                        on: connection)
                    let owners = try mirror.ids(
                        entityIndex: entity.index, keys: found.map(\.owner), placeholdersOnly: false, on: connection)
                    for (owner, member) in found {
                        if let target = names[member], let owner = owners[owner] { try add(target, from: owner) }
                    }
                }
            }
        }
    }
}

extension Mirror {
    /// Objects of which the server is to be asked again. New ones of which it has not said yet that it has them have to
    /// wait for that: not to find one would look like its end.
    package func staleIdentities() throws(StoreError) -> [RemoteIdentity] {
        try store.reading { (connection) throws(StoreError) in
            let statement = try connection.statement("SELECT entity, id FROM _remote_stale")
            var all: [(identity: RemoteIdentity, root: Int)] = []
            while try statement.step() {
                guard let index = entities.indexes[statement.integer(0)] else { continue }
                let identity = RemoteIdentity(entity: model.entities[index].name, id: statement.text(1))
                all.append((identity, root(index)))
            }
            var result: [RemoteIdentity] = []
            for (identity, root) in all {
                let key = try known(identity.id, root: root, on: connection)?.key
                let waiting = try key.map { (key) throws(StoreError) in
                    try entries(root: root, key: key, on: connection)
                }
                let name = RemoteIdentity(entity: model.entities[root].name, id: identity.id)
                if waiting?.contains(where: { $0.kind == .insert }) != true, !births.isUnderWay(name) {
                    result.append(identity)
                }
            }
            return result
        }
    }

    /// The server has been asked about objects again, and its answer is taken in by the same transaction.
    func noteFresh(_ identities: [RemoteIdentity], on connection: Connection) throws(StoreError) {
        for identity in identities {
            guard let entity = model.entity(named: identity.entity) else { continue }
            let statement = try connection.statement("DELETE FROM _remote_stale WHERE entity = ? AND id = ?")
            statement.bind(entities.numbers[entity.index], at: 1)
            statement.bind(identity.id, at: 2)
            try statement.run()
        }
    }
}
