import StrataModel

/// Leaves out of converted declarations what Core Data tolerates and Strata refuses: defaults outside of their bounds,
/// patterns of ICU that Strata does not know, conditions that name missing properties.
enum ConversionRepair {
    /// Repairs what can be repaired, with a warning for each. Anything else stays and is thrown by `model()`.
    static func mend(_ conversion: inout CoreDataConversion, file: String) {
        // One thing left out may be what another depends on.
        for _ in 0..<8 {
            let faults = ManagedObjectModel.faults(
                in: conversion.entities, naming: conversion.naming, fetches: conversion.fetches)
            var isMended = false
            for fault in faults {
                guard mend(fault, in: &conversion) else { continue }
                isMended = true
                let subject = [fault.entity, fault.property].compactMap(\.self).joined(separator: ".")
                conversion.warnings.append(
                    CoreDataModelWarning(
                        file: file, line: fault.location?.line, message: "\(subject): \(fault.message); left out"))
            }
            if !isMended { return }
        }
    }

    private static func mend(_ fault: ModelFault, in conversion: inout CoreDataConversion) -> Bool {
        guard let position = conversion.entities.firstIndex(where: { $0.name == fault.entity }) else { return false }
        if let name = fault.property { return mend(name, of: &conversion.entities[position]) }
        if let fetch = conversion.fetches.firstIndex(where: { fault.message.hasPrefix("the fetch \($0.name):") }) {
            conversion.fetches.remove(at: fetch)
            return true
        }
        if let index = conversion.entities[position].indexes.firstIndex(where: {
            fault.message.contains("index") && fault.message.contains($0.properties.joined(separator: ", "))
                || $0.location != nil && $0.location == fault.location
        }) {
            conversion.entities[position].indexes.remove(at: index)
            return true
        }
        return false
    }

    private static func mend(_ name: String, of entity: inout Entity) -> Bool {
        if let index = entity.attributes.firstIndex(where: { $0.name == name }) {
            var attribute = entity.attributes[index]
            attribute.defaultValue = nil
            attribute.rules = ValidationRules()
            attribute.derivation = nil
            attribute.isIndexed = false
            attribute.formerNames = []
            defer { entity.attributes[index] = attribute }
            return attribute != entity.attributes[index]
        }
        if let index = entity.relationships.firstIndex(where: { $0.name == name }) {
            let relationship = entity.relationships[index]
            guard relationship.inverse != nil || !relationship.formerNames.isEmpty || relationship.isOrdered else {
                return false
            }
            entity.relationships[index].inverse = nil
            entity.relationships[index].formerNames = []
            return true
        }
        if let index = entity.fetchedProperties.firstIndex(where: { $0.name == name }) {
            entity.fetchedProperties.remove(at: index)
            return true
        }
        return false
    }
}
