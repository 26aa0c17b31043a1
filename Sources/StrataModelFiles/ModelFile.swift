import Foundation
public import StrataModel

/// What a model file says: declarations, and how classes are to be generated from them.
///
/// The YAML form, with all that an entity can have:
///
/// ```yaml
/// model: Gazetteer            # default: the file's name
/// naming: snakeCase           # or verbatim, or {properties: …, entities: …}
/// access: public              # of generated classes; default: internal
/// entities:
///   Place:
///     abstract: true
///     attributes:
///       name: string
///   City:
///     documentation: A city of more than 15,000 people.
///     inherits: Place
///     attributes:
///       cityId: {type: string, unique: true}
///       nickname: string?
///       population: {type: integer64, default: 0, min: 0, indexed: true}
///       address: {elements: {street: string, zip: string?}}
///       tags: {type: transformable, class: "[String]"}
///       searchName: {type: string, derived: canonical(name)}
///     relationships:
///       country: {to: Country, inverse: cities, optional: false}
///       sights: {toMany: Sight, inverse: city, ordered: true, delete: cascade, max: 50}
///     fetched:
///       neighbours: {entity: City, where: "country == $FETCH_SOURCE.country AND SELF != $FETCH_SOURCE"}
///     indexes:
///       - [name, -population]
///       - {unique: [name, country]}
///       - {fullText: name}
///   Country:
///     relationships:
///       cities: {toMany: City, inverse: country}
///   Sight:
///     relationships:
///       city: {to: City, inverse: sights}
/// fetches:
///   largeCities: {entity: City, where: population >= $minimum, sort: [-population], limit: 10}
/// configurations:
///   Places: [Place, City]
/// ```
///
/// The guide `Documentation/Models.md` explains each key.
public struct ModelFile: Sendable, Hashable {
    /// Who may use generated classes.
    public enum Access: String, Sendable, Hashable, CaseIterable {
        /// The module that they are generated into.
        case `internal`
        /// Everybody; other modules may inherit from them.
        case `public`
    }

    /// The ending of the names of model files, which the plug-ins look for.
    public static let fileEnding = ".strata.yaml"
    /// The endings of the names of Core Data models, which other modules read.
    package static let coreDataEndings = [".xcdatamodeld", ".xcdatamodel", ".momd", ".mom"]

    /// Whether a path names a Core Data model by its ending.
    package static func isCoreDataModel(path: String) -> Bool { coreDataEnding(path) != nil }

    /// The ending of the name of a Core Data model.
    static func coreDataEnding(_ path: String) -> String? {
        let name = path.split(separator: "/").last?.lowercased() ?? ""
        return coreDataEndings.first { name.hasSuffix($0) }
    }

    /// The name of the model.
    public var name: String
    /// How names become names of tables and columns.
    public var naming: NamingConvention
    /// Who may use generated classes.
    public var access: Access
    /// The entities in the order of the file.
    public var entities: [Entity]
    /// The fetch requests with names, in the order of the file.
    public var fetches: [FetchTemplate]
    /// The sets of entities that a container can keep in stores of their own, in the order of the file.
    public var configurations: [ModelConfiguration]
    /// The path of the file as it was given, for messages.
    public var path: String

    /// Collects what a model file says.
    public init(
        name: String, naming: NamingConvention = .snakeCase, access: Access = .internal, entities: [Entity],
        fetches: [FetchTemplate] = [], configurations: [ModelConfiguration] = [], path: String
    ) {
        self.name = name
        self.naming = naming
        self.access = access
        self.entities = entities
        self.fetches = fetches
        self.configurations = configurations
        self.path = path
    }

    /// Reads a model file.
    /// - Parameter path: The path of a YAML file. It is in the locations of faults as it is given.
    /// - Throws: ``ModelError`` with all faults, each with line and column, in the order of the file.
    public static func read(path: String) throws(ModelError) -> ModelFile {
        let text: String
        do {
            text = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        } catch {
            let message = "cannot be read as UTF-8 text: \(error.localizedDescription)"
            throw ModelError(
                model: modelName(path: path),
                faults: [ModelFault(message: message, location: SourceLocation(file: path, line: 1, column: 1))])
        }
        return try read(yaml: text, path: path)
    }

    /// Reads a model from YAML text.
    /// - Parameters:
    ///   - yaml: The text.
    ///   - path: The path for messages, from which the model has its name if the text gives none.
    /// - Throws: ``ModelError`` with all faults, each with line and column, in the order of the file.
    public static func read(yaml: String, path: String) throws(ModelError) -> ModelFile {
        let reader = ModelFileReader(path: path)
        let file = reader.read(yaml)
        var faults = reader.faults
        if !reader.isHopeless {
            let read = Set(faults.map { Subject(fault: $0) })
            // Conditions are about properties, which must have been understood.
            var checkable = file
            if !faults.isEmpty {
                checkable.fetches = []
                for index in checkable.entities.indices { checkable.entities[index].fetchedProperties = [] }
            }
            let checked =
                ManagedObjectModel.faults(
                    in: checkable.entities, naming: file.naming, fetches: checkable.fetches,
                    configurations: checkable.configurations)
                + GeneratedNames.faults(in: file)
            // A property that was not understood has faults enough; what follows from the guess that stands in for it
            // does not help.
            faults += checked.filter { $0.property == nil || !read.contains(Subject(fault: $0)) }
        }
        guard faults.isEmpty else { throw ModelError(model: file.name, faults: Self.sorted(faults)) }
        return file
    }

    /// The model.
    /// - Throws: ``ModelError``; never for a file that came from ``read(path:)`` and was not changed since.
    public func model() throws(ModelError) -> ManagedObjectModel {
        try ManagedObjectModel(
            name: name, naming: naming, entities: entities, fetches: fetches, configurations: configurations)
    }

    /// The name of a model in a file that names none: `Models/gazetteer.strata.yaml` gives `Gazetteer`.
    package static func modelName(path: String) -> String {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        let stem = file.prefix { $0 != "." }
        let words = stem.split { !$0.isLetter && !$0.isNumber }.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        let name = words.joined()
        return name.first?.isLetter == true ? name : "Model" + name
    }

    private struct Subject: Hashable {
        var entity: String?
        var property: String?
        init(fault: ModelFault) {
            entity = fault.entity
            property = fault.property
        }
    }

    private static func sorted(_ faults: [ModelFault]) -> [ModelFault] {
        faults.enumerated().sorted { a, b in
            let left = (a.element.location?.line ?? 0, a.element.location?.column ?? 0, a.offset)
            return left < (b.element.location?.line ?? 0, b.element.location?.column ?? 0, b.offset)
        }.map(\.element)
    }
}
