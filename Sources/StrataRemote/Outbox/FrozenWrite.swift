import Foundation
import StrataSQLite
import StrataStore

/// A write as it was sent the first time, in bytes that an outbox entry keeps until the answer is known: a repeated
/// request says the same, whatever was changed since. Properties are given by name, so that an app with another model
/// can read them, too. Secrets are left out.
enum FrozenWrite {
    /// The first one had no operations.
    private static let formats: ClosedRange<UInt8> = 1...2

    static func encode(_ write: MirrorWrite) -> Data {
        var out = ByteWriter()
        out.byte(write.write.operations.isEmpty ? 1 : 2)
        out.byte(write.write.isWhole ? 1 : 0)
        out.text(write.entity.name)
        out.text(write.write.id)
        out.optionalText(write.write.baseVersion)
        out.values(write.write.values)
        out.count(write.relations.count)
        for relation in write.relations {
            out.text(relation.relationship)
            out.texts(relation.added)
            out.texts(relation.removed)
            out.bytes(relation.token.data)
        }
        out.count(write.references.count)
        for reference in write.references {
            out.text(reference.entity)
            out.text(reference.id)
        }
        if !write.write.operations.isEmpty {
            out.operations(write.write.operations.mapValues { FieldOperations([$0]) })
        }
        return out.data
    }

    /// The write with the names that entities and properties have now. Properties that are gone are left out.
    /// - Returns: nil if the bytes are damaged.
    static func renamed(_ data: Data, _ entity: EntityDescription, _ past: MirrorPast) -> Data? {
        var input = ByteReader(data)
        guard let format = input.byte(), formats.contains(format), let flags = input.byte(), input.text() != nil,
            let id = input.text(),
            let version = input.optionalText(), let values = input.values(), let relationCount = input.count()
        else { return nil }
        var out = ByteWriter()
        out.byte(format)
        out.byte(flags)
        out.text(entity.name)
        out.text(id)
        out.optionalText(version)
        out.values(
            Dictionary(
                values.compactMap { name, value in past.presentName(name, of: entity).map { ($0, value) } },
                uniquingKeysWith: { first, _ in first }))
        var relations: [(String, [String], [String], Data)] = []
        for _ in 0..<relationCount {
            guard let name = input.text(), let added = input.texts(), let removed = input.texts(),
                let token = input.bytes()
            else { return nil }
            if let present = past.presentName(name, of: entity) { relations.append((present, added, removed, token)) }
        }
        out.count(relations.count)
        for (name, added, removed, token) in relations {
            out.text(name)
            out.texts(added)
            out.texts(removed)
            out.bytes(token)
        }
        guard let count = input.count() else { return nil }
        out.count(count)
        for _ in 0..<count {
            guard let name = input.text(), let id = input.text() else { return nil }
            out.text(past.presentName(ofEntity: name))
            out.text(id)
        }
        guard format > 1 else { return out.data }
        guard let operations = input.operations() else { return nil }
        out.operations(operations.renamed(entity, past))
        return out.data
    }

    /// - Returns: nil if the bytes are damaged, or of an entity that the model has no more. Properties that the model has
    ///   no more are left out.
    static func decode(_ data: Data, _ entry: OutboxEntry, _ mirror: Mirror) -> MirrorWrite? {
        var input = ByteReader(data)
        guard let format = input.byte(), formats.contains(format), let flags = input.byte(),
            let entityName = input.text(),
            let entity = mirror.model.entity(named: entityName), let id = input.text(),
            let version = input.optionalText(), let values = input.values(), let relationCount = input.count()
        else { return nil }
        var result = MirrorWrite(
            kind: entry.kind, entity: entity,
            identity: RowIdentity(entityIndex: entity.index, key: entry.identity.key),
            write: RemoteWrite(
                id: id, values: values.filter { entity.property(named: $0.key) != nil }, baseVersion: version,
                token: entry.token ?? UUID(), isWhole: flags & 1 != 0))
        for _ in 0..<relationCount {
            guard let name = input.text(), let added = input.texts(), let removed = input.texts(),
                let token = input.bytes().flatMap({ $0.withUnsafeBytes { UUID(bytes: $0) } })
            else { return nil }
            guard entity.relationship(named: name) != nil,
                entry.members.contains(where: { $0.relationship == name })
            else { continue }
            result.relations.append(
                RemoteRelation(id: id, relationship: name, added: added, removed: removed, token: token))
        }
        guard let count = input.count() else { return nil }
        for _ in 0..<count {
            guard let entity = input.text(), let id = input.text() else { return nil }
            result.references.insert(RemoteIdentity(entity: entity, id: id))
        }
        if format > 1 {
            guard let operations = input.operations() else { return nil }
            for (name, done) in operations where entity.property(named: name) != nil {
                result.write.operations[name] = done.steps.first
            }
        }
        // The values have been acknowledged already where members follow in requests of their own.
        if entry.kind == .update, entry.slots.isEmpty, !entry.members.contains(where: \.isOrder) {
            result.write.values = result.write.values.filter { entity.relationship(named: $0.key)?.isToMany == true }
            result.write.operations = [:]
            if !result.relations.isEmpty { result.write.values = [:] }
        }
        result.write.secrets = mirror.secrets.of(
            RowIdentity(entityIndex: entity.rootIndex, key: entry.identity.key))
        return result
    }
}

extension EntityDescription {
    /// An attribute or a relationship.
    fileprivate func property(named name: String) -> String? {
        attribute(named: name)?.name ?? relationship(named: name)?.name
    }
}
