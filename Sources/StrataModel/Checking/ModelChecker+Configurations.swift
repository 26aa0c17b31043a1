extension ModelChecker {
    mutating func checkConfigurations() {
        var seen: Set<String> = []
        for configuration in configurations {
            func report(_ message: String) {
                found.append(
                    ModelFault(
                        message: "the configuration \(configuration.name): \(message)",
                        location: configuration.location))
            }
            if let fault = Self.faultOfEntityName(configuration.name, what: "configurations") { report(fault) }
            if configuration.name == ModelConfiguration.defaultName {
                report("this is the name of the entities that no other store keeps; choose another name")
            }
            if !seen.insert(configuration.name).inserted {
                report("the name is that of another configuration already; rename one of them")
            }
            if configuration.entities.isEmpty { report("it has no entities; name some, or remove it") }
            var members: Set<String> = []
            for name in configuration.entities {
                if !members.insert(name).inserted {
                    report("it names \(name) twice; remove one")
                } else if entitiesByName[name] == nil {
                    report(
                        "the model has no entity \(name)"
                            + Spelling.suggestion(for: name, in: entities.map(\.name)))
                }
            }
            for entity in entities {
                guard let parent = entity.parent, entitiesByName[parent] != nil,
                    members.contains(parent) != members.contains(entity.name)
                else { continue }
                let (one, other) = members.contains(parent) ? (parent, entity.name) : (entity.name, parent)
                report(
                    "it has \(one) but not \(other), and \(entity.name) inherits from \(parent); one store keeps all of a "
                        + "hierarchy, so name both or neither")
            }
        }
    }

    /// Checks that an attribute which names an entity can hold a reference to its objects.
    mutating func checkReference(_ attribute: Attribute, of entity: Entity) {
        guard let name = attribute.referencedEntity else { return }
        if attribute.type != .uri {
            report(
                entity, attribute,
                "refers to \(name), and references are of type uri, not \(attribute.type.name); change the type")
        }
        if attribute.derivation != nil {
            report(entity, attribute, "refers to \(name), so it is not derived; remove one")
        }
        if entitiesByName[name] == nil {
            report(
                entity, attribute,
                "refers to \(name), which the model does not have"
                    + Spelling.suggestion(for: name, in: entities.map(\.name)))
        }
    }
}
