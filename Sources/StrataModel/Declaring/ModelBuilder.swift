/// Gathers the entities of a model: `try ManagedObjectModel(name: "Gazetteer") { Entity("City") { … } }`.
@resultBuilder
public enum ModelBuilder {
    /// Takes one entity.
    public static func buildExpression(_ entity: Entity) -> [Entity] { [entity] }
    /// Takes several entities.
    public static func buildExpression(_ entities: [Entity]) -> [Entity] { entities }
    /// Joins the statements of a block.
    public static func buildBlock(_ parts: [Entity]...) -> [Entity] { parts.flatMap(\.self) }
    /// Takes what an `if` without `else` gives.
    public static func buildOptional(_ part: [Entity]?) -> [Entity] { part ?? [] }
    /// Takes the first branch of an `if`.
    public static func buildEither(first part: [Entity]) -> [Entity] { part }
    /// Takes the second branch of an `if`.
    public static func buildEither(second part: [Entity]) -> [Entity] { part }
    /// Joins the rounds of a loop.
    public static func buildArray(_ parts: [[Entity]]) -> [Entity] { parts.flatMap(\.self) }
}

/// Something that is in the block of an ``Entity``: ``Attribute``, ``Relationship``, ``FetchedProperty`` or ``Index``.
public protocol EntityComponent: Sendable {
    /// Adds itself to the entity.
    func add(to entity: inout Entity)
}

extension Attribute: EntityComponent {
    /// Appends the attribute.
    public func add(to entity: inout Entity) { entity.attributes.append(self) }
}

extension Relationship: EntityComponent {
    /// Appends the relationship.
    public func add(to entity: inout Entity) { entity.relationships.append(self) }
}

extension FetchedProperty: EntityComponent {
    /// Appends the fetched property.
    public func add(to entity: inout Entity) { entity.fetchedProperties.append(self) }
}

extension Index: EntityComponent {
    /// Appends the index.
    public func add(to entity: inout Entity) { entity.indexes.append(self) }
}

/// Gathers what an entity consists of.
@resultBuilder
public enum EntityBuilder {
    /// Takes one attribute, relationship, fetched property or index.
    public static func buildExpression(_ component: some EntityComponent) -> [any EntityComponent] { [component] }
    /// Takes several of them.
    public static func buildExpression(_ components: [any EntityComponent]) -> [any EntityComponent] { components }
    /// Joins the statements of a block.
    public static func buildBlock(_ parts: [any EntityComponent]...) -> [any EntityComponent] { parts.flatMap(\.self) }
    /// Takes what an `if` without `else` gives.
    public static func buildOptional(_ part: [any EntityComponent]?) -> [any EntityComponent] { part ?? [] }
    /// Takes the first branch of an `if`.
    public static func buildEither(first part: [any EntityComponent]) -> [any EntityComponent] { part }
    /// Takes the second branch of an `if`.
    public static func buildEither(second part: [any EntityComponent]) -> [any EntityComponent] { part }
    /// Joins the rounds of a loop.
    public static func buildArray(_ parts: [[any EntityComponent]]) -> [any EntityComponent] { parts.flatMap(\.self) }
}

extension Entity {
    /// Declares an entity with what it consists of.
    ///
    ///     Entity("City") {
    ///         Attribute("name", .string)
    ///         Relationship("country", to: "Country", .toOne, inverse: "cities")
    ///         Index("name", "population")
    ///     }
    /// - Parameters:
    ///   - name: The name, in UpperCamelCase.
    ///   - parent: The name of the entity that it inherits from.
    ///   - abstract: Whether there are no objects of this entity itself, only of those that inherit from it.
    ///   - user: Whether this is the entity of users, whose primary key is `username`.
    ///   - primaryKey: The primary-key attribute, where the convention does not find it.
    ///   - content: Attributes, relationships, fetched properties and indexes in any order.
    public init(
        _ name: String, inherits parent: String? = nil, abstract: Bool = false, user: Bool = false,
        primaryKey: String? = nil,
        file: String = #fileID, line: Int = #line, column: Int = #column,
        @EntityBuilder _ content: () -> [any EntityComponent] = { [] }
    ) {
        self.init(name: name, location: SourceLocation(file: file, line: line, column: column))
        self.parent = parent
        self.isAbstract = abstract
        self.isUser = user
        self.primaryKey = primaryKey
        for component in content() { component.add(to: &self) }
    }
}

extension ManagedObjectModel {
    /// Checks the declarations of a block and creates a model from them.
    /// - Parameters:
    ///   - fetches: The fetch requests with names.
    ///   - configurations: The sets of entities that a container can keep in stores of their own.
    /// - Throws: ``ModelError`` with all errors together.
    public convenience init(
        name: String, naming: NamingConvention = .snakeCase, fetches: [FetchTemplate] = [],
        configurations: [ModelConfiguration] = [], @ModelBuilder _ content: () -> [Entity]
    ) throws(ModelError) {
        try self.init(
            name: name, naming: naming, entities: content(), fetches: fetches, configurations: configurations)
    }
}
