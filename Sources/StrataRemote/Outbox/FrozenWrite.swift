import Foundation
import StrataSQLite

/// A write as it was sent the first time, in bytes that an outbox entry keeps until the answer is known: a repeated
/// request says the same, whatever was changed since. Properties are given by name, so that an app with another model
/// can read them, too. Secrets are left out.
enum FrozenWrite {
    private static let format: UInt8 = 1

    static func encode(_ write: MirrorWrite) -> Data {
        var out = ByteWriter()
        out.byte(format)
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
        return out.data
    }

    /// The write with the names that entities and properties have now. Properties that are gone are left out.
    /// - Returns: nil if the bytes are damaged.
    static func renamed(_ data: Data, _ entity: EntityDescription, _ past: MirrorPast) -> Data? {
        var input = ByteReader(data)
        guard input.byte() == format, let flags = input.byte(), input.text() != nil, let id = input.text(),
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
        return out.data
    }

    /// - Returns: nil if the bytes are damaged, or of an entity that the model has no more. Properties that the model has
    ///   no more are left out.
    static func decode(_ data: Data, _ entry: OutboxEntry, _ mirror: Mirror) -> MirrorWrite? {
        var input = ByteReader(data)
        guard input.byte() == format, let flags = input.byte(), let entityName = input.text(),
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
        // The values have been acknowledged already where members follow in requests of their own.
        if entry.kind == .update, entry.slots.isEmpty, !entry.members.contains(where: \.isOrder) {
            result.write.values = result.write.values.filter { entity.relationship(named: $0.key)?.isToMany == true }
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

/// Puts values into bytes.
private struct ByteWriter {
    var data = Data()

    mutating func byte(_ value: UInt8) { data.append(value) }

    mutating func word(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { data.append(contentsOf: $0) }
    }

    mutating func count(_ value: Int) {
        withUnsafeBytes(of: UInt32(value).littleEndian) { data.append(contentsOf: $0) }
    }

    mutating func bytes(_ value: Data) {
        count(value.count)
        data.append(value)
    }

    mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { bytes in
            count(bytes.count)
            data.append(contentsOf: bytes)
        }
    }

    mutating func optionalText(_ value: String?) {
        byte(value == nil ? 0 : 1)
        if let value { text(value) }
    }

    mutating func texts(_ list: [String]) {
        count(list.count)
        for value in list { text(value) }
    }

    mutating func values(_ values: [String: RemoteValue]) {
        count(values.count)
        for (name, value) in values {
            text(name)
            remote(value)
        }
    }

    private mutating func remote(_ value: RemoteValue) {
        switch value {
        case .value(let value):
            byte(0)
            local(value)
        case .reference(let id):
            byte(1)
            optionalText(id)
        case .references(let ids):
            byte(2)
            texts(ids)
        // The writes of a mirror name other objects by their primary keys.
        case .record(let record):
            byte(1)
            optionalText(record.id)
        case .records(let list):
            byte(2)
            texts(list.map(\.id))
        }
    }

    private mutating func local(_ value: Value) {
        switch value {
        case .null: byte(0)
        case .integer(let number):
            byte(1)
            word(UInt64(bitPattern: number))
        case .double(let number):
            byte(2)
            word(number.bitPattern)
        case .decimal(let number):
            byte(3)
            text(number.description)
        case .string(let string):
            byte(4)
            text(string)
        case .boolean(let flag): byte(flag ? 6 : 5)
        case .date(let date):
            byte(7)
            word(date.timeIntervalSinceReferenceDate.bitPattern)
        case .binary(let bytes):
            byte(8)
            self.bytes(bytes)
        case .uuid(let uuid):
            byte(9)
            bytes(uuid.data)
        case .uri(let uri):
            byte(10)
            text(uri.absoluteString)
        case .geoPoint(let point):
            byte(11)
            word(point.latitude.bitPattern)
            word(point.longitude.bitPattern)
        case .composite(let elements):
            byte(12)
            count(elements.count)
            for (name, element) in elements {
                text(name)
                local(element)
            }
        case .object(let key):
            byte(13)
            word(UInt64(bitPattern: key))
        case .list(let list):
            byte(14)
            count(list.count)
            for element in list { local(element) }
        case .set(let set):
            byte(14)
            count(set.members.count)
            for element in set.members { local(element) }
        }
    }
}

/// Takes values out of bytes; nil where they end early or make no sense.
private struct ByteReader {
    private let data: Data
    private var position: Int

    init(_ data: Data) {
        self.data = data
        position = data.startIndex
    }

    private mutating func take(_ count: Int) -> Data? {
        guard count >= 0, count <= data.endIndex - position else { return nil }
        defer { position += count }
        return data[position..<(position + count)]
    }

    mutating func byte() -> UInt8? { take(1)?.first }

    mutating func word() -> UInt64? {
        take(8).map { $0.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) } }
    }

    mutating func count() -> Int? {
        take(4).map { Int($0.withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }) }
    }

    mutating func bytes() -> Data? { count().flatMap { take($0) } }

    mutating func text() -> String? { bytes().map { String(decoding: $0, as: UTF8.self) } }

    mutating func optionalText() -> String?? {
        guard let flag = byte() else { return nil }
        if flag == 0 { return .some(nil) }
        return text().map(Optional.some)
    }

    mutating func texts() -> [String]? {
        guard let count = count() else { return nil }
        var result: [String] = []
        for _ in 0..<count {
            guard let text = text() else { return nil }
            result.append(text)
        }
        return result
    }

    mutating func values() -> [String: RemoteValue]? {
        guard let count = count() else { return nil }
        var result: [String: RemoteValue] = [:]
        for _ in 0..<count {
            guard let name = text(), let value = remote() else { return nil }
            result[name] = value
        }
        return result
    }

    private mutating func remote() -> RemoteValue? {
        switch byte() {
        case 0: local(depth: 0).map(RemoteValue.value)
        case 1: optionalText().map(RemoteValue.reference)
        case 2: texts().map(RemoteValue.references)
        default: nil
        }
    }

    private mutating func local(depth: Int) -> Value? {
        guard depth < 200 else { return nil }
        switch byte() {
        case 0: return .null
        case 1: return word().map { .integer(Int64(bitPattern: $0)) }
        case 2: return word().map { .double(Double(bitPattern: $0)) }
        case 3: return text().flatMap { Decimal(string: $0) }.map(Value.decimal)
        case 4: return text().map(Value.string)
        case 5: return .boolean(false)
        case 6: return .boolean(true)
        case 7: return word().map { .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0))) }
        case 8: return bytes().map { .binary(Data($0)) }
        case 9: return bytes().flatMap { $0.withUnsafeBytes { UUID(bytes: $0) } }.map(Value.uuid)
        case 10: return text().flatMap { URL(string: $0) }.map(Value.uri)
        case 11:
            guard let latitude = word(), let longitude = word() else { return nil }
            return .geoPoint(
                GeoPoint(latitude: Double(bitPattern: latitude), longitude: Double(bitPattern: longitude)))
        case 12:
            guard let count = count() else { return nil }
            var elements: [String: Value] = [:]
            for _ in 0..<count {
                guard let name = text(), let element = local(depth: depth + 1) else { return nil }
                elements[name] = element
            }
            return .composite(elements)
        case 13: return word().map { .object(Int64(bitPattern: $0)) }
        case 14:
            guard let count = count() else { return nil }
            var list: [Value] = []
            for _ in 0..<count {
                guard let element = local(depth: depth + 1) else { return nil }
                list.append(element)
            }
            return .list(list)
        default: return nil
        }
    }
}
