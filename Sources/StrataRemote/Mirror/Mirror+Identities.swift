import Foundation
import StrataSQL
import StrataSQLite
import StrataStore

/// What is known of an object of the server.
struct KnownObject {
    /// Its key here; nil once it was deleted here.
    var key: Int64?
    /// The server's state that the object here is based on.
    var version: String?
    var modified: Date?
}

extension Mirror {
    // MARK: Keys of primary keys

    /// The key of an object; nil if it is not known here or was deleted here.
    package func key(of identity: RemoteIdentity) throws(StoreError) -> Int64? { try keys(of: [identity])[identity] }

    /// The keys of objects; those that are not known here or were deleted here are left out.
    package func keys(of identities: some Sequence<RemoteIdentity>) throws(StoreError) -> [RemoteIdentity: Int64] {
        try store.reading { (connection) throws(StoreError) in
            var result: [RemoteIdentity: Int64] = [:]
            for (name, list) in Dictionary(grouping: identities, by: \.entity) {
                guard let entity = model.entity(named: name) else { continue }
                let known = try keys(of: list.map(\.id), root: entity.rootIndex, on: connection)
                for identity in list { result[identity] = known[identity.id] }
            }
            return result
        }
    }

    /// The keys of some objects of a hierarchy by primary key.
    func keys(of ids: [String], root: Int, on connection: Connection) throws(StoreError) -> [String: Int64] {
        let statement = try connection.statement(
            """
            SELECT l.value, r.key FROM strata_list(?) AS l CROSS JOIN _remote AS r \
            ON r.root = ? AND r.id = l.value WHERE r.key IS NOT NULL
            """)
        statement.bind(ValueList(texts: ids), at: 1)
        statement.bind(entities.numbers[root], at: 2)
        var result: [String: Int64] = [:]
        while try statement.step() { result[statement.text(0)] = statement.integer(1) }
        return result
    }

    /// Those of some primary keys that no object here has, or had when it was deleted here.
    func unknown(among ids: Set<String>, of entity: EntityDescription) throws(StoreError) -> [RemoteIdentity] {
        try store.reading { (connection) throws(StoreError) in
            let statement = try connection.statement(
                """
                SELECT l.value FROM strata_list(?) AS l CROSS JOIN _remote AS r ON r.root = ? AND r.id = l.value
                """)
            statement.bind(ValueList(texts: ids.sorted()), at: 1)
            statement.bind(entities.numbers[entity.rootIndex], at: 2)
            var here: Set<String> = []
            while try statement.step() { here.insert(statement.text(0)) }
            return ids.subtracting(here).sorted().map { RemoteIdentity(entity: entity.name, id: $0) }
        }
    }

    /// Some objects that the server is known to have had, and of which nothing waits here.
    func witnesses(limit: Int) throws(StoreError) -> [RemoteIdentity] {
        try store.reading { (connection) throws(StoreError) in
            let statement = try connection.statement(
                """
                SELECT root, key FROM _remote AS r WHERE key IS NOT NULL AND version IS NOT NULL AND NOT EXISTS \
                (SELECT 1 FROM _outbox AS o WHERE o.root = r.root AND o.key = r.key) LIMIT ?
                """)
            statement.bind(Int64(limit), at: 1)
            var found: [RowIdentity] = []
            while try statement.step() {
                guard let index = entities.indexes[statement.integer(0)] else { continue }
                found.append(RowIdentity(entityIndex: index, key: statement.integer(1)))
            }
            var result: [RemoteIdentity] = []
            for identity in found {
                let names = try ids(
                    entityIndex: identity.entityIndex, keys: [identity.key], placeholdersOnly: false, on: connection)
                if let name = names[identity.key] { result.append(name) }
            }
            return result
        }
    }

    /// What is known of an object.
    func known(_ id: String, root: Int, on connection: Connection) throws(StoreError) -> KnownObject? {
        let statement = try connection.statement("SELECT key, version, modified FROM _remote WHERE root = ? AND id = ?")
        statement.bind(entities.numbers[root], at: 1)
        statement.bind(id, at: 2)
        guard try statement.step() else { return nil }
        defer { statement.reset() }
        return KnownObject(
            key: statement.isNull(0) ? nil : statement.integer(0),
            version: statement.isNull(1) ? nil : statement.text(1),
            modified: statement.isNull(2) ? nil : .init(timeIntervalSinceReferenceDate: statement.double(2)))
    }

    /// The rows of some objects, by topmost entity and key.
    func rows(
        of objects: some Sequence<RowIdentity>, on connection: Connection
    ) throws(StoreError) -> [RowIdentity: RowReference] {
        try rows(
            Dictionary(grouping: objects) { root($0.entityIndex) }.mapValues { $0.map(\.key) }, on: connection)
    }

    /// As ``rows(of:on:)``, of objects whose keys are given by topmost entity.
    func rows(
        _ keys: [Int: [Int64]], on connection: Connection
    ) throws(StoreError) -> [RowIdentity: RowReference] {
        var result: [RowIdentity: RowReference] = [:]
        for (root, keys) in keys {
            try store.rows(entityIndex: root, keys: keys, on: connection).forEach { (slab, row) throws(StoreError) in
                result[RowIdentity(entityIndex: root, key: row.key)] = RowReference(slab: slab, row: row)
            }
        }
        return result
    }

    /// What is known of some objects of a hierarchy, by one statement.
    func known(_ ids: [String], root: Int, on connection: Connection) throws(StoreError) -> [String: KnownObject] {
        if ids.isEmpty { return [:] }
        let statement = try connection.statement(
            """
            SELECT l.value, r.key, r.version, r.modified FROM strata_list(?) AS l CROSS JOIN _remote AS r \
            ON r.root = ? AND r.id = l.value
            """)
        statement.bind(ValueList(texts: ids), at: 1)
        statement.bind(entities.numbers[root], at: 2)
        var result: [String: KnownObject] = [:]
        while try statement.step() {
            result[statement.text(0)] = KnownObject(
                key: statement.isNull(1) ? nil : statement.integer(1),
                version: statement.isNull(2) ? nil : statement.text(2),
                modified: statement.isNull(3) ? nil : .init(timeIntervalSinceReferenceDate: statement.double(3)))
        }
        return result
    }

    // MARK: Primary keys of keys

    /// The name of an object at the server; nil if it is not here.
    package func id(of identity: RowIdentity) throws(StoreError) -> RemoteIdentity? {
        try ids(entityIndex: identity.entityIndex, keys: [identity.key])[identity.key]
    }

    /// The names of objects at the server, by key; those that are not here are left out.
    package func ids(of identities: [RowIdentity]) throws(StoreError) -> [RowIdentity: RemoteIdentity] {
        var result: [RowIdentity: RemoteIdentity] = [:]
        for (entityIndex, list) in Dictionary(grouping: identities, by: \.entityIndex) {
            let found = try ids(entityIndex: entityIndex, keys: list.map(\.key))
            for identity in list { result[identity] = found[identity.key] }
        }
        return result
    }

    /// The names of objects at the server, by key; those that are not here are left out.
    /// - Parameter entityIndex: The entity of the objects, or one that they inherit from.
    package func ids(entityIndex: Int, keys: [Int64]) throws(StoreError) -> [Int64: RemoteIdentity] {
        if keys.isEmpty { return [:] }
        return try store.reading { (connection) throws(StoreError) in
            try ids(entityIndex: entityIndex, keys: keys, placeholdersOnly: false, on: connection)
        }
    }

    /// Those of some objects of which no more is known than their name at the server, by key.
    package func placeholders(
        among keys: [Int64], entityIndex: Int
    ) throws(StoreError) -> [Int64: RemoteIdentity] {
        if keys.isEmpty { return [:] }
        return try store.reading { (connection) throws(StoreError) in
            try ids(entityIndex: entityIndex, keys: keys, placeholdersOnly: true, on: connection)
        }
    }

    /// All objects of a hierarchy of which no more is known than their name at the server.
    package func placeholders(of root: EntityDescription) throws(StoreError) -> [RemoteIdentity] {
        try store.reading { (connection) throws(StoreError) in
            guard let columns = nameColumns(root.index) else { return [] }
            let statement = try connection.statement(
                "SELECT \(columns.list) FROM \(columns.table) WHERE t._version = 0")
            return try names(root.index, statement).values.sorted { $0.id < $1.id }
        }
    }

    /// Reads primary keys from the rows themselves.
    func ids(
        entityIndex: Int, keys: [Int64], placeholdersOnly: Bool, on connection: Connection
    ) throws(StoreError) -> [Int64: RemoteIdentity] {
        let root = root(entityIndex)
        guard !keys.isEmpty, let columns = nameColumns(root) else { return [:] }
        let statement = try connection.statement(
            """
            SELECT \(columns.list) FROM strata_list(?) AS l CROSS JOIN \(columns.table) ON t._id = l.value\
            \(placeholdersOnly ? " WHERE t._version = 0" : "")
            """)
        statement.bind(ValueList(keys: keys), at: 1)
        return try names(root, statement)
    }

    /// Key, primary key and entity of the rows `t` of a hierarchy.
    private func nameColumns(_ root: Int) -> (list: String, table: String)? {
        store.place(entityIndex: root, slot: primaryKeys[root].index).map { place in
            let entity = store.hasEntityColumn(root) ? "t._entity" : "NULL"
            return ("t._id, t.\(place.column), \(entity)", "\(place.table) AS t")
        }
    }

    /// Reads what ``nameColumns(_:)`` asks for.
    private func names(_ root: Int, _ statement: Statement) throws(StoreError) -> [Int64: RemoteIdentity] {
        let slot = primaryKeys[root]
        let only = model.entities[root].descendantIndexes.first { !model.entities[$0].isAbstract } ?? root
        var result: [Int64: RemoteIdentity] = [:]
        while try statement.step() {
            guard !statement.isNull(1) else { continue }
            let name = statement.isNull(2) ? model.entities[only].name : statement.text(2)
            let id =
                slot.storage == .uuid
                ? UUID(bytes: statement.blobBytes(1))?.uuidString ?? "" : statement.text(1)
            result[statement.integer(0)] = RemoteIdentity(entity: name, id: id)
        }
        return result
    }
}
