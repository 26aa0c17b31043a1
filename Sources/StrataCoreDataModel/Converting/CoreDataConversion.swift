public import StrataModel

/// What a Core Data model becomes in Strata: declarations, what got lost, and which property became which.
///
///     let conversion = try CoreDataModelFile.read(path: "Notes.xcdatamodeld").converted()
///     conversion.warnings.forEach { print($0) }
///     let model = try conversion.model()
public struct CoreDataConversion: Sendable {
    /// The name of the model.
    public var name: String
    /// The declarations.
    public var entities: [Entity]
    /// The fetch requests with names.
    public var fetches: [FetchTemplate]
    /// The configurations.
    public var configurations: [ModelConfiguration]
    /// What Strata has no counterpart for, with lines.
    public var warnings: [CoreDataModelWarning]
    /// Which names became which.
    public var mapping: CoreDataMapping
    /// How names become names of tables and columns.
    public var naming: NamingConvention

    /// The checked model.
    /// - Throws: `ModelError` with everything that could not be repaired.
    public func model() throws(ModelError) -> ManagedObjectModel {
        try ManagedObjectModel(
            name: name, naming: naming, entities: entities, fetches: fetches, configurations: configurations)
    }
}

/// Which entity and property of a Core Data model became which of Strata's.
public struct CoreDataMapping: Sendable, Hashable {
    /// Strata's entity names by Core Data's.
    public var entities: [String: String] = [:]
    /// Strata's property names by Core Data's, by Core Data's name of the entity that declares the property. Properties
    /// that were left out are missing.
    public var properties: [String: [String: String]] = [:]

    /// The name in Strata of a property that an entity declares itself; nil if it was left out.
    public func property(_ name: String, of entity: String) -> String? { properties[entity]?[name] }
}

extension CoreDataModelFile {
    /// Converts the model into Strata's declarations. It keeps all it can; what has no counterpart gives a warning.
    /// - Parameters:
    ///   - naming: How names become names of tables and columns.
    ///   - transformables: What becomes of transformable attributes whose values are of Foundation's classes, or of a class
    ///     that the model does not name.
    public func converted(
        naming: NamingConvention = .snakeCase, transformables: CoreDataTransformables = .archives
    ) -> CoreDataConversion {
        var converter = ModelConverter(model: model, file: path, naming: naming)
        converter.transformables = transformables
        var conversion = converter.convert()
        conversion.warnings = warnings + conversion.warnings
        return conversion
    }
}

/// What becomes of transformable attributes whose values are of Foundation's classes, or of a class that the model does not
/// name. Those of the application's own classes always become transformables of Strata.
public enum CoreDataTransformables: Sendable, Hashable {
    /// Binary data: the archive as it is.
    case archives
    /// JSON, if the value transformer is one of Foundation's, or has one of these names; else binary data.
    case json(transformers: Set<String>)
}
