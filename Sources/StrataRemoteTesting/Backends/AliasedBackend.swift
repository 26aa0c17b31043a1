import Foundation
import Strata
import StrataRemote
import StrataStore

/// A back end whose server assigns primary keys, as one whose clients choose them: the keys that a check uses stand for those
/// that the server has given. So the same checks can be made of both.
final class AliasedBackend: RemoteBackend {
    private let inner: any RemoteBackend
    /// The model with the server's own keys.
    private let model: ManagedObjectModel
    private let hasIntegerKeys: Bool
    private let keys = Guarded<[String: Keys]>([:])

    /// The keys of an entity.
    private struct Keys {
        var ofAliases: [String: String] = [:]
        var aliases: [String: String] = [:]
    }

    init(_ inner: any RemoteBackend, model: ManagedObjectModel, hasIntegerKeys: Bool) {
        self.inner = inner
        self.model = model
        self.hasIntegerKeys = hasIntegerKeys
    }

    var name: String { inner.name }
    var clockOffset: Double { inner.clockOffset }
    var capabilities: RemoteCapabilities {
        var result = inner.capabilities
        // The entities of the checks have strings for keys, and stand for those of the server.
        if let entity = model.entities.first { result.features = result.features(of: entity) }
        result.integerKeyFeatures = nil
        result.features.remove(.assignsIDs)
        return result
    }

    func lists(_ relationship: RelationshipDescription, of entity: EntityDescription) -> Bool {
        let own = self.entity(entity)
        return inner.lists(own.relationship(named: relationship.name) ?? relationship, of: own)
    }

    func check(_ operation: RemoteOperation) throws(RemoteError) { try inner.check(translated(operation)) }

    func perform(_ operation: RemoteOperation, options: RequestOptions) async throws(RemoteError) -> RemoteAnswer {
        do throws(RemoteError) {
            return named(try await inner.perform(translated(operation), options: options), operation)
        } catch {
            throw named(error)
        }
    }

    // MARK: Keys of the server

    private func key(_ alias: String, _ entity: String) -> String {
        if let key = keys.withLock({ $0[entity]?.ofAliases[alias] }) { return key }
        // Of an object that nobody has made.
        guard hasIntegerKeys else { return alias }
        return String(1_000_000_000_000 + hash(alias))
    }

    /// The same number for the same key each time, so that what is repeated says the same.
    private func hash(_ alias: String) -> Int64 {
        alias.utf8.reduce(Int64(1)) { ($0 &* 31 &+ Int64($1)) & 0xFFFF_FFFF }
    }

    private func entity(_ outer: EntityDescription) -> EntityDescription { model.entity(named: outer.name) ?? outer }

    private func translated(_ operation: RemoteOperation) -> RemoteOperation {
        switch operation {
        case .query(let query): .query(translated(query))
        case .count(let query): .count(translated(query))
        case .read(let entity, let ids): .read(entity: self.entity(entity), ids: ids.map { key($0, entity.name) })
        case .create(let entity, let writes):
            .create(
                entity: self.entity(entity),
                writes.map { write in
                    var made = translated(write, entity)
                    made.id = hasIntegerKeys ? "-\(hash(write.id))" : "new-\(write.id)"
                    return made
                })
        case .update(let entity, let write): .update(entity: self.entity(entity), translated(write, entity))
        case .delete(let entity, let write): .delete(entity: self.entity(entity), translated(write, entity))
        case .relate(let entity, let relation): .relate(entity: self.entity(entity), translated(relation, entity))
        case .pull(let pull): .pull(RemotePull(entity: entity(pull.entity), cursor: pull.cursor, limit: pull.limit))
        case .batch(let list): .batch(list.map(translated))
        case .upload(let entity, let file): .upload(entity: self.entity(entity), file)
        case .call, .ping: operation
        }
    }

    private func translated(_ query: RemoteQuery) -> RemoteQuery {
        var result = query
        result.entity = entity(query.entity)
        if let membership = query.memberOf {
            result.memberOf = RemoteMembership(
                entity: entity(membership.entity), id: key(membership.id, membership.entity.name),
                relationship: membership.relationship)
        }
        return result
    }

    private func translated(_ write: RemoteWrite, _ entity: EntityDescription) -> RemoteWrite {
        var result = write
        result.id = key(write.id, entity.name)
        for (name, value) in write.values { result.values[name] = mapped(value, name, entity.name, key) }
        return result
    }

    private func translated(_ relation: RemoteRelation, _ entity: EntityDescription) -> RemoteRelation {
        let destination = destination(relation.relationship, entity.name)
        var result = relation
        result.id = key(relation.id, entity.name)
        result.added = relation.added.map { key($0, destination) }
        result.removed = relation.removed.map { key($0, destination) }
        return result
    }

    private func destination(_ relationship: String, _ entity: String) -> String {
        model.entity(named: entity)?.relationship(named: relationship).map { model.destination(of: $0).name } ?? ""
    }

    private func mapped(
        _ value: RemoteValue, _ name: String, _ entity: String, _ map: (String, String) -> String
    ) -> RemoteValue {
        let destination = destination(name, entity)
        return switch value {
        case .reference(let id): .reference(id.map { map($0, destination) })
        case .references(let ids): .references(ids.map { map($0, destination) })
        default: value
        }
    }

    // MARK: Keys of the check

    private func alias(_ key: String, _ entity: String) -> String {
        keys.withLock { $0[entity]?.aliases[key] } ?? key
    }

    private func named(_ answer: RemoteAnswer, _ operation: RemoteOperation) -> RemoteAnswer {
        switch answer {
        case .page(var page):
            page.records = page.records.map(named)
            page.deleted = page.deleted.map(named)
            return .page(page)
        case .outcomes(let list):
            let created = created(by: operation)
            return .outcomes(
                list.enumerated().map { number, outcome in
                    switch outcome {
                    case .done(let record?):
                        if created.indices.contains(number), let (alias, entity) = created[number] {
                            note(alias, record.id, entity)
                        }
                        return .done(named(record))
                    case .done: return outcome
                    case .failed(let error): return .failed(named(error))
                    }
                })
        default: return answer
        }
    }

    /// For each outcome of an operation the new object that it is about.
    private func created(by operation: RemoteOperation) -> [(alias: String, entity: String)?] {
        switch operation {
        case .create(let entity, let writes): writes.map { ($0.id, entity.name) }
        case .batch(let list): list.flatMap(created)
        default: [nil]
        }
    }

    private func note(_ alias: String, _ key: String, _ entity: String) {
        keys.withLock {
            $0[entity, default: Keys()].ofAliases[alias] = key
            $0[entity, default: Keys()].aliases[key] = alias
        }
    }

    private func named(_ record: RemoteRecord) -> RemoteRecord {
        var result = record
        result.id = alias(record.id, record.entity)
        for (name, value) in record.values { result.values[name] = mapped(value, name, record.entity, alias) }
        return result
    }

    private func named(_ error: RemoteError) -> RemoteError {
        var result = error
        result.serverRecord = error.serverRecord.map(named)
        result.identity = error.identity.map(named)
        return result
    }

    private func named(_ identity: RemoteIdentity) -> RemoteIdentity {
        RemoteIdentity(entity: identity.entity, id: alias(identity.id, identity.entity))
    }
}
