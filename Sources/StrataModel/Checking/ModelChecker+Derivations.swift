extension ModelChecker {
    mutating func checkDerivation(_ derivation: Derivation, of attribute: Attribute, of entity: Entity) {
        switch derivation {
        case .lowercase(let source), .uppercase(let source), .canonical(let source):
            checkText(source, of: attribute, of: entity)
        case .now:
            if attribute.type != .date {
                report(entity, attribute, "the time of the last save is a date, not \(attribute.type.name)")
            }
        case .count(let name):
            guard toMany(name, of: attribute, of: entity) != nil else { return }
            if !attribute.type.isInteger {
                report(entity, attribute, "a count is a whole number, not \(attribute.type.name)")
            }
        case .sum(let name, let summand): checkSum(name, summand, of: attribute, of: entity)
        case .path(let path): checkPath(path, of: attribute, of: entity)
        }
    }

    private mutating func checkText(_ name: String, of attribute: Attribute, of entity: Entity) {
        guard let source = self.attribute(name, of: entity) else {
            reportMissing(name, among: attributeNames(of: entity), of: attribute, of: entity)
            return
        }
        if source.type != .string {
            report(entity, attribute, "is derived from \(name), which is of type \(source.type.name) and no string")
        } else if source.derivation != nil || source.isTransient {
            report(
                entity, attribute, "is derived from \(name), which is not kept as it was set; name a stored attribute")
        } else if source.isOptional, !attribute.isOptional {
            report(entity, attribute, "is derived from \(name), which may be nil; make it optional, too")
        }
        if attribute.type != .string {
            report(entity, attribute, "derived text is a string, not \(attribute.type.name)")
        }
    }

    private mutating func checkSum(_ name: String, _ summand: String, of attribute: Attribute, of entity: Entity) {
        if !attribute.type.isNumeric { report(entity, attribute, "a sum is a number, not \(attribute.type.name)") }
        guard let relationship = toMany(name, of: attribute, of: entity),
            let destination = entitiesByName[relationship.destination]
        else { return }
        guard let source = self.attribute(summand, of: destination) else {
            reportMissing(summand, among: attributeNames(of: destination), of: attribute, of: entity, in: destination)
            return
        }
        if !source.type.isNumeric {
            report(
                entity, attribute,
                "sums up \(destination.name).\(summand), which is of type \(source.type.name) and no number")
        } else if !source.hasColumn {
            report(entity, attribute, "sums up \(destination.name).\(summand), which the store does not keep")
        } else if attribute.type.isInteger, !source.type.isInteger {
            report(
                entity, attribute,
                "sums up \(destination.name).\(summand) of type \(source.type.name) and loses fractions as \(attribute.type.name)"
            )
        }
    }

    private mutating func checkPath(_ path: [String], of attribute: Attribute, of entity: Entity) {
        guard path.count >= 2, let last = path.last else {
            report(
                entity, attribute, "a path has at least one to-one relationship and an attribute, as in 'country.name'")
            return
        }
        var current = entity
        var mayBeNil = false
        for name in path.dropLast() {
            guard let relationship = relationship(name, of: current) else {
                reportMissing(
                    name, among: relationshipNames(of: current), of: attribute, of: entity, in: current,
                    what: "relationship")
                return
            }
            if relationship.isToMany {
                report(
                    entity, attribute, "the path leads over \(current.name).\(name) to many objects; use count or sum")
                return
            }
            guard let next = entitiesByName[relationship.destination] else { return }
            mayBeNil = mayBeNil || relationship.isOptional
            current = next
        }
        guard let source = self.attribute(last, of: current) else {
            reportMissing(last, among: attributeNames(of: current), of: attribute, of: entity, in: current)
            return
        }
        if case .composite = source.type {
            report(entity, attribute, "the path ends at a composite; composites cannot be derived")
        } else if source.type != attribute.type {
            report(
                entity, attribute,
                "is of type \(attribute.type.name), but the path ends at \(current.name).\(last) of type \(source.type.name)"
            )
        } else if !source.hasColumn {
            report(entity, attribute, "the path ends at \(current.name).\(last), which the store does not keep")
        } else if mayBeNil || source.isOptional, !attribute.isOptional {
            report(entity, attribute, "the path may lead nowhere; make the attribute optional")
        }
    }

    private mutating func toMany(_ name: String, of attribute: Attribute, of entity: Entity) -> Relationship? {
        guard let relationship = relationship(name, of: entity) else {
            reportMissing(name, among: relationshipNames(of: entity), of: attribute, of: entity, what: "relationship")
            return nil
        }
        if !relationship.isToMany {
            report(entity, attribute, "\(name) leads to one object; counts and sums are over to-many relationships")
            return nil
        }
        return relationship
    }

    private mutating func reportMissing(
        _ name: String, among known: [String], of attribute: Attribute, of entity: Entity, in owner: Entity? = nil,
        what: String = "attribute"
    ) {
        report(
            entity, attribute,
            "is derived from \(name), but \((owner ?? entity).name) has no such \(what)"
                + Spelling.suggestion(for: name, in: known))
    }
}
