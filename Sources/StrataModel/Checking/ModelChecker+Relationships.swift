extension ModelChecker {
    mutating func checkRelationship(_ relationship: Relationship, of entity: Entity) {
        checkShape(of: relationship, of: entity)
        guard let destination = entitiesByName[relationship.destination] else {
            report(
                entity, relationship,
                "leads to \(relationship.destination), which the model does not have"
                    + Spelling.suggestion(for: relationship.destination, in: entities.map(\.name)))
            return
        }
        if let inverse = relationship.inverse { checkInverse(inverse, of: relationship, of: entity, at: destination) }
    }

    private mutating func checkShape(of relationship: Relationship, of entity: Entity) {
        if relationship.isToMany {
            if !relationship.isOptional {
                report(
                    entity, relationship,
                    "a to-many relationship is never nil; to ask for an object, give it a minimum count of 1")
            }
            if relationship.minimumCount < 0 || relationship.maximumCount < 0 {
                report(entity, relationship, "counts cannot be negative")
            } else if relationship.maximumCount > 0, relationship.minimumCount > relationship.maximumCount {
                report(
                    entity, relationship,
                    "the minimum count \(relationship.minimumCount) is above the maximum count \(relationship.maximumCount)"
                )
            }
        } else {
            if relationship.isOrdered {
                report(entity, relationship, "a to-one relationship has no order; remove 'ordered'")
            }
            if relationship.minimumCount != 0 || relationship.maximumCount != 0 {
                report(entity, relationship, "a to-one relationship has no counts; make it required instead")
            }
        }
        let isRequired = relationship.isToMany ? relationship.minimumCount > 0 : !relationship.isOptional
        if isRequired, relationship.deleteRule == .deny {
            report(
                entity, relationship,
                "'deny' on a required relationship means that no \(entity.name) can ever be deleted; put the rule on the inverse, or make it optional"
            )
        }
    }

    private mutating func checkInverse(
        _ name: String, of relationship: Relationship, of entity: Entity, at destination: Entity
    ) {
        guard let inverse = destination.relationships.first(where: { $0.name == name }) else {
            if let owner = lineage(of: destination).first(where: { $0.relationships.contains { $0.name == name } }) {
                report(
                    entity, relationship,
                    "the inverse \(name) belongs to \(owner.name), from which \(destination.name) inherits; lead to \(owner.name), or choose another inverse"
                )
            } else {
                report(
                    entity, relationship,
                    "the inverse \(destination.name).\(name) does not exist"
                        + Spelling.suggestion(for: name, in: relationshipNames(of: destination)))
            }
            return
        }
        // A destination that does not exist is an error of the inverse only.
        guard entitiesByName[inverse.destination] != nil else { return }
        if inverse.destination != entity.name {
            report(
                entity, relationship,
                "the inverse \(destination.name).\(name) leads to \(inverse.destination), not to \(entity.name)")
        } else if inverse.inverse != relationship.name {
            let other = inverse.inverse.map { "has the inverse \($0)" } ?? "names no inverse"
            report(
                entity, relationship,
                "the inverse \(destination.name).\(name) does not point back: it \(other); give it the inverse \(relationship.name)"
            )
        } else if relationship.isOrdered, destination.name == entity.name, name == relationship.name {
            report(
                entity, relationship,
                "a relationship that is its own inverse cannot be ordered: both ends share the pairs")
        }
    }
}
