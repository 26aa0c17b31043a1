/// Turns checked declarations into descriptions: inheritance, slots and the storage of relationships.
///
/// It relies on ``ModelChecker`` having found no fault: names resolve, inheritance has no cycle, inverses agree.
struct ModelResolver {
    private let entities: [Entity]
    private let naming: NamingConvention
    private let indexesByName: [String: Int]

    init(entities: [Entity], naming: NamingConvention) {
        self.entities = entities
        self.naming = naming
        self.indexesByName = Dictionary(uniqueKeysWithValues: entities.enumerated().map { ($1.name, $0) })
    }

    func resolve() -> [EntityDescription] {
        let lineages = entities.indices.map(lineage(of:))
        let keys = lineages.map(keyType(of:))
        return entities.indices.map { resolve($0, lineages: lineages, keys: keys) }
    }

    /// The entity and those that it inherits from, topmost first.
    private func lineage(of index: Int) -> [Int] {
        var result = [index]
        while let parent = entities[result[0]].parent, let parentIndex = indexesByName[parent] {
            result.insert(parentIndex, at: 0)
        }
        return result
    }

    /// The type of the primary key of the last entity of a lineage.
    private func keyType(of lineage: [Int]) -> AttributeType? {
        guard let field = PrimaryKeyConvention.field(of: lineage.reversed().map { entities[$0] }) else { return nil }
        return lineage.lazy.flatMap { entities[$0].attributes }.first { $0.name == field }?.type
    }

    private func resolve(_ index: Int, lineages: [[Int]], keys: [AttributeType?]) -> EntityDescription {
        let lineage = lineages[index]
        var attributes: [AttributeDescription] = []
        var relationships: [RelationshipDescription] = []
        var slots: [SlotDescription] = []
        var indexes: [Index] = []
        var toManyCount = 0
        for ancestor in lineage {
            let entity = entities[ancestor]
            for attribute in entity.attributes {
                let first = slots.count
                appendSlots(
                    of: attribute.type, name: attribute.name, optional: attribute.isOptional,
                    enumeration: attribute.enumeration, attribute: attribute, attributeIndex: attributes.count,
                    to: &slots)
                attributes.append(
                    AttributeDescription(
                        declaration: attribute, slots: first..<slots.count, declaringEntity: entity.name))
                if attribute.isUnique {
                    indexes.append(Index([attribute.name], kind: .unique, location: attribute.location))
                } else if attribute.isIndexed {
                    indexes.append(
                        Index(
                            [attribute.name], kind: attribute.type == .geoPoint ? .spatial : .ordered,
                            location: attribute.location))
                }
            }
            for relationship in entity.relationships {
                let storage: RelationshipDescription.Storage
                if relationship.isToMany {
                    storage = toManyStorage(of: relationship, in: entity)
                } else {
                    storage = .slot(slots.count)
                    slots.append(
                        SlotDescription(
                            index: slots.count, name: relationship.name, storage: .key, type: nil,
                            isOptional: relationship.isOptional, isTransient: false, derivation: nil, enumeration: nil,
                            attributeIndex: nil, relationshipIndex: relationships.count))
                }
                let destination = indexesByName[relationship.destination] ?? 0
                relationships.append(
                    RelationshipDescription(
                        declaration: relationship, index: relationships.count,
                        destinationIndex: destination, destinationKeyType: keys[destination],
                        inverseIndex: inverseIndex(of: relationship), storage: storage,
                        toManyIndex: relationship.isToMany ? toManyCount : nil, declaringEntity: entity.name,
                        declaringEntityIndex: ancestor))
                if relationship.isToMany { toManyCount += 1 }
            }
            indexes += entity.indexes
        }
        let slotsByName = Dictionary(uniqueKeysWithValues: slots.map { ($0.name, $0.index) })
        return EntityDescription(
            declaration: entities[index], index: index, parentIndex: lineage.dropLast().last, rootIndex: lineage[0],
            rootName: entities[lineage[0]].name,
            descendantIndexes: [index] + lineages.indices.filter { $0 != index && lineages[$0].contains(index) },
            attributes: attributes, relationships: relationships,
            fetchedProperties: lineage.flatMap { entities[$0].fetchedProperties }, slots: slots, indexes: indexes,
            uniqueConstraints: indexes.filter { $0.kind == .unique }.map { index in
                index.properties.compactMap { slotsByName[$0.hasPrefix("-") ? String($0.dropFirst()) : $0] }
            },
            primaryKeyField: PrimaryKeyConvention.field(of: lineage.reversed().map { entities[$0] }), naming: naming)
    }

    private func appendSlots(
        of type: AttributeType, name: String, optional: Bool, enumeration: EnumerationType?, attribute: Attribute,
        attributeIndex: Int, to slots: inout [SlotDescription]
    ) {
        if case .composite(let elements) = type {
            for element in elements {
                appendSlots(
                    of: element.type, name: "\(name).\(element.name)", optional: optional || element.isOptional,
                    enumeration: element.enumeration, attribute: attribute, attributeIndex: attributeIndex, to: &slots)
            }
            return
        }
        slots.append(
            SlotDescription(
                index: slots.count, name: name, storage: type.slotStorage, type: type, isOptional: optional,
                isTransient: attribute.isTransient, derivation: attribute.derivation, enumeration: enumeration,
                attributeIndex: attributeIndex, relationshipIndex: nil))
    }

    private func toManyStorage(of relationship: Relationship, in entity: Entity) -> RelationshipDescription.Storage {
        guard let (destination, inverse) = inverseDeclaration(of: relationship) else { return .pairs(isPrimary: true) }
        if !inverse.isToMany { return .inverseSlot(slot(of: inverse.name, in: destination)) }
        // Both sides agree on who is primary: the ordered side, otherwise the one whose entity and name sort first.
        if relationship.isOrdered != inverse.isOrdered { return .pairs(isPrimary: relationship.isOrdered) }
        return .pairs(isPrimary: (entity.name, relationship.name) <= (destination.name, inverse.name))
    }

    private func inverseDeclaration(of relationship: Relationship) -> (Entity, Relationship)? {
        guard let name = relationship.inverse, var index = indexesByName[relationship.destination] else { return nil }
        while true {
            if let found = entities[index].relationships.first(where: { $0.name == name }) {
                return (entities[index], found)
            }
            guard let parent = entities[index].parent, let parentIndex = indexesByName[parent] else { return nil }
            index = parentIndex
        }
    }

    /// The position of the inverse among all relationships of the destination, inherited ones first.
    private func inverseIndex(of relationship: Relationship) -> Int? {
        guard let name = relationship.inverse, let index = indexesByName[relationship.destination] else { return nil }
        return lineage(of: index).flatMap { entities[$0].relationships }.firstIndex { $0.name == name }
    }

    /// The slot of a to-one relationship in the rows of the entity that declares it, and so of all that inherit it.
    private func slot(of name: String, in entity: Entity) -> Int {
        var slot = 0
        for ancestor in lineage(of: indexesByName[entity.name] ?? 0) {
            slot += entities[ancestor].attributes.reduce(0) { $0 + $1.type.slotCount }
            for relationship in entities[ancestor].relationships where !relationship.isToMany {
                if relationship.name == name { return slot }
                slot += 1
            }
        }
        return slot
    }
}

extension AttributeType {
    /// The layout of a value in rows. A composite has no slot of its own; its elements have.
    var slotStorage: SlotStorage {
        switch self {
        case .integer16, .integer32, .integer64, .integer: .integer
        case .double, .float: .double
        case .decimal: .decimal
        case .string, .uri, .json, .array: .text
        case .boolean: .boolean
        case .date: .date
        case .uuid: .uuid
        case .geoPoint: .geoPoint
        case .binary, .transformable, .composite: .bytes
        }
    }

    /// How many slots a value takes.
    var slotCount: Int {
        guard case .composite(let elements) = self else { return 1 }
        return elements.reduce(0) { $0 + $1.type.slotCount }
    }
}
