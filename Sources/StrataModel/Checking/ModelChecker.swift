/// Checks declarations as a whole and finds all errors in one pass, in the order of the declarations.
///
/// A check that needs what another one found missing says nothing, so that one mistake gives one fault.
struct ModelChecker {
    let naming: NamingConvention
    let entities: [Entity]
    let fetches: [FetchTemplate]
    let configurations: [ModelConfiguration]
    let entitiesByName: [String: Entity]
    var found: [ModelFault] = []

    init(
        naming: NamingConvention, entities: [Entity], fetches: [FetchTemplate], configurations: [ModelConfiguration]
    ) {
        self.naming = naming
        self.entities = entities
        self.fetches = fetches
        self.configurations = configurations
        self.entitiesByName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// All faults; empty if the declarations make a model.
    func faults() -> [ModelFault] {
        var checker = self
        checker.run()
        return checker.found
    }

    private mutating func run() {
        // What rows cannot describe is not looked at any further.
        guard checkSizes() else { return }
        checkEntityNames()
        for entity in entities {
            checkInheritance(of: entity)
            checkPropertyNames(of: entity)
            for attribute in entity.attributes { checkAttribute(attribute, of: entity) }
            for relationship in entity.relationships { checkRelationship(relationship, of: entity) }
            for property in entity.fetchedProperties { checkFetchedProperty(property, of: entity) }
            checkIndexes(of: entity)
            checkPrimaryKey(of: entity)
        }
        checkSharedTypes()
        checkStoredNames()
        checkFetches()
        checkConfigurations()
    }

    // MARK: Reporting

    mutating func report(_ entity: Entity, _ message: String) {
        found.append(ModelFault(entity: entity.name, message: message, location: entity.location))
    }

    mutating func report(_ entity: Entity, _ attribute: Attribute, _ message: String) {
        found.append(
            ModelFault(
                entity: entity.name, property: attribute.name, message: message,
                location: attribute.location ?? entity.location))
    }

    mutating func report(_ entity: Entity, _ relationship: Relationship, _ message: String) {
        found.append(
            ModelFault(
                entity: entity.name, property: relationship.name, message: message,
                location: relationship.location ?? entity.location))
    }

    // MARK: Looking up

    /// The entity and those that it inherits from, the entity first. Ends before an entity would come again.
    func lineage(of entity: Entity) -> [Entity] {
        var result = [entity]
        while let name = result[result.count - 1].parent, let parent = entitiesByName[name] {
            if result.contains(where: { $0.name == parent.name }) { break }
            result.append(parent)
        }
        return result
    }

    /// The attribute with the given name, own or inherited.
    func attribute(_ name: String, of entity: Entity) -> Attribute? {
        lineage(of: entity).lazy.flatMap(\.attributes).first { $0.name == name }
    }

    /// The relationship with the given name, own or inherited.
    func relationship(_ name: String, of entity: Entity) -> Relationship? {
        lineage(of: entity).lazy.flatMap(\.relationships).first { $0.name == name }
    }

    /// The names of all attributes, own and inherited.
    func attributeNames(of entity: Entity) -> [String] { lineage(of: entity).flatMap(\.attributes).map(\.name) }

    /// The names of all relationships, own and inherited.
    func relationshipNames(of entity: Entity) -> [String] { lineage(of: entity).flatMap(\.relationships).map(\.name) }
}

extension Attribute {
    /// Whether the store has a column for the attribute: it is neither transient nor computed when a row is read.
    var hasColumn: Bool {
        if isTransient { return false }
        switch derivation {
        case .count, .sum, .path: return false
        default: return true
        }
    }
}
