import Foundation
import StrataSQLite

/// What the entities and properties of a model were called when the queued changes of a mirror were written.
struct MirrorPast {
    private static let key = "declarations"
    /// By the present name of an entity; empty if nothing has another name.
    private let mappings: [String: EntityMapping]
    /// Whether the mirror was opened with the same declarations last. Their order may have been another one.
    private let isKnown: Bool

    /// Compares the model with the one that the mirror was opened with last.
    init(model: ManagedObjectModel, on connection: Connection) throws(StoreError) {
        let text = try MirrorState.get(Self.key, on: connection)
        isKnown = text.map { StableHash.text(of: $0) } == model.fingerprint
        if isKnown {
            mappings = [:]
        } else if let old = try? text.flatMap({ ModelRecord(text: $0) })?.model() {
            mappings = MigrationPlan(from: old, to: model).mapping.entities
        } else {
            mappings = try Self.mappingsByName(model, on: connection)
        }
    }

    /// A mirror from before the model was noted: all that is known are names.
    private static func mappingsByName(
        _ model: ManagedObjectModel, on connection: Connection
    ) throws(StoreError) -> [String: EntityMapping] {
        var layouts: [String: MirrorLayout?] = [:]
        let list = try connection.prepare("SELECT name, layout FROM _remote_entities", persistent: false)
        while try list.step() {
            layouts[list.text(0)] = list.isNull(1) ? .some(nil) : .some(MirrorLayout(text: list.text(1)))
        }
        let entities = NameMatching.match(
            old: layouts.keys.sorted().map { NameMatching.Item(name: $0, formerNames: []) },
            new: model.entities.map { NameMatching.Item(name: $0.name, formerNames: $0.declaration.formerNames) })
        var result: [String: EntityMapping] = [:]
        for entity in model.entities {
            var mapping = EntityMapping(entity: entity.name, source: entities[entity.name])
            let layout = entities[entity.name].flatMap { layouts[$0] ?? nil }
            let names = Set((layout?.slots ?? []).compactMap { $0.name.split(separator: ".").first.map(String.init) })
            let present =
                entity.attributes.map { NameMatching.Item(name: $0.name, formerNames: $0.declaration.formerNames) }
                + entity.relationships.map { NameMatching.Item(name: $0.name, formerNames: $0.declaration.formerNames) }
            mapping.properties = NameMatching.match(
                old: names.sorted().map { NameMatching.Item(name: $0, formerNames: []) }, new: present)
            // Of relationships to many nothing is noted there.
            for relationship in entity.relationships where relationship.isToMany {
                mapping.properties[relationship.name] =
                    mapping.properties[relationship.name] ?? relationship.declaration.formerNames.first
                    ?? relationship.name
            }
            result[entity.name] = mapping
        }
        return result
    }

    /// Whether an entity or one of its properties has another name now.
    func hasRenames(_ entity: EntityDescription) -> Bool {
        guard let mapping = mappings[entity.name], let source = mapping.source else { return false }
        return source != entity.name || mapping.properties.contains { $0.key != $0.value }
    }

    /// The former name of a property; nil if it is new.
    func formerName(_ property: String, of entity: EntityDescription) -> String? {
        guard let mapping = mappings[entity.name], mapping.source != nil else { return property }
        return mapping.properties[property]
    }

    /// The present name of a property; nil if it is gone.
    func presentName(_ property: String, of entity: EntityDescription) -> String? {
        guard let mapping = mappings[entity.name], mapping.source != nil else { return property }
        return mapping.properties.first { $0.value == property }?.key
    }

    /// The present name of an entity; as it was if it is gone.
    func presentName(ofEntity name: String) -> String {
        mappings.values.first { $0.source == name }?.entity ?? name
    }

    /// Gives the numbers of entities to their present names.
    func renameEntities(on connection: Connection) throws(StoreError) {
        let renamed = mappings.values.filter { $0.source != nil && $0.source != $0.entity }
        // By way of names that no entity has, because two may have changed theirs for each other's.
        for (prefix, suffix) in [("", "#"), ("#", "")] {
            for mapping in renamed {
                let update = try connection.prepare(
                    "UPDATE _remote_entities SET name = ?1 WHERE name = ?2", persistent: false)
                update.bind(suffix + (prefix.isEmpty ? mapping.source ?? "" : mapping.entity), at: 1)
                update.bind(prefix + (mapping.source ?? ""), at: 2)
                try update.run()
            }
        }
    }

    /// Notes the model for the next time.
    func remember(_ model: ManagedObjectModel, on connection: Connection) throws(StoreError) {
        if isKnown { return }
        try MirrorState.set(Self.key, ModelRecord(model).text, on: connection)
    }
}
