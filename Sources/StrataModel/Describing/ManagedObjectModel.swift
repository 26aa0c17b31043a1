import Foundation

/// A checked, immutable model: entities with their properties, and how they are related.
///
///     let model = try ManagedObjectModel(name: "Boats") {
///         Entity("Harbour") {
///             Attribute("name", .string)
///             Relationship("boats", to: "Boat", .toMany, inverse: "harbour")
///         }
///         Entity("Boat") { Relationship("harbour", to: "Harbour", inverse: "boats") }
///     }
///     let container = try PersistentContainer(model: model, at: .file(path: "boats.sqlite"))
///
/// A model is made from declarations in app code, from a model file (`StrataModelFiles`), or by generated code. The
/// same declarations give the same model and the same ``versionHash`` in each case. Creating it checks everything and
/// throws a ``ModelError``; after that it never changes, and all threads can share it. Create it once and keep it:
/// descriptions of another model, even one with the same declarations, do not compare as equal.
///
/// Use it to look at a model at run time, or to find a request by its name with ``fetchRequestTemplate(named:)``.
public final class ManagedObjectModel: Sendable {
    /// The name of the model, for messages.
    public let name: String
    /// How names of entities and properties become names of tables and columns.
    public let naming: NamingConvention
    /// The entities in the order of their declaration.
    public let entities: [EntityDescription]
    /// A fingerprint of everything that determines how objects are stored: 32 hexadecimal digits, the same on every
    /// platform and in every run. It does not include defaults, validation, delete rules, indexes, fetched properties,
    /// fetches, configurations, what attributes refer to, and user info.
    public let versionHash: String
    /// The fetch requests with names, in the order of their declaration.
    public let fetchTemplates: [FetchTemplate]
    /// The configurations, in the order of their declaration.
    public let configurations: [ModelConfiguration]

    private let lock = NSLock()
    /// `lock` guards it.
    private nonisolated(unsafe) var knownFingerprint: String?
    private let indexesByName: [String: Int]
    private let indexesByStoredName: [String: Int]

    /// Checks declarations and creates a model from them.
    /// - Throws: ``ModelError`` with all errors together.
    public init(
        name: String, naming: NamingConvention = .snakeCase, entities: [Entity], fetches: [FetchTemplate] = [],
        configurations: [ModelConfiguration] = []
    ) throws(ModelError) {
        let checker = ModelChecker(
            naming: naming, entities: entities, fetches: fetches, configurations: configurations)
        let faults = checker.faults()
        guard faults.isEmpty else { throw ModelError(model: name, faults: faults) }
        self.name = name
        self.naming = naming
        self.entities = ModelResolver(entities: entities, naming: naming).resolve()
        self.versionHash = VersionHash.hash(of: entities, naming: naming)
        self.indexesByName = Dictionary(uniqueKeysWithValues: self.entities.map { ($0.name, $0.index) })
        self.indexesByStoredName = Dictionary(
            uniqueKeysWithValues: self.entities.map { (naming.storedName(ofEntity: $0.name), $0.index) })
        self.fetchTemplates = fetches
        self.configurations = configurations
        // Paths of conditions are looked up in the model itself.
        let rest = faultsOfFetches
        guard rest.isEmpty else { throw ModelError(model: name, faults: rest) }
    }

    /// A fingerprint of everything that is declared about stored data, 32 hexadecimal digits. It is computed once.
    package var fingerprint: String {
        lock.withLock {
            if let knownFingerprint { return knownFingerprint }
            let fingerprint = ModelRecord(self).fingerprint
            knownFingerprint = fingerprint
            return fingerprint
        }
    }

    /// All faults of declarations in their order: what ``init(name:naming:entities:fetches:configurations:)`` would throw.
    /// Empty if they make a model.
    public static func faults(
        in entities: [Entity], naming: NamingConvention = .snakeCase, fetches: [FetchTemplate] = [],
        configurations: [ModelConfiguration] = []
    ) -> [ModelFault] {
        do throws(ModelError) {
            _ = try ManagedObjectModel(
                name: "", naming: naming, entities: entities, fetches: fetches, configurations: configurations)
            return []
        } catch {
            return error.faults
        }
    }

    /// The model of declarations that were checked before, as generated code has them.
    ///
    /// Traps if they are faulty after all: then the generated files are out of step with this version of Strata;
    /// generate them again.
    public static func generated(
        name: String, naming: NamingConvention = .snakeCase, entities: [Entity], fetches: [FetchTemplate] = [],
        configurations: [ModelConfiguration] = []
    ) -> ManagedObjectModel {
        do {
            return try ManagedObjectModel(
                name: name, naming: naming, entities: entities, fetches: fetches, configurations: configurations)
        } catch {
            fatalError("the generated model \(name) is faulty; run strata-generate again on its model file:\n\(error)")
        }
    }

    /// The entity with the given name.
    public func entity(named name: String) -> EntityDescription? {
        indexesByName[name].map { entities[$0] }
    }

    /// The fetch request with the given name.
    public func fetchRequestTemplate(named name: String) -> FetchTemplate? {
        fetchTemplates.first { $0.name == name }
    }

    /// The configuration with the given name.
    public func configuration(named name: String) -> ModelConfiguration? {
        configurations.first { $0.name == name }
    }

    /// The entities of the configuration with the given name, in the order of the model; nil if there is no such
    /// configuration.
    public func entities(forConfigurationName name: String) -> [EntityDescription]? {
        configuration(named: name).map { configuration in
            let names = Set(configuration.entities)
            return entities.filter { names.contains($0.name) }
        }
    }

    /// The model of a store that keeps some of the entities: the same as if the others had never been declared. The
    /// properties of an entity are at the same places in both.
    /// - Throws: ``ModelError`` if a relationship or a hierarchy leads out of the entities.
    package func restricted(to entities: Set<String>) throws(ModelError) -> ManagedObjectModel {
        var declarations = self.entities.map(\.declaration).filter { entities.contains($0.name) }
        for position in declarations.indices {
            // Stores know nothing of fetched properties. A reference may lead to another store.
            declarations[position].fetchedProperties = []
            for attribute in declarations[position].attributes.indices {
                declarations[position].attributes[attribute].referencedEntity = nil
            }
        }
        return try ManagedObjectModel(name: name, naming: naming, entities: declarations)
    }

    /// The entity whose name is stored as the given one: the exact way back of
    /// ``NamingConvention/storedName(ofEntity:)``.
    public func entity(storedName: String) -> EntityDescription? {
        indexesByStoredName[storedName].map { entities[$0] }
    }

    /// The entity that a relationship leads to.
    public func destination(of relationship: RelationshipDescription) -> EntityDescription {
        entities[relationship.destinationIndex]
    }

    /// The relationship that leads back, if the model has one.
    public func inverse(of relationship: RelationshipDescription) -> RelationshipDescription? {
        relationship.inverseIndex.map { entities[relationship.destinationIndex].relationships[$0] }
    }

    /// The entity that another one inherits from.
    public func parent(of entity: EntityDescription) -> EntityDescription? {
        entity.parentIndex.map { entities[$0] }
    }

    /// The entity that declares a unique constraint of another one: its topmost ancestor that has the constraint.
    package func entity(declaringUnique slots: [Int], of entity: EntityDescription) -> EntityDescription {
        var declaring = entity
        while let parent = parent(of: declaring), parent.uniqueConstraints.contains(slots) { declaring = parent }
        return declaring
    }
}
