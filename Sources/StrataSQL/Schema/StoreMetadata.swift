import Foundation
import StrataStore

/// What a store says about itself.
public struct StoreMetadata: Sendable, Hashable {
    /// The identity of the store.
    public let identifier: UUID
    /// The version of the file format; ``currentFormatVersion`` in new files.
    public let formatVersion: Int
    /// The name of the model.
    public let modelName: String
    /// The version hash of the model.
    public let versionHash: String
    /// The properties of each entity as the store keeps them: name to a description such as `string` or `to-one
    /// Country`.
    public let entities: [String: [String: String]]

    /// The format that this version of Strata writes. Format 2 has the complete model, so that files can be migrated.
    public static let currentFormatVersion = 2

    /// The minimum version of the format that a program must know to write what this one writes.
    package static let minimumWriterVersion = 2

    package init(
        identifier: UUID, formatVersion: Int, modelName: String, versionHash: String,
        entities: [String: [String: String]]
    ) {
        self.identifier = identifier
        self.formatVersion = formatVersion
        self.modelName = modelName
        self.versionHash = versionHash
        self.entities = entities
    }
}

extension StoreMetadata {
    /// What a store made for a model says.
    package init(identifier: UUID, layout: StoreLayout) {
        self.init(
            identifier: identifier, formatVersion: Self.currentFormatVersion, modelName: layout.model.name,
            versionHash: layout.model.versionHash, entities: Self.describe(layout))
    }

    /// Describes all that decides where and how values are in the file.
    private static func describe(_ layout: StoreLayout) -> [String: [String: String]] {
        var result: [String: [String: String]] = [:]
        for entity in layout.model.entities {
            var properties = ["_table": layout.table(entity.index).name]
            if let parent = layout.model.parent(of: entity) { properties["_parent"] = parent.name }
            if entity.isAbstract { properties["_abstract"] = "true" }
            if layout.table(entity.index).hasEntityColumn { properties["_entity"] = "column" }
            for slot in entity.slots {
                guard let column = layout.column(entity.index, slot.index) else { continue }
                let destination = slot.relationshipIndex.map { entity.relationships[$0].destination }
                let kind = destination.map { "to-one \($0)" } ?? slot.type?.storedName ?? "\(slot.storage)"
                properties[slot.name] = kind + " in \(column.name)"
            }
            for relationship in entity.relationships where relationship.isToMany {
                let place: String
                switch relationship.storage {
                case .inverseSlot:
                    place = layout.orderColumn(entity.index, relationship.index).map { " ordered by \($0)" } ?? ""
                case .pairs:
                    let side = layout.pairs(entity.index, relationship.index)
                    place = side.map { " in \($0.table.name)" + ($0.order.map { " ordered by \($0)" } ?? "") } ?? ""
                case .slot: place = ""
                }
                properties[relationship.name] = "to-many \(relationship.destination)" + place
            }
            result[entity.name] = properties
        }
        return result
    }

    /// What differs between the model of a file and another one; empty if the file can be opened with the other.
    package func differences(from other: StoreMetadata) -> [String] {
        var result: [String] = []
        for name in Set(entities.keys).union(other.entities.keys).sorted() {
            switch (entities[name], other.entities[name]) {
            case (nil, _): result.append("entity \(name) is new")
            case (_, nil): result.append("entity \(name) is missing from the model")
            case (let old?, let new?):
                for property in Set(old.keys).union(new.keys).sorted() where old[property] != new[property] {
                    let path =
                        property.hasPrefix("_") ? "entity \(name): \(property.dropFirst())" : "\(name).\(property)"
                    switch (old[property], new[property]) {
                    case (nil, let now?): result.append("\(path) is new (\(now))")
                    case (let was?, nil): result.append("\(path) is missing from the model (was \(was))")
                    case (let was?, let now?): result.append("\(path) was \(was), is \(now)")
                    default: break
                    }
                }
            }
        }
        if result.isEmpty, versionHash != other.versionHash {
            result.append("version hash was \(versionHash), is \(other.versionHash)")
        }
        return result
    }
}
