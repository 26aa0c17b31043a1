import Foundation

/// The description of one entity for the dialect: how its properties are spelled on the wire and what they hold.
///
///     let schema = try StackMobSchema(entity)
///     print(schema.name, schema.primaryKeyField)
///     print(try schema.field(ofKey: "yearBorn"))  // year_born
///
/// The dialect makes one from its model for each entity. Create one yourself to use the dialect's conversions for a schema that
/// no model describes. A name in lower case is sent as it is, even if no property has it; see ``StackMobNames`` for the rules.
public struct StackMobSchema: Sendable {
    /// What a property holds.
    public enum Property: Sendable, Hashable {
        /// A value.
        case attribute(AttributeType)
        /// The identifier of an object of an entity.
        case toOne(String)
        /// The identifiers of objects of an entity.
        case toMany(String)
    }

    /// The name of the entity.
    public let entity: String
    /// The name of the primary key.
    public let primaryKey: String
    /// What each property holds, by name. Transient attributes are not among them.
    public let properties: [String: Property]

    private let namesByField: [String: String]

    /// Describes an entity by its properties.
    public init(entity: String, primaryKey: String, properties: [String: Property]) {
        self.entity = entity
        self.primaryKey = primaryKey
        self.properties = properties
        var names = Dictionary(
            properties.keys.sorted().map { (StackMobNames.field(of: $0), $0) }, uniquingKeysWith: { first, _ in first })
        // A property of the very name comes before one that is spelt so.
        for name in properties.keys { names[name] = name }
        namesByField = names
    }

    /// Describes an entity of a model.
    /// - Throws: ``RemoteError`` if it has no primary key, or one that is neither a string nor an integer of 64 bits.
    public init(_ entity: EntityDescription) throws(RemoteError) {
        guard let key = entity.primaryKeyField else {
            throw StackMobError.incompatible(
                "\(entity.name) has no primary key; declare a string attribute \(entity.name.lowercased())Id")
        }
        guard entity.primaryKeyType == .string || entity.primaryKeyType == .integer64 else {
            throw StackMobError.incompatible(
                "\(entity.name).\(key): primary keys are strings, or of type integer64 if strata-server assigns them")
        }
        var properties: [String: Property] = [:]
        for attribute in entity.attributes where !attribute.isTransient {
            properties[attribute.name] = .attribute(attribute.type)
        }
        for relationship in entity.relationships {
            properties[relationship.name] =
                relationship.isToMany ? .toMany(relationship.destination) : .toOne(relationship.destination)
        }
        self.init(entity: entity.name, primaryKey: key, properties: properties)
    }

    /// The name of the schema on the wire.
    public var name: String { StackMobNames.schema(ofEntity: entity) }
    /// Whether the server assigns the primary keys: whole numbers, which are text on the wire. See
    /// ``StackMobDialect/usesExtensions``.
    public var hasNumberedKeys: Bool { properties[primaryKey] == .attribute(.integer64) }
    /// The field of the primary key.
    public var primaryKeyField: String { StackMobNames.field(of: primaryKey) }

    /// The property of a field; nil if there is none, and the field is nothing to us.
    public func property(ofField field: String) -> String? {
        if let name = namesByField[field] { return name }
        let joined = FieldNames.camelCase(field)
        return properties[joined] == nil ? nil : joined
    }

    /// The field with the given name in a condition or an order. A name in small letters is sent as it is, even if no
    /// property has it; one with capitals must be a property's.
    /// - Throws: ``RemoteError`` if it is not.
    public func field(ofKey key: String) throws(RemoteError) -> String {
        guard FieldNames.hasCapitals(key) else { return key }
        guard properties[key] != nil else {
            throw StackMobError.incompatible(
                "\(entity) has no property \(key)" + Spelling.suggestion(for: key, in: properties.keys.sorted()))
        }
        return try StackMobNames.field(ofProperty: key)
    }
}

/// The schemas of the entities that one request is about, each made once. It lives no longer than the entities.
final class KnownSchemas {
    private var schemas: [ObjectIdentifier: StackMobSchema] = [:]

    subscript(entity: EntityDescription) -> StackMobSchema {
        get throws(RemoteError) {
            if let known = schemas[ObjectIdentifier(entity)] { return known }
            let schema = try StackMobSchema(entity)
            schemas[ObjectIdentifier(entity)] = schema
            return schema
        }
    }
}
