import StrataCoreDataModel
import StrataSQLite

/// Which entity and property of a Core Data model corresponds to those of a model of Strata.
struct PropertyMap: Sendable {
    /// A property as an entity of Core Data declares it.
    enum Property: Sendable {
        case attribute(CoreDataAttribute, entity: String)
        case relationship(CoreDataRelationship, entity: String)
    }

    let model: ManagedObjectModel
    let source: CoreDataModel
    private var entities: [String: String] = [:]
    private var properties: [String: [String: Property]] = [:]
    private(set) var differences: [String] = []
    private(set) var warnings: [String] = []

    /// - Parameters:
    ///   - model: A model of Strata: the one that the Core Data model becomes, or one with the same names.
    ///   - source: The model of the store.
    ///   - mapping: What the names of the source become.
    init(model: ManagedObjectModel, source: CoreDataModel, mapping: CoreDataMapping) {
        self.model = model
        self.source = source
        for entity in source.entities {
            let name = mapping.entities[entity.name] ?? entity.name
            guard model.entity(named: name) != nil else {
                let root = source.lineage(of: entity).last?.name ?? entity.name
                if root != entity.name, model.entity(named: mapping.entities[root] ?? root) != nil {
                    differences.append("entity \(entity.name), which inherits from \(root), is missing from the model")
                } else {
                    warnings.append("the model lacks the entity \(entity.name); its objects are left out")
                }
                continue
            }
            entities[name] = entity.name
            var found: [String: Property] = [:]
            for owner in source.lineage(of: entity) {
                let names = mapping.properties[owner.name] ?? [:]
                for attribute in owner.attributes {
                    guard let name = names[attribute.name] else { continue }
                    found[name] = .attribute(attribute, entity: owner.name)
                }
                for relationship in owner.relationships {
                    guard let name = names[relationship.name] else { continue }
                    found[name] = .relationship(relationship, entity: owner.name)
                }
            }
            properties[name] = found
        }
        for entity in model.entities where entities[entity.name] == nil {
            differences.append("entity \(entity.name) is not in the store's model")
        }
        for entity in model.entities { checkParent(of: entity) }
    }

    private mutating func checkParent(of entity: EntityDescription) {
        guard let name = entities[entity.name], let source = source.entity(named: name) else { return }
        let parent = entity.parentIndex.flatMap { entities[model.entities[$0].name] }
        let lineage = self.source.lineage(of: source).dropFirst().map(\.name)
        if let parent, !lineage.contains(parent) {
            differences.append("entity \(entity.name) does not inherit from \(parent) in the store")
        } else if parent == nil, let root = lineage.last {
            differences.append("entity \(entity.name) inherits from \(root) in the store, and from none in the model")
        }
    }

    /// The entity of Core Data for one of the model.
    func entity(_ index: Int) -> String? { entities[model.entities[index].name] }

    /// The property of Core Data for one of the model.
    func property(_ name: String, of index: Int) -> Property? { properties[model.entities[index].name]?[name] }
}
