/// Gathers the entities of a model from the statements of a block.
///
///     let model = try ManagedObjectModel(name: "Weather") {
///         Entity("Station") { Attribute("name", .string) }
///         for kind in ["Wind", "Rain"] {
///             Entity(kind) { Attribute("value", .double) }
///         }
///     }
///
/// You do not call it: the compiler applies it to the closure of
/// ``ManagedObjectModel/init(name:naming:fetches:configurations:_:)``. Each statement is an ``Entity`` or an array of
/// them; `if`, `else` and `for` work as usual. The order of the entities does not matter, not even for inheritance and
/// inverses. For declarations that you compute elsewhere, use
/// ``ManagedObjectModel/init(name:naming:entities:fetches:configurations:)``.
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

/// A part of the block of an ``Entity``: ``Attribute``, ``Relationship``, ``FetchedProperty``, ``Index``, or a type of
/// yours.
///
///     struct Timestamps: EntityComponent {
///         func add(to entity: inout Entity) {
///             entity.attributes.append(Attribute("created", .date, default: .now))
///             entity.attributes.append(Attribute("changed", .date).derived(.now))
///         }
///     }
///     Entity("Note") {
///         Attribute("text", .string)
///         Timestamps()
///     }
///
/// Conform to it to declare properties that several entities have, without a common parent. The entities keep tables of
/// their own then. The parts of a block are added in their order. The model checks the result, so two parts that add
/// the same property are reported as a ``ModelFault``.
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

/// Gathers the properties and indexes of an entity from the statements of a block.
///
///     let languages = ["en", "es"]
///     Entity("Article") {
///         for language in languages {
///             Attribute("title_\(language)", .string, optional: true)
///         }
///         if languages.count > 1 { Attribute("original", .string) }
///     }
///
/// You do not call it: the compiler applies it to the closure of
/// ``Entity/init(_:inherits:abstract:user:primaryKey:file:line:column:_:)``. Each statement is an ``EntityComponent``
/// or an array of them; `if`, `else` and `for` work as usual. The order of the statements is that of
/// ``EntityDescription/attributes``; it has no influence on the version hash.
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
    ///   - primaryKey: The primary-key attribute, where the convention does not find it: a string, or an `integer64`.
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
    ///
    ///     let model = try ManagedObjectModel(name: "Boats") {
    ///         Entity("Boat") { Attribute("name", .string) }
    ///     }
    /// - Parameters:
    ///   - name: The name, for messages.
    ///   - naming: How names are spelled in the store.
    ///   - fetches: The fetch requests with names.
    ///   - configurations: The sets of entities that a container can keep in stores of their own.
    ///   - content: The entities, in any order.
    /// - Throws: ``ModelError`` with all errors together.
    public convenience init(
        name: String, naming: NamingConvention = .snakeCase, fetches: [FetchTemplate] = [],
        configurations: [ModelConfiguration] = [], @ModelBuilder _ content: () -> [Entity]
    ) throws(ModelError) {
        try self.init(
            name: name, naming: naming, entities: content(), fetches: fetches, configurations: configurations)
    }
}
