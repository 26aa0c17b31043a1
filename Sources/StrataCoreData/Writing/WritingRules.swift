import Foundation
import StrataCoreDataModel
import StrataSQLite

/// Decides whether a Core Data store can be written without Core Data: what Core Data keeps besides the objects, and what is
/// not known, must not be left behind.
struct WritingRules {
    let file: CoreDataFile
    let properties: PropertyMap

    /// Why the store must not be written; empty if it may.
    var refusals: [String] {
        modelRefusals + housekeepingRefusals + triggerRefusals + propertyRefusals
    }

    /// The functions that triggers of derived attributes call to tell Core Data about other objects. They change nothing.
    static let triggerFunctions: Set<String> = [
        "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
    ]

    private var modelRefusals: [String] {
        if file.source.origin == .inferred { return ["its model is inferred from its tables; give the model file"] }
        if file.metadata.versionHashes.isEmpty { return ["it does not say which version of its model it has"] }
        switch file.source.hasMatchingHashes {
        case true?: return []
        case false?: return ["the model does not have its version hashes"]
        // The copy in the store is its model, even if a hash cannot be computed.
        case nil: return file.source.origin == .cache ? [] : ["its version hashes cannot be compared with the model"]
        }
    }

    private var housekeepingRefusals: [String] {
        var result: [String] = []
        let names = file.tables.tables.keys
        if names.contains(where: { ["ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING"].contains($0) }) {
            result.append("it records persistent history, which other processes and CloudKit would miss")
        }
        if names.contains(where: { $0.hasPrefix("ANSCK") }) { result.append("it mirrors CloudKit") }
        let known = Set(file.map.places.values.map(\.number))
        for entry in file.tables.entries where !known.contains(entry.number) {
            result.append("it has the entity \(entry.name), which the model lacks")
        }
        for name in names.sorted() where !isKnown(name) {
            result.append("it has the table \(name), whose purpose is not known")
        }
        return result
    }

    private func isKnown(_ table: String) -> Bool {
        if ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"].contains(table) || table.hasPrefix("SQLITE_") { return true }
        if table.hasPrefix("ANSCK") || ["ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING"].contains(table) {
            return true
        }
        return file.map.places.values.contains { $0.table.uppercased() == table } || pairTables.contains(table)
    }

    private var pairTables: Set<String> {
        let model = file.source.file.model
        return Set(
            model.entities.flatMap { entity in
                entity.relationships.filter { $0.isToMany && !$0.isTransient }.compactMap {
                    file.map.pairs(of: $0, in: entity.name)?.table.uppercased()
                }
            })
    }

    private var triggerRefusals: [String] {
        file.tables.triggers.compactMap { trigger in
            let functions = trigger.sql.matches(of: /NSCoreData\w+/).map { String($0.output) }
            let unknown = functions.filter { !Self.triggerFunctions.contains($0) }
            if trigger.name.uppercased().hasPrefix("Z_DA_"), unknown.isEmpty { return nil }
            return "it has the trigger \(trigger.name), whose purpose is not known"
        }
    }

    private var propertyRefusals: [String] {
        var result = properties.warnings
        for entity in properties.model.entities {
            guard let name = properties.entity(entity.index), let source = properties.source.entity(named: name) else {
                continue
            }
            for owner in properties.source.lineage(of: source) {
                let names = file.conversion.mapping.properties[owner.name] ?? [:]
                for attribute in owner.attributes where !attribute.isTransient {
                    let subject = "\(owner.name).\(attribute.name)"
                    if attribute.type == .composite {
                        result.append("how Core Data stores the composite \(subject) is not known")
                    } else if attribute.derivation != nil, !hasTrigger(attribute.name, of: owner) {
                        result.append("how Core Data computes \(subject) is not known")
                    } else if ![.undefined, .objectID].contains(attribute.type),
                        names[attribute.name].map({ known in entity.slots.contains { $0.name == known } }) != true
                    {
                        result.append("the model lacks \(subject)")
                    }
                }
                for relationship in owner.relationships where !relationship.isTransient {
                    let isKnown = names[relationship.name].map { known in
                        entity.relationships.contains { $0.name == known }
                    }
                    if isKnown != true { result.append("the model lacks \(owner.name).\(relationship.name)") }
                }
            }
        }
        var seen: Set<String> = []
        return result.filter { seen.insert($0).inserted }
    }

    private func hasTrigger(_ attribute: String, of entity: CoreDataEntity) -> Bool {
        file.tables.triggers.contains { $0.name.contains("_\(entity.name)_\(attribute)_") }
    }
}
