import Foundation
import SeededRandom
import StrataStore

/// A random model with random objects in a store, and the same objects as the in-memory evaluator sees them.
package final class RandomWorld {
    package let model: ManagedObjectModel
    package let store: any PersistentStore
    /// Whether texts may have the character U+0000.
    private let keepsZeroCharacters: Bool
    /// The values of the rows, by root entity and key.
    private(set) var rows: [Int: [Int64: (entity: EntityDescription, values: [String: Value])]] = [:]
    /// The keys at the other end of to-many relationships.
    private(set) var members: [String: [Int64: [Int64]]] = [:]

    /// - Parameters:
    ///   - keepsZeroCharacters: Whether the store keeps texts with the character U+0000.
    ///   - open: Opens an empty store.
    package init(
        _ random: inout SplitMix64, keepsZeroCharacters: Bool = true,
        open: (ManagedObjectModel) throws -> any PersistentStore
    ) throws {
        model = try Self.model(&random)
        self.keepsZeroCharacters = keepsZeroCharacters
        store = try open(model)
        try fill(&random)
        for entity in model.entities where entity.parentIndex == nil {
            let batch = try store.fetch(FetchPlan(entityIndex: entity.index))
            for row in batch.rows {
                let own = model.entities[row.row.entityIndex]
                let values = Dictionary(uniqueKeysWithValues: own.slots.map { ($0.name, row.row.value($0)) })
                rows[entity.index, default: [:]][row.row.key] = (own, values)
            }
        }
        for entity in model.entities {
            let keys = rows[entity.rootIndex]?.filter { $0.value.entity.isKind(of: entity) }.map(\.key) ?? []
            for relationship in entity.relationships where relationship.isToMany {
                for pair in try store.memberKeys(
                    entityIndex: entity.index, relationshipIndex: relationship.index, owners: keys)
                {
                    members["\(entity.name).\(relationship.name)", default: [:]][pair.owner, default: []].append(
                        pair.member)
                }
            }
        }
    }

    /// All objects of an entity, by key.
    package func objects(of entity: EntityDescription, subentities: Bool) -> [RandomObject] {
        (rows[entity.rootIndex] ?? [:]).filter {
            subentities ? $0.value.entity.isKind(of: entity) : $0.value.entity == entity
        }.map { RandomObject(world: self, entity: $0.value.entity, key: $0.key, values: $0.value.values) }.sorted {
            $0.key < $1.key
        }
    }

    package func object(_ entity: EntityDescription, _ key: Int64) -> RandomObject? {
        rows[entity.rootIndex]?[key].map { RandomObject(world: self, entity: $0.entity, key: key, values: $0.values) }
    }

    // MARK: Models

    static let types: [AttributeType] = [
        .integer16, .integer64, .integer, .double, .decimal, .string, .string, .string, .boolean, .date, .uuid, .uri,
        .binary, .geoPoint, .json(JSONType("Anything")), .array(.string), .array(.integer),
        .composite([CompositeElement("street", .string), CompositeElement("number", .integer32)]),
    ]

    private static func model(_ random: inout SplitMix64) throws -> ManagedObjectModel {
        let count = Int.random(in: 2...4, using: &random)
        var entities: [Entity] = []
        for index in 0..<count {
            var entity = Entity(name: "E\(index)", location: nil)
            if index > 0, Int.random(in: 0..<3, using: &random) == 0 {
                entity.parent = "E\(Int.random(in: 0..<index, using: &random))"
            }
            for number in 0..<Int.random(in: 3...8, using: &random) {
                var attribute = Attribute("e\(index)a\(number)", types.randomElement(using: &random)!, optional: true)
                switch attribute.type {
                case .composite, .binary, .json, .array: break
                default: attribute.isIndexed = .random(using: &random)
                }
                entity.attributes.append(attribute)
            }
            let texts = entity.attributes.filter { $0.type == .string }.map(\.name)
            if !texts.isEmpty, .random(using: &random) {
                entity.indexes.append(Index(texts, kind: .fullText, location: nil))
            }
            entities.append(entity)
        }
        for number in 0..<Int.random(in: 2...5, using: &random) {
            let from = Int.random(in: 0..<count, using: &random)
            let to = Int.random(in: 0..<count, using: &random)
            let kinds: [Relationship.Cardinality] = [.optionalToOne, .toMany, .orderedToMany]
            let there = kinds.randomElement(using: &random)!
            let back = kinds.randomElement(using: &random)!
            entities[from].relationships.append(
                Relationship("r\(number)", to: "E\(to)", there, inverse: "b\(number)"))
            entities[to].relationships.append(
                Relationship("b\(number)", to: "E\(from)", back, inverse: "r\(number)"))
        }
        for index in entities.indices {
            let entity = entities[index]
            if let one = entity.relationships.first(where: { !$0.isToMany }), .random(using: &random),
                let text = entities.first(where: { $0.name == one.destination })?.attributes.first(where: {
                    $0.type == .string
                })
            {
                entities[index].attributes.append(
                    Attribute("e\(index)path", .string, optional: true).derived(.path([one.name, text.name])))
            }
            if let many = entity.relationships.first(where: \.isToMany), .random(using: &random) {
                entities[index].attributes.append(
                    Attribute("e\(index)count", .integer64, optional: true).derived(.count(many.name)))
            }
        }
        return try ManagedObjectModel(name: "Random", entities: entities)
    }

    // MARK: Objects

    private func stored(_ type: AttributeType, _ random: inout SplitMix64) -> Value {
        let value = RandomValues.stored(type, &random)
        guard !keepsZeroCharacters, case .string(let text) = value else { return value }
        return .string(text.replacing("\u{0}", with: "\u{1}"))
    }

    private func row(_ entity: EntityDescription, _ key: Int64, _ values: [String: Value]) -> RowReference {
        var builder = RowBatchBuilder(expectedRows: 1)
        builder.beginRow(entity: entity, key: key, version: 1)
        for slot in entity.slots {
            guard let value = values[slot.name] else { continue }
            builder.setValue(value, slot: slot)
        }
        builder.endRow()
        return builder.finish()[0]
    }

    private func fill(_ random: inout SplitMix64) throws {
        var keys: [Int: [Int64]] = [:]
        var entityOf: [Int: [Int64: EntityDescription]] = [:]
        for root in model.entities where root.parentIndex == nil {
            for key in 1...Int64.random(in: 3...10, using: &random) {
                let entity = model.entities[root.descendantIndexes.randomElement(using: &random)!]
                keys[root.index, default: []].append(key)
                entityOf[root.index, default: [:]][key] = entity
            }
        }
        func candidates(_ entity: EntityDescription) -> [Int64] {
            (keys[entity.rootIndex] ?? []).filter { entityOf[entity.rootIndex]?[$0]?.isKind(of: entity) == true }
        }
        var changes = ChangeSet()
        for (root, all) in keys.sorted(by: { $0.key < $1.key }) {
            for key in all {
                guard let entity = entityOf[root]?[key] else { continue }
                var values: [String: Value] = [:]
                for slot in entity.slots where slot.derivation == nil {
                    if Int.random(in: 0..<4, using: &random) == 0 { continue }
                    if let index = slot.relationshipIndex {
                        let relationship = entity.relationships[index]
                        // A one-to-one relationship is kept on both sides; these tests leave it empty.
                        if let inverse = model.inverse(of: relationship), !inverse.isToMany { continue }
                        let found = candidates(model.destination(of: relationship)).randomElement(using: &random)
                        values[slot.name] = found.map(Value.object) ?? .null
                    } else if let type = slot.type {
                        values[slot.name] = stored(type, &random)
                    }
                }
                changes.inserts.append(.init(row: row(entity, key, values)))
            }
        }
        for entity in model.entities {
            for relationship in entity.relationships where relationship.declaringEntity == entity.name {
                guard case .pairs(isPrimary: true) = relationship.storage else { continue }
                for owner in candidates(entity) {
                    let added = candidates(model.destination(of: relationship)).filter { _ in
                        Int.random(in: 0..<3, using: &random) == 0
                    }
                    changes.pairs.append(
                        .init(
                            entityIndex: entity.index, relationshipIndex: relationship.index, owner: owner,
                            added: added, removed: []))
                }
            }
        }
        guard case .committed = try store.commit(changes) else {
            throw WorldFault(description: "the commit met conflicts")
        }
        var orders = ChangeSet()
        for entity in model.entities {
            for relationship in entity.relationships
            where relationship.declaringEntity == entity.name && relationship.isOrdered {
                for owner in candidates(entity) {
                    let members = try store.memberKeys(
                        entityIndex: entity.index, relationshipIndex: relationship.index, owners: [owner]
                    ).map(\.member).shuffled(using: &random)
                    orders.orders.append(
                        .init(
                            entityIndex: entity.index, relationshipIndex: relationship.index, owner: owner,
                            kind: .arrange(members)))
                }
            }
        }
        _ = try store.commit(orders)
    }
}

/// An object of a ``RandomWorld``.
package struct RandomObject: PropertySource {
    let world: RandomWorld
    let entity: EntityDescription
    package let key: Int64
    let values: [String: Value]

    package var evaluatedObject: Value { .object(key) }

    package var indexedTexts: [String] {
        entity.indexedTextSlots.compactMap { if case .string(let text)? = values[$0.name] { text } else { nil } }
    }

    package func property(_ name: String) -> PropertyValue {
        if let slot = entity.slot(named: name) {
            guard let index = slot.relationshipIndex else {
                return slot.type?.isJSON == true ? .json(values[name] ?? .null) : .value(values[name] ?? .null)
            }
            let destination = world.model.destination(of: entity.relationships[index])
            guard case .object(let key)? = values[name], let target = world.object(destination, key) else {
                return .value(.null)
            }
            return .object(target)
        }
        if let attribute = entity.attribute(named: name) {
            let elements = attribute.slots.map { entity.slots[$0] }.map {
                (String($0.name.dropFirst(name.count + 1)), values[$0.name] ?? .null)
            }
            return .value(.composite(Dictionary(uniqueKeysWithValues: elements)))
        }
        guard let relationship = entity.relationship(named: name), relationship.isToMany else { return .value(.null) }
        let destination = world.model.destination(of: relationship)
        let keys = world.members["\(entity.name).\(name)"]?[key] ?? []
        return .objects(keys.compactMap { world.object(destination, $0) }, isOrdered: relationship.isOrdered)
    }
}

/// Why there is no world.
struct WorldFault: Error, CustomStringConvertible {
    let description: String
}

/// Values at the edges: nil, empty, zero, negative, largest, beyond ASCII.
enum RandomValues {
    static let texts = [
        "", "a", "A", "ab", "Äb", "äb", "a\u{308}b", "abc", "ß", "SS", "b\u{0}c", "b", "\u{10FFFF}", "\u{7F}", "%_",
        "O'Neil", "1", "storm cloud", "Stormy", "Ἀθῆναι", "İ", "ı", "2.5", "a*c", "a?c", "2001-01-01T00:00:00Z",
    ]
    static let uuids = (0..<3).map { UUID(uuid: (UInt8($0 * 100), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)) }
    static let points = [
        (0, 0), (-0.0, 2), (1, 2), (90, 10), (-90, 0), (10, 179.5), (10, -179.5), (10, 180), (10, -180), (48.86, 2.35),
        (51.5, -0.12), (91, 0), (0, 181),
    ].map { GeoPoint(latitude: $0.0, longitude: $0.1) }

    static func integer(_ random: inout SplitMix64) -> Value {
        .integer(
            Int.random(in: 0..<3, using: &random) == 0
                ? [.max, .min, 1 << 53, 1 << 53 + 1].randomElement(using: &random)!
                : .random(in: -3...5, using: &random))
    }

    static func double(_ random: inout SplitMix64) -> Value {
        .double(
            [0, -0.0, 0.5, 1, 2, -2.25, 3, 0x1p53, 0x1p63, -0x1p63, .infinity, -.infinity, .nan, 0.1].randomElement(
                using: &random)!)
    }

    static func decimal(_ random: inout SplitMix64) -> Value {
        let texts = [
            "0", "1", "2", "0.1", "0.5", "1.00", "-1", "9223372036854775807", "9223372036854775808",
            "0.30000000000000000001",
        ]
        return .decimal(Decimal(string: texts.randomElement(using: &random)!)!)
    }

    static func number(_ random: inout SplitMix64) -> Value {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: double(&random)
        case 1: decimal(&random)
        case 2: .boolean(.random(using: &random))
        default: integer(&random)
        }
    }

    /// What JSON text may be: members and elements that are looked for, and others.
    static func json(_ random: inout SplitMix64, depth: Int) -> Value {
        switch depth > 0 ? Int.random(in: 0..<8, using: &random) : 5 {
        case 0: .list((0..<Int.random(in: 0...3, using: &random)).map { _ in json(&random, depth: depth - 1) })
        case 1...4:
            .composite(
                Dictionary(
                    members.filter { _ in Bool.random(using: &random) }.map { ($0, json(&random, depth: depth - 1)) },
                    uniquingKeysWith: { first, _ in first }))
        default: jsonScalar(&random)
        }
    }

    static func jsonScalar(_ random: inout SplitMix64) -> Value {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: .null
        case 1: .boolean(.random(using: &random))
        case 2, 3: integer(&random)
        case 4: .double([0, -0.0, 0.5, 1, 2, -2.25, 3, 0x1p53, 0x1p63, 1e300].randomElement(using: &random)!)
        default: .string(texts.randomElement(using: &random)!)
        }
    }

    static let members = ["a", "b", "c", "Ä", "a'b", "\"", ""]

    static func value(_ type: AttributeType, _ random: inout SplitMix64) -> Value {
        switch type {
        case .integer16: .integer(.random(in: -3...5, using: &random))
        case .integer32: .integer(.random(in: -3...5, using: &random))
        case .integer64, .integer: integer(&random)
        case .json: json(&random, depth: 3)
        case .array(let element):
            .list((0..<Int.random(in: 0...3, using: &random)).map { _ in value(element, &random) })
        case .decimal: decimal(&random)
        case .double, .float: double(&random)
        case .string: .string(texts.randomElement(using: &random)!)
        case .boolean: .boolean(.random(using: &random))
        case .date: .date(Date(timeIntervalSinceReferenceDate: [0, 1, 0.5, -1, 1e9].randomElement(using: &random)!))
        case .binary, .transformable:
            .binary([Data(), Data([1]), Data([1, 2]), Data([255])].randomElement(using: &random)!)
        case .uuid: .uuid(uuids.randomElement(using: &random)!)
        case .uri: .uri(URL(string: ["a", "https://example.org/b", "abc"].randomElement(using: &random)!)!)
        case .geoPoint: .geoPoint(points.randomElement(using: &random)!)
        case .composite: .null
        }
    }

    /// A value as rows hold it: sums of the numbers must not depend on their order, since sets have none.
    static func stored(_ type: AttributeType, _ random: inout SplitMix64) -> Value {
        switch type {
        case .double, .float:
            .double([0, -0.0, 0.5, 1, 2, -2.25, 3, 4096].randomElement(using: &random)!)
        default: value(type, &random)
        }
    }
}
