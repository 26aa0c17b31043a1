extension ModelChecker {
    mutating func checkFetchedProperty(_ property: FetchedProperty, of entity: Entity) {
        func report(_ message: String) {
            found.append(
                ModelFault(
                    entity: entity.name, property: property.name, message: message,
                    location: property.request.location ?? entity.location))
        }
        if entitiesByName[property.destination] == nil {
            report("fetches \(property.destination), which the model does not have\(suggestion(property.destination))")
        }
        if let limit = property.request.limit, limit < 0 { report("the limit must not be negative") }
    }

    mutating func checkFetches() {
        var seen: Set<String> = []
        for template in fetches {
            func report(_ reason: String) { found.append(template.fault(reason)) }
            if let fault = Self.faultOfPropertyName(template.name) { report(fault) }
            if !seen.insert(template.name).inserted {
                report("the name is that of another fetch already; rename one of them")
            }
            if entitiesByName[template.entity] == nil {
                report("the model has no entity \(template.entity)\(suggestion(template.entity))")
            }
            if let limit = template.limit, limit < 0 { report("the limit must not be negative") }
        }
    }

    private func suggestion(_ name: String) -> String { Spelling.suggestion(for: name, in: entities.map(\.name)) }
}

extension FetchTemplate {
    func fault(_ reason: String) -> ModelFault {
        ModelFault(entity: entity, message: "the fetch \(name): \(reason)", location: location)
    }
}

extension ManagedObjectModel {
    /// What is wrong with the conditions and orders of fetched properties and templates. Everything else is right by
    /// now.
    var faultsOfFetches: [ModelFault] {
        var faults: [ModelFault] = []
        for owner in entities {
            for property in owner.declaration.fetchedProperties {
                guard let destination = entity(named: property.destination) else { continue }
                for reason in property.request.content.faults(of: destination, for: (owner, property), in: self) {
                    faults.append(
                        ModelFault(
                            entity: owner.name, property: property.name, message: reason,
                            location: property.request.location ?? owner.declaration.location))
                }
            }
        }
        for template in fetchTemplates {
            guard let entity = entity(named: template.entity) else { continue }
            faults += template.content.faults(of: entity, for: nil, in: self).map(template.fault)
        }
        return faults
    }
}
