import Foundation

/// The names of entities and properties on the server, where they are not as in the model.
///
///     var dialect = try MaxLeapDialect(applicationID: id, apiKey: key)
///     dialect.names.classes["BlogPost"] = "Post"
///     dialect.names.fields["BlogPost"] = ["text": "body"]
///     dialect.names.relations["BlogPost"] = ["readers"]
///     dialect.names.files["BlogPost"] = ["picture"]
///
/// Set them in ``MaxLeapDialect/names`` before you create the client. They also say which relationships the server
/// keeps as relations and which attributes as files, because a model does not know that. Names must be unique: two properties
/// with one field are an error when the store is opened.
public struct MaxLeapNames: Sendable, Hashable {
    /// The classes of entities. `User`, `Role` and `Installation` are the server's own classes unless this says otherwise.
    public var classes: [String: String] = ["User": "_User", "Role": "_Role", "Installation": "_Installation"]
    /// The fields of properties, by entity and property.
    public var fields: [String: [String: String]] = [:]
    /// The to-many relationships, by entity, that the server keeps as relations. All others are arrays of pointers. The
    /// members of a relation do not come with its object. `ManagedObjectContext.load(_:of:)` and prefetching ask for them.
    public var relations: [String: Set<String>] = [:]
    /// The attributes, by entity, that the server keeps as files. They are strings or URIs here: the address, `#`, and the
    /// name of the file. See ``RemoteStore/stageFile(_:name:contentType:)``.
    public var files: [String: Set<String>] = [:]

    /// All as in the model.
    public init() {}

    /// The class of an entity.
    public func className(ofEntity entity: String) -> String { classes[entity] ?? entity }
}

/// What the dialect knows of one entity: how its properties are spelt and what they hold.
struct MaxLeapSchema: Sendable {
    /// What a property holds.
    enum Property: Sendable, Hashable {
        /// A value.
        case attribute(AttributeType)
        /// A pointer to an object of an entity.
        case toOne(String)
        /// An array of pointers to objects of an entity.
        case toMany(String)
        /// A relation to objects of an entity.
        case relation(String)
    }

    /// The name of the entity.
    let entity: String
    /// The class.
    let className: String
    /// The property with the identifier that the server gives.
    let primaryKey: String
    /// What each property holds, by name.
    let properties: [String: Property]
    private let fieldsByName: [String: String]
    private let namesByField: [String: String]

    /// - Throws: ``RemoteError`` if the entity has no primary key, or two properties of one field.
    init(_ entity: EntityDescription, _ names: MaxLeapNames) throws(RemoteError) {
        guard let key = entity.primaryKeyField else {
            throw MaxLeapError.unsupported(
                "\(entity.name) has no primary key; declare a string attribute objectId and name it as primary key")
        }
        self.entity = entity.name
        className = names.className(ofEntity: entity.name)
        primaryKey = key
        var properties: [String: Property] = [:]
        for attribute in entity.attributes where !attribute.isTransient {
            properties[attribute.name] = .attribute(attribute.type)
        }
        let relations = names.relations[entity.name] ?? []
        for relationship in entity.relationships {
            let destination = relationship.destination
            properties[relationship.name] =
                !relationship.isToMany
                ? .toOne(destination)
                : relations.contains(relationship.name) ? .relation(destination) : .toMany(destination)
        }
        self.properties = properties
        var fields: [String: String] = [:]
        var back: [String: String] = [:]
        for name in properties.keys.sorted() {
            let field = name == key ? "objectId" : names.fields[entity.name]?[name] ?? name
            if let other = back.updateValue(name, forKey: field) {
                throw MaxLeapError.unsupported(
                    "\(entity.name).\(other) and \(entity.name).\(name) are one field on the server, \(field)")
            }
            guard MaxLeapObject.isKey(field) else {
                throw MaxLeapError.unsupported(
                    "\(entity.name).\(name): \"\(field)\" is not a valid field name; use letters, digits and underscores, a "
                        + "letter first")
            }
            fields[name] = field
        }
        fieldsByName = fields
        namesByField = back
    }

    /// The property of a field; nil if there is none, and the field is nothing to us.
    func property(ofField field: String) -> String? { namesByField[field] }

    /// The field of a property.
    /// - Throws: ``RemoteError`` if there is no such property.
    func field(of property: String) throws(RemoteError) -> String {
        guard let field = fieldsByName[property] else {
            throw MaxLeapError.unsupported(
                "\(entity) has no property \(property)"
                    + Spelling.suggestion(for: property, in: fieldsByName.keys.sorted()))
        }
        return field
    }

    /// Whether the server keeps a field itself.
    func isSystem(_ field: String) -> Bool { MaxLeapObject.systemKeys.contains(field) }
}

extension MaxLeapDialect {
    func schema(_ entity: EntityDescription) throws(RemoteError) -> MaxLeapSchema {
        try MaxLeapSchema(entity, names)
    }

    /// What is known of an entity by name; nil without a model, or if it has no such entity.
    func schema(named entity: String) throws(RemoteError) -> MaxLeapSchema? {
        guard let entity = model?.entity(named: entity) else { return nil }
        return try schema(entity)
    }

    /// An object as others refer to it.
    /// - Throws: ``RemoteError`` with code 104 for an object that the server has not named yet.
    func pointer(_ entity: String, _ id: String) throws(RemoteError) -> MaxLeapPointer {
        guard sendsObjectIds || !Self.isTemporary(id) else {
            throw MaxLeapError.missingObjectId.error(
                "\(entity)/\(id) is new, and the server has not named it yet; save it before what refers to it")
        }
        return MaxLeapPointer(names.className(ofEntity: entity), id)
    }

    /// Whether a primary key was made here: servers give no UUIDs, and `local_…` is what their own libraries say.
    static func isTemporary(_ id: String) -> Bool {
        id.isEmpty || id.hasPrefix("local_") || id.utf8.count == 36 && UUID(uuidString: id) != nil
    }
}
