extension ModelChecker {
    mutating func checkInheritance(of entity: Entity) {
        if let parent = entity.parent {
            if entitiesByName[parent] == nil {
                report(
                    entity,
                    "inherits from \(parent), which the model does not have"
                        + Spelling.suggestion(for: parent, in: entities.map(\.name)))
            } else if let cycle = cycle(from: entity) {
                report(entity, "inherits from itself: \(cycle.joined(separator: " from ")); break the circle")
            }
        }
        if entity.isAbstract, !hasConcreteDescendant(entity) {
            report(
                entity,
                "is abstract, and no entity that can have objects inherits from it; add one, or remove 'abstract'")
        }
    }

    /// The names from the entity back to itself, or nil. Entities that only lead into a circle are not part of it.
    private func cycle(from entity: Entity) -> [String]? {
        var names = [entity.name]
        var current = entity
        while let name = current.parent, let parent = entitiesByName[name] {
            names.append(name)
            if name == entity.name { return names }
            if names.dropLast().contains(name) { return nil }
            current = parent
        }
        return nil
    }

    private func hasConcreteDescendant(_ entity: Entity) -> Bool {
        entities.contains { other in
            !other.isAbstract && other.name != entity.name && lineage(of: other).contains { $0.name == entity.name }
        }
    }

    mutating func checkPrimaryKey(of entity: Entity) {
        if let name = entity.primaryKey {
            if let attribute = attribute(name, of: entity) {
                if attribute.type != .string, attribute.type != .integer64 {
                    report(
                        entity,
                        "the primary key \(name) is of type \(attribute.type.name); primary keys are of type string or integer64"
                    )
                } else if !attribute.hasColumn || attribute.derivation != nil {
                    report(entity, "the primary key \(name) is not an attribute that the store keeps as it was set")
                }
            } else {
                report(
                    entity,
                    "the primary key \(name) is not an attribute of \(entity.name)"
                        + Spelling.suggestion(for: name, in: attributeNames(of: entity)))
            }
        } else if entity.isUser, attribute("username", of: entity)?.type != .string {
            report(entity, "an entity of users has a string attribute 'username', or names its primary key")
        }
    }
}
