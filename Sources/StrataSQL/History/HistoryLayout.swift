import StrataStore

/// Which bit stands for which property, in the tables of a layout: first the columns of a table in their order, then the
/// relationships of the entities of the table that are in other tables, by entity and name.
package struct HistoryLayout {
    package let layout: StoreLayout
    private var bits: [RelationshipKey: Int] = [:]
    /// By table how many bits there are.
    private let counts: [Int]

    package init(_ layout: StoreLayout) {
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
    package func bit(_ entityIndex: Int, _ relationshipIndex: Int) -> Int? {
        bits[layout.key(entityIndex, relationshipIndex)]
    }

    /// What the bits of an entity mean.
    package func entity(_ entity: EntityDescription) -> HistoryEntity {
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
    package func kept(_ table: Int) -> [Int] {
        var result: Set<Int> = []
        for entity in layout.model.entities where layout.tableOfEntity[entity.index] == table {
            result.formUnion(self.entity(entity).kept)
        }
        return result.sorted()
    }

    /// A term for the row in `_history_entities` of the entity that a column names.
    /// - Parameter ids: The rows by position of the entity in the model.
    package func entityTerm(_ column: String, inTable table: Int, ids: [Int64]) -> String {
        let place = layout.tables[table]
        guard place.hasEntityColumn else { return "\(ids[place.onlyEntityIndex])" }
        let cases = layout.model.entities
            .filter { layout.tableOfEntity[$0.index] == table && !$0.isAbstract }
            .map { "WHEN \(Identifiers.literal($0.name)) THEN \(ids[$0.index])" }
        return "CASE \(column) \(cases.joined(separator: " ")) ELSE \(ids[place.rootIndex]) END"
    }

    // MARK: Relationships

    /// The ordered relationships whose order is in a table: the column, the column with the owner, and the
    /// relationship.
    package func orders(_ table: Int) -> [(column: String, owner: String, key: RelationshipKey)] {
        var result: [(String, String, RelationshipKey)] = []
        for entity in layout.model.entities {
            for relationship in entity.relationships where relationship.declaringEntity == entity.name {
                guard case .inverseSlot(let slot) = relationship.storage,
                    layout.tableOfEntity[relationship.destinationIndex] == table,
                    let order = layout.orderColumn(entity.index, relationship.index),
                    let owner = layout.column(relationship.destinationIndex, slot)?.quoted
                else { continue }
                result.append(
                    (order, owner, RelationshipKey(entityIndex: entity.index, relationshipIndex: relationship.index)))
            }
        }
        return result.sorted { $0.0 < $1.0 }
    }

    /// The relationships that are kept as pairs, by their primary side.
    package var pairs: [(key: RelationshipKey, side: PairSide)] {
        var result: [(key: RelationshipKey, side: PairSide)] = []
        for entity in layout.model.entities {
            for relationship in entity.relationships where relationship.declaringEntity == entity.name {
                guard let side = layout.pairs(entity.index, relationship.index), side.isPrimary else { continue }
                let key = RelationshipKey(entityIndex: entity.index, relationshipIndex: relationship.index)
                result.append((key, side))
            }
        }
        return result
    }

    /// The other side of pairs; nil for symmetric ones, which are in their table both ways round, so that both ends are owners.
    package func inverse(of key: RelationshipKey, _ side: PairSide) -> RelationshipKey? {
        let relationship = layout.model.entities[key.entityIndex].relationships[key.relationshipIndex]
        return side.table.isSymmetric
            ? nil : relationship.inverseIndex.map { layout.key(relationship.destinationIndex, $0) }
    }
}
