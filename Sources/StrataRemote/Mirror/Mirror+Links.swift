import Foundation
import StrataSQL
import StrataSQLite
import StrataStore

/// References to objects that were deleted, here or at the server. The row of such an object is gone, and with it what
/// referred to it; but at the server the reference may still stand. The object can come back: the server does not agree
/// with its end, another client that has not heard about it writes the object again, or a server without idempotency
/// tokens is told about its creation once more. Then the references must come back, too, and nothing else reports them,
/// since their owners have not changed. So they are noted until the object is back, or the owner is told again or goes.
struct DeletedLinks {
    let mirror: Mirror
    let connection: Connection

    /// An object refers to one that was deleted.
    typealias Link = (target: RemoteIdentity, owner: RemoteIdentity)

    /// Notes that objects refer to some that were deleted.
    func add(_ links: [Link]) throws(StoreError) {
        let rows = links.compactMap { link in
            mirror.model.entity(named: link.target.entity).flatMap { target in
                mirror.model.entity(named: link.owner.entity).map {
                    (target.rootIndex, link.target.id, $0.index, link.owner.id)
                }
            }
        }
        for part in StatementRows.parts(rows[...], columns: 4) {
            let statement = try connection.statement(
                "INSERT OR IGNORE INTO _remote_links(root, id, owner, owner_id) "
                    + "VALUES \(StatementRows.text("(?, ?, ?, ?)", part.count))")
            var place: Int32 = 0
            for (root, id, owner, ownerID) in part {
                statement.bind(mirror.entities.numbers[root], at: place + 1)
                statement.bind(id, at: place + 2)
                statement.bind(mirror.entities.numbers[owner], at: place + 3)
                statement.bind(ownerID, at: place + 4)
                place += 4
            }
            try statement.run()
        }
    }

    /// Whether there are none, so that nothing has to be looked up.
    var isEmpty: Bool {
        get throws(StoreError) { try connection.integer("SELECT 1 FROM _remote_links LIMIT 1") == nil }
    }

    /// Whether an object is noted to refer to one that was deleted.
    func contains(_ link: Link) throws(StoreError) -> Bool {
        guard let target = mirror.model.entity(named: link.target.entity),
            let owner = mirror.model.entity(named: link.owner.entity)
        else { return false }
        let statement = try connection.statement(
            "SELECT 1 FROM _remote_links WHERE root = ? AND id = ? AND owner = ? AND owner_id = ?")
        statement.bind(mirror.entities.numbers[target.rootIndex], at: 1)
        statement.bind(link.target.id, at: 2)
        statement.bind(mirror.entities.numbers[owner.index], at: 3)
        statement.bind(link.owner.id, at: 4)
        defer { statement.reset() }
        return try statement.step()
    }

    /// Those of some objects that are referred to, were deleted, and are not back.
    func targets(among ids: Set<String>, root: Int) throws(StoreError) -> Set<String> {
        let statement = try connection.statement(
            "SELECT id FROM _remote_links WHERE root = ? AND id IN (SELECT value FROM strata_list(?))")
        statement.bind(mirror.entities.numbers[root], at: 1)
        statement.bind(ValueList(texts: ids.sorted()), at: 2)
        var result: Set<String> = []
        while try statement.step() { result.insert(statement.text(0)) }
        return result
    }

    /// What objects refer to is known again, or they are gone.
    func forget(owners ids: [String], entityIndex: Int) throws(StoreError) {
        try run(
            "DELETE FROM _remote_links WHERE owner = ? AND owner_id IN (SELECT value FROM strata_list(?))", ids,
            entityIndex)
    }

    /// Objects are back: who referred to them is to be read again.
    func restore(_ ids: [String], root: Int) throws(StoreError) {
        try run(
            """
            INSERT OR IGNORE INTO _remote_stale(entity, id) SELECT owner, owner_id FROM _remote_links \
            WHERE root = ? AND id IN (SELECT value FROM strata_list(?))
            """, ids, root)
        try run(
            "DELETE FROM _remote_links WHERE root = ? AND id IN (SELECT value FROM strata_list(?))", ids, root)
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

    private func run(_ sql: String, _ ids: [String], _ entityIndex: Int) throws(StoreError) {
        if ids.isEmpty { return }
        let statement = try connection.statement(sql)
        statement.bind(mirror.entities.numbers[entityIndex], at: 1)
        statement.bind(ValueList(texts: ids), at: 2)
        try statement.run()
    }

    /// Notes who refers to objects whose rows are about to go.
    func note(_ deletes: [ChangeSet.Delete]) throws(StoreError) {
        if deletes.isEmpty { return }
        var links: [Link] = []
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
                        if let target = names[member], let owner = owners[owner] { links.append((target, owner)) }
                    }
                }
            }
        }
        try add(links)
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
            for (root, list) in Dictionary(grouping: all, by: \.root).sorted(by: { $0.key < $1.key }) {
                let known = try known(list.map(\.identity.id), root: root, on: connection)
                let waiting = try entries(root: root, keys: known.values.compactMap(\.key), on: connection)
                for (identity, _) in list {
                    let entries = known[identity.id]?.key.flatMap { waiting[$0] } ?? []
                    let name = RemoteIdentity(entity: model.entities[root].name, id: identity.id)
                    if !entries.contains(where: { $0.kind == .insert }), !online.births.isUnderWay(name) {
                        result.append(identity)
                    }
                }
            }
            return result
        }
    }

    /// The server has been asked about objects again, and its answer is applied by the same transaction.
    func noteFresh(_ identities: [RemoteIdentity], on connection: Connection) throws(StoreError) {
        for (name, list) in Dictionary(grouping: identities, by: \.entity) {
            guard let entity = model.entity(named: name) else { continue }
            let statement = try connection.statement(
                "DELETE FROM _remote_stale WHERE entity = ? AND id IN (SELECT value FROM strata_list(?))")
            statement.bind(entities.numbers[entity.index], at: 1)
            statement.bind(ValueList(texts: list.map(\.id)), at: 2)
            try statement.run()
        }
    }
}
