/// A named set of the entities of a model, whose objects a container can keep in a store of their own.
///
///     let model = try ManagedObjectModel(
///         name: "Travel",
///         configurations: [ModelConfiguration("Places", ["City"]), ModelConfiguration("Local", ["Visit"])]
///     ) {
///         Entity("City") { Attribute("name", .string) }
///         Entity("Visit") { Attribute("date", .date) }
///     }
///
/// A hierarchy of entities is in a configuration as a whole. Configurations are not part of the version hash: which store
/// keeps an entity is decided when a container is opened.
public struct ModelConfiguration: Sendable, Hashable {
    /// The name, in UpperCamelCase.
    public var name: String
    /// The names of the entities.
    public var entities: [String]
    /// Where it is declared.
    public var location: SourceLocation?

    /// The name of the configuration of all entities that no other store of a container keeps. No model declares it.
    public static let defaultName = "Default"

    /// Declares a configuration.
    public init(
        _ name: String, _ entities: [String], file: String = #fileID, line: Int = #line, column: Int = #column
    ) {
        self.init(name: name, entities: entities, location: SourceLocation(file: file, line: line, column: column))
    }

    /// Declares a configuration at a place of your choice.
    public init(name: String, entities: [String], location: SourceLocation?) {
        self.name = name
        self.entities = entities
        self.location = location
    }
}
