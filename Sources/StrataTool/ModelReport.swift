import StrataModel

/// A model as `strata model show --json` prints it.
struct ModelReport: Encodable {
    struct AttributeReport: Encodable {
        let name: String
        let type: String
        let isOptional: Bool
        let columns: [String]
        let traits: [String]
    }

    struct RelationshipReport: Encodable {
        let name: String
        let destination: String
        let isToMany: Bool
        let isOptional: Bool
        let inverse: String?
        let deleteRule: String
        let traits: [String]
    }

    /// A fetched property, or a fetch with a name.
    struct FetchReport: Encodable {
        let name: String
        let entity: String
        let condition: String?
        let sorts: [String]
        let limit: Int?

        init(_ template: FetchTemplate) {
            name = template.name
            entity = template.entity
            condition = template.predicate
            sorts = template.sorts
            limit = template.limit
        }

        var summary: String {
            let parts = [
                condition.map { "where \($0)" }, sorts.isEmpty ? nil : "sorted by \(sorts.joined(separator: ", "))",
                limit.map { "limit \($0)" },
            ]
            return parts.compactMap(\.self).joined(separator: ", ")
        }
    }

    struct EntityReport: Encodable {
        let name: String
        let className: String
        let table: String
        let inherits: String?
        let isAbstract: Bool
        let primaryKey: String?
        let attributes: [AttributeReport]
        let relationships: [RelationshipReport]
        let fetched: [FetchReport]
        let indexes: [String]
    }

    let name: String
    let versionHash: String
    let entities: [EntityReport]
    let fetches: [FetchReport]

    init(_ model: ManagedObjectModel) {
        name = model.name
        versionHash = model.versionHash
        entities = model.entities.map { entity in
            EntityReport(
                name: entity.name, className: entity.className,
                table: model.naming.storedName(ofEntity: entity.rootName),
                inherits: model.parent(of: entity)?.name, isAbstract: entity.isAbstract,
                primaryKey: entity.primaryKeyField,
                attributes: entity.attributes.map { Self.attribute($0, entity, model) },
                relationships: entity.relationships.map(Self.relationship),
                fetched: entity.fetchedProperties.map { FetchReport($0.request) },
                indexes: entity.indexes.map { "\($0.properties.joined(separator: ", ")) (\($0.kind.rawValue))" })
        }
        fetches = model.fetchTemplates.map(FetchReport.init)
    }

    private static func attribute(
        _ attribute: AttributeDescription, _ entity: EntityDescription, _ model: ManagedObjectModel
    ) -> AttributeReport {
        var traits: [String] = []
        if attribute.isTransient { traits.append("transient") }
        if attribute.declaration.isUnique { traits.append("unique") }
        if attribute.declaration.isIndexed { traits.append("indexed") }
        if let value = attribute.declaration.defaultValue { traits.append("default \(text(value))") }
        if let derivation = attribute.derivation { traits.append("derived \(text(derivation))") }
        if case .transformable(let name) = attribute.type { traits.append(name) }
        if attribute.declaration.allowsExternalStorage { traits.append("external") }
        if attribute.declaration.isPreservedInHistory { traits.append("history") }
        let rules = attribute.declaration.rules
        if let least = rules.minimum { traits.append("min \(least)") }
        if let most = rules.maximum { traits.append("max \(most)") }
        if let least = rules.minimumLength { traits.append("minLength \(least)") }
        if let most = rules.maximumLength { traits.append("maxLength \(most)") }
        if let pattern = rules.pattern { traits.append("pattern \(pattern)") }
        let columns = attribute.slots.filter { entity.slots[$0].isStored }.map { slot in
            model.naming.storedName(ofProperty: entity.slots[slot].name.split(separator: ".").joined(separator: "_"))
        }
        return AttributeReport(
            name: attribute.name, type: attribute.type.name, isOptional: attribute.isOptional, columns: columns,
            traits: traits)
    }

    private static func relationship(_ relationship: RelationshipDescription) -> RelationshipReport {
        var traits: [String] = []
        if let inverse = relationship.inverse { traits.append("inverse \(inverse)") }
        if relationship.isOrdered { traits.append("ordered") }
        if relationship.deleteRule != .nullify { traits.append("delete \(relationship.deleteRule.rawValue)") }
        if relationship.declaration.minimumCount > 0 { traits.append("min \(relationship.declaration.minimumCount)") }
        if relationship.declaration.maximumCount > 0 { traits.append("max \(relationship.declaration.maximumCount)") }
        return RelationshipReport(
            name: relationship.name, destination: relationship.destination, isToMany: relationship.isToMany,
            isOptional: relationship.isOptional, inverse: relationship.inverse,
            deleteRule: relationship.deleteRule.rawValue,
            traits: traits)
    }

    private static func text(_ value: AttributeDefault) -> String {
        switch value {
        case .value(let value): value.description
        case .now: "now"
        case .newUUID: "new UUID"
        }
    }

    private static func text(_ derivation: Derivation) -> String {
        switch derivation {
        case .lowercase(let source): "lowercase(\(source))"
        case .uppercase(let source): "uppercase(\(source))"
        case .canonical(let source): "canonical(\(source))"
        case .now: "now()"
        case .count(let relationship): "\(relationship).@count"
        case .sum(let relationship, let attribute): "\(relationship).@sum.\(attribute)"
        case .path(let path): path.joined(separator: ".")
        }
    }
}
