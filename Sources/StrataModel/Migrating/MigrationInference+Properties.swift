extension MigrationInference {
    /// Says what happens to an attribute, at the entity that declares it.
    mutating func describe(_ attribute: AttributeDescription, of entity: EntityDescription) {
        guard let (heir, past) = witness(for: entity, attribute.name) else { return }
        let name = attribute.name
        guard let pastName = mapping.entities[heir.name]?.properties[name],
            let before = past.attribute(named: pastName)
        else {
            describeAmbiguity(entity.name, attribute.name, heir: heir.name)
            return describeAddition(of: attribute, of: entity)
        }
        if before.name != name { add(.renameProperty, .safe, entity.name, name, "was \(before.name)") }
        describeMove(name, of: entity, before.declaringEntity)
        describeStorage(attribute, before, of: entity, past)
        describeTypes(attribute, before, of: entity)
        if attribute.isOptional, !before.isOptional {
            add(.changeOptionality, .safe, entity.name, name, "may be nil")
        } else if !attribute.isOptional, before.isOptional, isPlain(attribute) {
            let value = attribute.declaration.defaultValue
            add(
                .changeOptionality, value == nil ? .checked : .safe, entity.name, name,
                value.map { "may not be nil; missing values become \(Self.text($0))" }
                    ?? "may not be nil, and has no default for missing values")
        }
        let now = attribute.declaration
        let then = before.declaration
        if now.defaultValue != then.defaultValue {
            add(.describe, .safe, entity.name, name, "new objects have another default")
        }
        if now.rules != then.rules || now.enumeration != then.enumeration {
            add(
                .describe, .safe, entity.name, name, "has other rules, which objects must meet when they are next saved"
            )
        }
        if now.isPreservedInHistory != then.isPreservedInHistory {
            add(
                .describe, .safe, entity.name, name,
                now.isPreservedInHistory ? "history keeps old values from now on" : "history keeps no more old values")
        }
        if now.allowsExternalStorage != then.allowsExternalStorage, attribute.type == .binary, before.type == .binary {
            add(
                .changeStorage, .safe, entity.name, name,
                now.allowsExternalStorage
                    ? "large values that are saved from now on go to external files"
                    : "values in files of their own move into the database")
        }
    }

    private func isPlain(_ attribute: AttributeDescription) -> Bool {
        attribute.derivation == nil && !attribute.isTransient
    }

    private mutating func describeAddition(of attribute: AttributeDescription, of entity: EntityDescription) {
        let name = attribute.name
        if attribute.isTransient {
            add(.addAttribute, .safe, entity.name, name, "a new attribute that is not stored")
        } else if attribute.derivation != nil {
            add(.recompute, .safe, entity.name, name, "a new derived attribute, computed for all objects")
        } else if let value = attribute.declaration.defaultValue {
            add(.addAttribute, .safe, entity.name, name, "a new attribute; objects have \(Self.text(value))")
        } else if attribute.isOptional {
            add(.addAttribute, .safe, entity.name, name, "a new attribute; objects have nil")
        } else {
            add(
                .addAttribute, .checked, entity.name, name,
                "a new required attribute without a default; objects that exist need a value")
        }
    }

    /// A property that an entity inherited from another one than now.
    private mutating func describeMove(_ name: String, of entity: EntityDescription, _ declaring: String) {
        if mapping.successor(of: declaring) != entity.name {
            add(.moveProperty, .safe, entity.name, name, "was declared by \(declaring)")
        }
    }

    private mutating func describeStorage(
        _ attribute: AttributeDescription, _ before: AttributeDescription, of entity: EntityDescription,
        _ past: EntityDescription
    ) {
        let wasStored = before.slots.contains { past.slots[$0].isStored }
        let isStored = attribute.slots.contains { entity.slots.indices.contains($0) && entity.slots[$0].isStored }
        let name = attribute.name
        if wasStored, !isStored, before.derivation == nil {
            add(.removeAttribute, .lossy, entity.name, name, "is no longer stored; its values are lost")
        } else if isStored, !wasStored, attribute.derivation == nil {
            describeAddition(of: attribute, of: entity)
        } else if attribute.derivation != before.derivation {
            if attribute.derivation == nil {
                add(.describe, .safe, entity.name, name, "is no longer derived; its values stay")
            } else if before.derivation == nil, wasStored {
                add(.recompute, .lossy, entity.name, name, "is derived; its values are overwritten")
            } else {
                add(.recompute, .safe, entity.name, name, "is computed in another way")
            }
        }
    }

    private mutating func describeTypes(
        _ attribute: AttributeDescription, _ before: AttributeDescription, of entity: EntityDescription
    ) {
        guard isPlain(attribute), isPlain(before) || !attribute.isTransient else { return }
        switch (before.type, attribute.type) {
        case (.composite(let old), .composite(let new)):
            for element in old where !new.contains(where: { $0.name == element.name }) {
                add(
                    .removeAttribute, .lossy, entity.name, "\(attribute.name).\(element.name)",
                    "the element is removed with its values")
            }
            for element in new {
                let path = "\(attribute.name).\(element.name)"
                guard let past = old.first(where: { $0.name == element.name }) else {
                    let isFree = element.isOptional || attribute.isOptional
                    add(
                        .addAttribute, isFree ? .safe : .checked, entity.name, path,
                        isFree ? "a new element; objects have nil" : "a new required element; objects need a value")
                    continue
                }
                describeConversion(past.type, element.type, entity.name, path)
                if !element.isOptional, past.isOptional, !attribute.isOptional {
                    add(.changeOptionality, .checked, entity.name, path, "may not be nil, and has no default")
                }
            }
        case (.composite, _), (_, .composite):
            add(
                .changeType, .lossy, entity.name, attribute.name,
                "was \(before.type.name), is \(attribute.type.name), and starts empty; its values are lost")
        default: describeConversion(before.type, attribute.type, entity.name, attribute.name)
        }
    }

    private mutating func describeConversion(
        _ before: AttributeType, _ now: AttributeType, _ entity: String, _ property: String
    ) {
        let conversion = ValueConversion(from: before, to: now)
        if before.storedName == now.storedName, conversion.isIdentity { return }
        let text = "was \(before.name), is \(now.name)"
        switch conversion.reach {
        case .all: add(.changeType, .safe, entity, property, text)
        case .some: add(.changeType, .checked, entity, property, text + "; values without an exact form do not fit")
        case .bytes: add(.changeType, .lossy, entity, property, text + "; bytes stay, and may not be readable")
        case .none: add(.changeType, .impossible, entity, property, text + ", for which there is no conversion")
        }
    }

    static func text(_ value: AttributeDefault) -> String {
        switch value {
        case .value(let value): value.description
        case .now: "the time of the migration"
        case .newUUID: "a new UUID each"
        }
    }

    // MARK: Relationships

    /// Says what happens to a relationship, at the entity that declares it.
    mutating func describe(_ relationship: RelationshipDescription, of entity: EntityDescription) {
        guard let (heir, past) = witness(for: entity, relationship.name) else { return }
        let name = relationship.name
        guard let pastName = mapping.entities[heir.name]?.properties[name],
            let before = past.relationship(named: pastName)
        else {
            describeAmbiguity(entity.name, name, heir: heir.name)
            let isFed = inverseHasPast(relationship)
            if !relationship.isToMany, !relationship.isOptional, !isFed {
                add(
                    .addRelationship, .checked, entity.name, name,
                    "a new required relationship; objects that exist need a target")
            } else {
                add(
                    .addRelationship, isFed && !relationship.isToMany ? .checked : .safe, entity.name, name,
                    isFed
                        ? "a new relationship that leads back along the other end"
                        : "a new relationship, empty at first")
            }
            return
        }
        if before.name != name { add(.renameProperty, .safe, entity.name, name, "was \(before.name)") }
        describeMove(name, of: entity, before.declaringEntity)
        describeCardinality(relationship, before, of: entity)
        describeEnds(relationship, before, of: entity)
        if !relationship.isToMany, !relationship.isOptional, before.isOptional, !before.isToMany {
            add(.changeOptionality, .checked, entity.name, name, "may not be nil")
        } else if !relationship.isToMany, relationship.isOptional, !before.isOptional {
            add(.changeOptionality, .safe, entity.name, name, "may be nil")
        }
        if relationship.deleteRule != before.deleteRule {
            add(.describe, .safe, entity.name, name, "its delete rule is \(relationship.deleteRule.rawValue)")
        }
        if relationship.isToMany, before.isToMany,
            relationship.declaration.minimumCount != before.declaration.minimumCount
                || relationship.declaration.maximumCount != before.declaration.maximumCount
        {
            add(
                .describe, .safe, entity.name, name,
                "has other bounds, which objects must meet when they are next saved")
        }
    }

    private mutating func describeCardinality(
        _ relationship: RelationshipDescription, _ before: RelationshipDescription, of entity: EntityDescription
    ) {
        let name = relationship.name
        if relationship.isToMany, !before.isToMany {
            add(
                .changeRelationship, isPairs(relationship) ? .safe : .checked, entity.name, name,
                "leads to many objects, and so to the one that it led to")
        } else if !relationship.isToMany, before.isToMany {
            add(
                .changeRelationship, .checked, entity.name, name,
                "leads to one object; where it led to more, all but the first are forgotten")
        }
        if !relationship.isToMany, let inverse = new.inverse(of: relationship), !inverse.isToMany,
            before.isToMany || old.inverse(of: before)?.isToMany == true
        {
            add(
                .changeRelationship, .impossible, entity.name, name,
                "becomes one-to-one; you decide which of the objects remain")
        }
        if relationship.isOrdered, !before.isOrdered {
            add(.changeRelationship, .safe, entity.name, name, "has an order, at first by key")
        } else if before.isOrdered, !relationship.isOrdered {
            add(.changeRelationship, .lossy, entity.name, name, "has no order any more")
        }
    }

    private func isPairs(_ relationship: RelationshipDescription) -> Bool {
        if case .pairs = relationship.storage { true } else { false }
    }

    private mutating func describeEnds(
        _ relationship: RelationshipDescription, _ before: RelationshipDescription, of entity: EntityDescription
    ) {
        let name = relationship.name
        let destination = new.destination(of: relationship)
        let pastDestination = old.destination(of: before)
        let successor = mapping.successor(of: pastDestination.name).flatMap(new.entity(named:))
        if successor?.isKind(of: destination) != true {
            add(
                .changeRelationship, successor == nil ? .lossy : .impossible, entity.name, name,
                "leads to \(destination.name), led to \(pastDestination.name); "
                    + (successor == nil ? "its links go" : "objects of other entities would be left out"))
        }
        guard let inverse = new.inverse(of: relationship), inverse !== relationship,
            let pastInverse = self.pastInverse(of: inverse, at: destination)
        else { return }
        if old.inverse(of: before) !== pastInverse {
            add(
                .changeRelationship, .lossy, entity.name, name,
                "is the inverse of \(destination.name).\(inverse.name) now; where the two disagree, one side counts")
        }
    }

    /// What the inverse of a relationship was.
    private func pastInverse(of inverse: RelationshipDescription, at entity: EntityDescription)
        -> RelationshipDescription?
    {
        guard let past = source(of: entity) else { return nil }
        return mapping.entities[entity.name]?.properties[inverse.name].flatMap(past.relationship(named:))
    }

    private func inverseHasPast(_ relationship: RelationshipDescription) -> Bool {
        guard let inverse = new.inverse(of: relationship) else { return false }
        return pastInverse(of: inverse, at: new.destination(of: relationship)) != nil
    }
}
