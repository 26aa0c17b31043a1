/// Compares two models and says what has to be done to the data of the first.
struct MigrationInference {
    let old: ManagedObjectModel
    let new: ManagedObjectModel
    private(set) var steps: [MigrationStep] = []
    private(set) var mapping = ModelMapping()
    /// What cannot be told from the two versions, by the name of the entity or by `entity.property`.
    private var ambiguities: [String: NameMatching.Ambiguity] = [:]
    private var known: Set<String> = []

    init(old: ManagedObjectModel, new: ManagedObjectModel) {
        self.old = old
        self.new = new
    }

    mutating func run() {
        mapEntities()
        for entity in new.entities {
            describe(entity)
            for attribute in entity.attributes where attribute.declaringEntity == entity.name {
                describe(attribute, of: entity)
            }
            for relationship in entity.relationships where relationship.declaringEntity == entity.name {
                describe(relationship, of: entity)
            }
            describeIndexes(of: entity)
        }
        describeRemovals()
    }

    /// Notes a step, once.
    mutating func add(
        _ kind: MigrationStep.Kind, _ risk: MigrationStep.Risk, _ entity: String, _ property: String? = nil,
        _ text: String
    ) {
        let step = MigrationStep(kind, risk, entity: entity, property: property, text)
        if known.insert("\(kind) \(step.id) \(text)").inserted { steps.append(step) }
    }

    // MARK: Mapping

    private mutating func mapEntities() {
        func items(_ model: ManagedObjectModel) -> [NameMatching.Item] {
            model.entities.map { NameMatching.Item(name: $0.name, formerNames: $0.declaration.formerNames) }
        }
        let names = NameMatching.match(old: items(old), new: items(new))
        for ambiguity in NameMatching.ambiguities(old: items(old), new: items(new), names) {
            ambiguities[ambiguity.name] = ambiguity
        }
        for entity in new.entities { mapping.entities[entity.name] = map(entity, names[entity.name]) }
        let continued = Set(names.values)
        mapping.removed = old.entities.map(\.name).filter { !continued.contains($0) }
    }

    private mutating func map(_ entity: EntityDescription, _ sourceName: String?) -> EntityMapping {
        var result = EntityMapping(entity: entity.name, source: sourceName)
        let source = sourceName.flatMap(old.entity(named:))
        if let source {
            let (before, now) = (items(of: source), items(of: entity))
            result.properties = NameMatching.match(old: before, new: now)
            for ambiguity in NameMatching.ambiguities(old: before, new: now, result.properties) {
                ambiguities["\(entity.name).\(ambiguity.name)"] = ambiguity
            }
        }
        for slot in entity.slots where slot.relationshipIndex == nil && slot.isStored {
            guard let attribute = slot.attributeIndex.map({ entity.attributes[$0] }) else { continue }
            result.slots.append(map(slot, of: attribute, to: source, result.properties[attribute.name]))
        }
        return result
    }

    private func map(
        _ slot: SlotDescription, of attribute: AttributeDescription, to entity: EntityDescription?, _ property: String?
    ) -> SlotMapping {
        // An attribute that continues a relationship, or a composite that continues a value, starts over.
        let past = property.flatMap { entity?.attribute(named: $0) }
        let path = slot.path.dropFirst()
        let source = past.flatMap { past in
            entity?.slot(named: ([past.name] + path).joined(separator: "."))
        }.flatMap { $0.isStored ? $0 : nil }
        var result = SlotMapping(slot: slot.name, source: source?.name, derivation: slot.derivation)
        if let from = source?.type, let to = slot.type {
            let conversion = ValueConversion(from: from, to: to)
            if !conversion.isIdentity { result.conversion = conversion }
        }
        if slot.derivation == nil, path.isEmpty, source == nil || !slot.isOptional {
            result.fill = attribute.declaration.defaultValue
        }
        return result
    }

    private func items(of entity: EntityDescription) -> [NameMatching.Item] {
        entity.attributes.map { NameMatching.Item(name: $0.name, formerNames: $0.declaration.formerNames) }
            + entity.relationships.map { NameMatching.Item(name: $0.name, formerNames: $0.declaration.formerNames) }
    }

    /// Notes that a name may continue something that another one got.
    mutating func describeAmbiguity(_ entity: String, _ property: String?, heir: String) {
        guard let ambiguity = ambiguities[property.map { "\(heir).\($0)" } ?? heir] else { return }
        add(
            property == nil ? .renameEntity : .renameProperty, .impossible, entity, property,
            "was renamed from \(ambiguity.past), as \(ambiguity.other) was; "
                + "name the versions in between in options.migration.versions")
    }

    /// The old entity that an entity continues.
    func source(of entity: EntityDescription) -> EntityDescription? {
        mapping.entities[entity.name]?.source.flatMap(old.entity(named:))
    }

    /// An entity of which the past of a declaration can be told: the declaring one, or one that inherits from it; with the
    /// old entity.
    func witness(for entity: EntityDescription, _ property: String) -> (EntityDescription, EntityDescription)? {
        let heirs = entity.descendantIndexes.map { new.entities[$0] }
        let withPast = heirs.compactMap { heir in source(of: heir).map { (heir, $0) } }
        return withPast.first { mapping.entities[$0.0.name]?.properties[property] != nil } ?? withPast.first
    }

    // MARK: Entities

    private mutating func describe(_ entity: EntityDescription) {
        guard let past = source(of: entity) else {
            add(.addEntity, .safe, entity.name, nil, "a new entity")
            describeAmbiguity(entity.name, nil, heir: entity.name)
            describeRoot(of: entity)
            return
        }
        if past.name != entity.name {
            add(.renameEntity, .safe, entity.name, nil, "was \(past.name)")
        }
        if entity.isAbstract, !past.isAbstract {
            add(
                .changeHierarchy, .lossy, entity.name, nil,
                "becomes abstract; objects of \(past.name) itself are deleted")
        } else if !entity.isAbstract, past.isAbstract {
            add(.changeHierarchy, .safe, entity.name, nil, "can have objects of its own")
        }
        let parent = new.parent(of: entity)
        let pastParent = old.parent(of: past)
        if parent.flatMap(source(of:)) != pastParent || (parent == nil) != (pastParent == nil) {
            let text = parent.map { "inherits from \($0.name)" } ?? "inherits from no entity any more"
            add(.changeHierarchy, .safe, entity.name, nil, text)
        }
        describeRoot(of: entity)
    }

    /// All objects of a hierarchy share their keys, so that hierarchies can be neither joined nor split without new keys.
    private mutating func describeRoot(of entity: EntityDescription) {
        guard entity.rootIndex == entity.index else { return }
        let pasts = entity.descendantIndexes.compactMap { source(of: new.entities[$0]) }
        let roots = Set(pasts.map(\.rootName))
        if roots.count > 1 {
            add(
                .changeHierarchy, .impossible, entity.name, nil,
                "joins the hierarchies of \(roots.sorted().joined(separator: " and ")), whose objects may have equal keys"
            )
        }
        for root in roots {
            let others = new.entities.filter { other in
                other.rootIndex != entity.index && source(of: other)?.rootName == root
            }
            if let other = others.first, other.rootIndex > entity.index {
                add(
                    .changeHierarchy, .impossible, other.name, nil,
                    "leaves the hierarchy of \(root), and relationships to \(root) may lead to its objects")
            }
        }
    }

    // MARK: Indexes

    private mutating func describeIndexes(of entity: EntityDescription) {
        guard let past = source(of: entity), let properties = mapping.entities[entity.name]?.properties else { return }
        func spelled(_ index: Index, _ name: (String) -> String) -> String {
            index.kind.rawValue + " "
                + index.properties.map { text in
                    text.hasPrefix("-") ? "-" + name(String(text.dropFirst())) : name(text)
                }.joined(separator: ", ")
        }
        func current(_ name: String) -> String {
            properties.first { $0.value == name }?.key ?? name
        }
        let before = Set(past.indexes.map { spelled($0, current) })
        let inherited = Set(new.parent(of: entity)?.indexes.map { spelled($0, \.self) } ?? [])
        var added: [String] = []
        for index in entity.indexes {
            let text = spelled(index, \.self)
            if before.contains(text) || inherited.contains(text) { continue }
            if index.kind == .unique {
                add(
                    .addUniqueness, .checked, entity.name, index.properties.joined(separator: ", "),
                    "no two objects may have the same value")
            } else {
                added.append(text)
            }
        }
        let now = Set(entity.indexes.map { spelled($0, \.self) })
        let removed = before.subtracting(now).sorted()
        let lines = added.map { "adds the index \($0)" } + removed.map { "removes the index \($0)" }
        if !lines.isEmpty { add(.changeIndexes, .safe, entity.name, nil, lines.joined(separator: "; ")) }
    }

    // MARK: What goes

    private mutating func describeRemovals() {
        for name in mapping.removed {
            guard let entity = old.entity(named: name) else { continue }
            add(
                .removeEntity, entity.isAbstract ? .safe : .lossy, name, nil,
                entity.isAbstract ? "the abstract entity is removed" : "the entity is removed with all its objects")
        }
        for entity in old.entities {
            for attribute in entity.attributes where attribute.declaringEntity == entity.name {
                let isStored = attribute.slots.contains { entity.slots[$0].isStored }
                for place in places(without: attribute.name, of: entity) {
                    add(
                        .removeAttribute, isStored && attribute.derivation == nil ? .lossy : .safe, place,
                        attribute.name,
                        isStored && attribute.derivation == nil
                            ? "the attribute is removed with its values"
                            : "the attribute is removed; it can be computed, or was never stored")
                }
            }
            for relationship in entity.relationships where relationship.declaringEntity == entity.name {
                for place in places(without: relationship.name, of: entity) {
                    describeRemoval(of: relationship, at: place)
                }
            }
        }
    }

    /// The entities whose successors have a property no more: the declaring one, if that is all of them.
    private func places(without property: String, of entity: EntityDescription) -> [String] {
        let heirs = entity.descendantIndexes.map { old.entities[$0] }.compactMap { heir in
            mapping.successor(of: heir.name).flatMap { mapping.entities[$0] }.map { (heir, $0) }
        }
        let without = heirs.filter { !$0.1.properties.values.contains(property) }
        if without.isEmpty { return [] }
        return without.count == heirs.count ? [entity.name] : without.map(\.0.name)
    }

    private mutating func describeRemoval(of relationship: RelationshipDescription, at place: String) {
        let inverse = old.inverse(of: relationship)
        let survives =
            inverse.map { inverse in
                inverse !== relationship && isContinued(inverse, of: old.entities[relationship.destinationIndex])
            } ?? false
        if survives {
            add(
                .removeRelationship, relationship.isOrdered ? .lossy : .safe, place, relationship.name,
                relationship.isOrdered
                    ? "the relationship is removed with its order; its links remain at the other end"
                    : "the relationship is removed; its links remain at the other end")
        } else {
            add(.removeRelationship, .lossy, place, relationship.name, "the relationship is removed with its links")
        }
    }

    private func isContinued(_ relationship: RelationshipDescription, of entity: EntityDescription) -> Bool {
        mapping.entities.values.contains { mapped in
            mapped.source.flatMap(old.entity(named:))?.isKind(of: entity) == true
                && mapped.properties.values.contains(relationship.name)
        }
    }
}
