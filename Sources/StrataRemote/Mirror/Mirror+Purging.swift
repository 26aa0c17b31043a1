import StrataSQLite
import StrataStore

extension Mirror {
    /// Forgets objects here, with the changes of them that wait. The server is told nothing. What refers to them still
    /// does: they are placeholders then.
    package func purge(_ identities: [RemoteIdentity]) throws(StoreError) {
        try applying { (session) throws(StoreError) in try session.purge(identities) }
        let names = Set(
            identities.map { RemoteIdentity(entity: model.entity(named: $0.entity)?.rootName ?? $0.entity, id: $0.id) })
        online.forget { names.contains($0) }
    }

    /// Forgets all objects of an entity and of those that inherit from it, with the changes of them that wait, and how
    /// far pulls of it came.
    /// - Throws: ``StoreError/unsupported(store:feature:)`` for an entity that the mirror does not keep.
    package func purge(_ entity: EntityDescription) throws(StoreError) {
        // In a container with several stores, entities have other positions.
        guard let entity = model.entity(named: entity.name) else {
            throw .unsupported(
                store: store.name, feature: "to purge \(entity.name), which another store keeps; ask that one")
        }
        let identities = try allIdentities(of: entity)
        try applying { (session) throws(StoreError) in
            order.notePurged()
            for index in entity.descendantIndexes {
                try MirrorState.set(Self.cursorName(model.entities[index]), nil, on: session.connection)
                try MirrorState.set(Self.beginningName(model.entities[index]), nil, on: session.connection)
            }
            try session.purge(identities)
        }
        online.forget { $0.entity == entity.rootName }
    }

    /// Forgets everything.
    package func reset() throws(StoreError) {
        try applying { (session) throws(StoreError) in
            order.notePurged()
            for entity in model.entities where entity.parentIndex == nil { try session.removeAll(entity) }
            try session.write()
            for table in [
                "_remote", "_outbox", "_remote_links", "_remote_stale", "_remote_successors", "_remote_files",
                "_sync_state",
            ] {
                try session.connection.execute("DELETE FROM \(table)")
            }
        }
        secrets.forgetAll()
        echoes.forgetAll()
        online.forget()
    }

    /// The objects of an entity, and of those that inherit from it, that are here or referred to, or were deleted here
    /// and wait for the server to hear about it.
    private func allIdentities(of entity: EntityDescription) throws(StoreError) -> [RemoteIdentity] {
        try store.reading { (connection) throws(StoreError) in
            var result: [RemoteIdentity] = []
            let list = try connection.statement("SELECT id, key FROM _remote WHERE root = ?")
            list.bind(entities.numbers[entity.rootIndex], at: 1)
            var keys: [Int64] = []
            while try list.step() {
                if list.isNull(1) {
                    if entity.parentIndex == nil {
                        result.append(RemoteIdentity(entity: entity.name, id: list.text(0)))
                    }
                } else {
                    keys.append(list.integer(1))
                }
            }
            let names = try ids(entityIndex: entity.index, keys: keys, placeholdersOnly: false, on: connection)
            result += names.values.filter { name in
                model.entity(named: name.entity).map { $0.isKind(of: entity) } ?? false
            }
            return result
        }
    }

    /// The name under which the mirror keeps how far pulls of an entity came.
    static func cursorName(_ entity: EntityDescription) -> String { "pull/\(entity.name)" }
}

extension ApplySession {
    mutating func purge(_ identities: [RemoteIdentity]) throws(StoreError) {
        for identity in identities {
            guard let entity = model.entity(named: identity.entity),
                let known = try mirror.known(identity.id, root: entity.rootIndex, on: connection)
            else { continue }
            try purge(identity.id, entity, known)
        }
        try write()
    }

    mutating func purge(_ id: String, _ entity: EntityDescription, _ known: KnownObject) throws(StoreError) {
        // It may have been deleted and made again.
        let deletions = try mirror.deletions(of: [id], root: entity.rootIndex, on: connection)
        let own = try known.key.map { (key) throws(StoreError) in
            try mirror.entries(root: entity.rootIndex, key: key, on: connection)
        }
        let entries = deletions + (own ?? [])
        for entry in entries { try mirror.remove(entry.seq, on: connection) }
        guard let key = known.key else {
            return try OutboxWriter(mirror: mirror, connection: connection).forget(id, root: entity.rootIndex)
        }
        mirror.online.forget(RowIdentity(entityIndex: entity.rootIndex, key: key))
        if let creation = entries.first(where: { $0.kind == .insert }) {
            let name = RemoteIdentity(entity: entity.rootName, id: id)
            guard creation.attempts > 0 || !deletions.isEmpty else { return try remove(name, entity, key) }
            // The server may have it and what refers to it, and pulls may have passed both.
            try removeNotingLinks(name, entity, key)
            return try DeletedLinks(mirror: mirror, connection: connection).noteStale(
                RemoteIdentity(entity: entity.name, id: id))
        }
        try empty(entity, key)
        try mirror.forgetVersion(id, root: entity.rootIndex, on: connection)
    }
}
