import Foundation
import StrataSQLite
import StrataStore

/// Puts values into bytes.
struct ByteWriter {
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

    /// Operations by the names of properties.
    mutating func operations(_ operations: [String: FieldOperations]) {
        count(operations.count)
        for (name, done) in operations {
            text(name)
            count(done.steps.count)
            for step in done.steps {
                switch step {
                case .increment(let amount):
                    byte(0)
                    local(amount)
                case .append(let elements):
                    byte(1)
                    local(.list(elements))
                case .appendUnique(let elements):
                    byte(2)
                    local(.list(elements))
                case .remove(let elements):
                    byte(3)
                    local(.list(elements))
                }
            }
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
struct ByteReader {
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

    mutating func operations() -> [String: FieldOperations]? {
        guard let count = count() else { return nil }
        var result: [String: FieldOperations] = [:]
        for _ in 0..<count {
            guard let name = text(), let stepCount = self.count() else { return nil }
            var done = FieldOperations()
            for _ in 0..<stepCount {
                guard let step = operation() else { return nil }
                done.append(step)
            }
            result[name] = done
        }
        return result
    }

    private mutating func operation() -> FieldOperation? {
        guard let kind = byte(), let value = local(depth: 0) else { return nil }
        switch (kind, value) {
        case (0, _): return .increment(value)
        case (1, .list(let elements)): return .append(elements)
        case (2, .list(let elements)): return .appendUnique(elements)
        case (3, .list(let elements)): return .remove(elements)
        default: return nil
        }
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

extension [String: FieldOperations] {
    /// Operations under the names that properties have now, without those of properties that are gone.
    func renamed(_ entity: EntityDescription, _ past: MirrorPast) -> Self {
        var result: Self = [:]
        for (name, done) in self {
            if let present = past.presentName(name, of: entity) { result[present] = done }
        }
        return result
    }
}

extension [Int: FieldOperations] {
    /// Operations as they are stored in the outbox, by the names of properties; nil if there are none.
    func stored(_ entity: EntityDescription) -> Data? {
        if isEmpty { return nil }
        var out = ByteWriter()
        var named: [String: FieldOperations] = [:]
        for (slot, done) in self where slot < entity.slots.count { named[entity.slots[slot].name] = done }
        out.operations(named)
        return out.data
    }

    /// Reads what ``stored(_:)`` gave; nothing of properties that the entity lacks, or that are of another type now.
    init(stored data: Data, _ entity: EntityDescription) {
        self = [:]
        var input = ByteReader(data)
        for (name, done) in input.operations() ?? [:] {
            guard let slot = entity.slot(named: name), let type = slot.type, done.fits(type) else { continue }
            self[slot.index] = done
        }
    }
}
