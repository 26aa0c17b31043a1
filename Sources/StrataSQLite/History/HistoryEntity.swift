import Foundation
import StrataStore

/// What the changes of an entity mean, as `_history_entities` has it: recorded once for each version of the entity, so that a
/// change needs no more than bits.
struct HistoryEntity: Codable, Hashable {
    /// The name of the entity.
    var name: String
    /// The name of the topmost entity of its hierarchy.
    var root: String
    /// By bit the property: the path of a slot, or the name of a relationship. nil where the bit belongs to other entities of
    /// the table.
    var properties: [String?]
    /// The bits of the attributes whose old values are kept.
    var kept: [Int]

    /// The name of the property that a slot is a part of: an element of a composite changes the composite.
    static func property(_ slot: String) -> String {
        slot.firstIndex(of: ".").map { String(slot[..<$0]) } ?? slot
    }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    init(name: String, root: String, properties: [String?], kept: [Int]) {
        self.name = name
        self.root = root
        self.properties = properties
        self.kept = kept
    }

    /// Reads what ``text`` gives.
    init?(text: String) {
        guard let entity = try? JSONDecoder().decode(HistoryEntity.self, from: Data(text.utf8)) else { return nil }
        self = entity
    }
}

/// Which bit stands for which property, in the tables of a layout: first the columns of a table in their order, then the
/// relationships of the entities of the table that are in other tables, by entity and name.
struct HistoryLayout {
    let layout: StoreLayout
    private var bits: [RelationshipKey: Int] = [:]
    /// By table how many bits there are.
    private let counts: [Int]

    init(_ layout: StoreLayout) {
        self.layout = layout
        var next = layout.tables.map(\.columns.count)
        for entity in layout.model.entities.sorted(by: { $0.name < $1.name }) {
            let table = layout.tableOfEntity[entity.index]
            for relationship in entity.relationships.sorted(by: { $0.name < $1.name })
            where relationship.declaringEntity == entity.name && Self.stands(relationship, layout, entity) {
                let key = RelationshipKey(entityIndex: entity.index, relationshipIndex: relationship.index)
                bits[key] = next[table]
                next[table] += 1
            }
        }
        counts = next
    }

    /// Whether something besides the object's own row says what is in a relationship, or in which order.
    private static func stands(
        _ relationship: RelationshipDescription, _ layout: StoreLayout, _ entity: EntityDescription
    ) -> Bool {
        switch relationship.storage {
        case .pairs: true
        case .inverseSlot: layout.orderColumn(entity.index, relationship.index) != nil
        case .slot: false
        }
    }

    /// The bit of a relationship that is in another table.
    func bit(_ entityIndex: Int, _ relationshipIndex: Int) -> Int? { bits[layout.key(entityIndex, relationshipIndex)] }

    /// What the bits of an entity mean.
    func entity(_ entity: EntityDescription) -> HistoryEntity {
        let count = counts[layout.tableOfEntity[entity.index]]
        var properties = [String?](repeating: nil, count: count)
        var kept: [Int] = []
        for slot in entity.slots {
            guard let bit = layout.columnOfSlot[entity.index][slot.index] else { continue }
            properties[bit] = slot.name
            if slot.attributeIndex.map({ entity.attributes[$0].declaration.isPreservedInHistory }) == true {
                kept.append(bit)
            }
        }
        for relationship in entity.relationships {
            if let bit = bit(entity.index, relationship.index) { properties[bit] = relationship.name }
        }
        return HistoryEntity(
            name: entity.name, root: layout.model.entities[entity.rootIndex].name, properties: properties,
            kept: kept.sorted())
    }

    /// The columns of a table whose old values some entity keeps.
    func kept(_ table: Int) -> [Int] {
        var result: Set<Int> = []
        for entity in layout.model.entities where layout.tableOfEntity[entity.index] == table {
            result.formUnion(self.entity(entity).kept)
        }
        return result.sorted()
    }
}
