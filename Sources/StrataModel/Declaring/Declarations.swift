/// The default of an attribute: a fixed value, or one created for each object.
public enum AttributeDefault: Sendable, Hashable {
    /// The same value for every object.
    case value(Value)
    /// The time of the insertion. For dates.
    case now
    /// A new random UUID. For UUIDs, and in its text form for strings.
    case newUUID
}

/// How a derived attribute is computed. Derived attributes are read-only.
public enum Derivation: Sendable, Hashable {
    /// The text of the attribute in lower case, computed when the object is saved.
    case lowercase(String)
    /// The text of the attribute in upper case, computed when the object is saved.
    case uppercase(String)
    /// The text of the attribute, folded to ignore case and diacritics, for searching; computed when the object is
    /// saved.
    case canonical(String)
    /// The time of the last save of the object.
    case now
    /// The number of objects in a to-many relationship, as the store knew it when the row was read.
    case count(String)
    /// The sum of a numeric attribute over a to-many relationship: relationship, attribute.
    case sum(String, String)
    /// The value at the end of to-one relationships and an attribute, for instance `["country", "name"]`.
    case path([String])
}

/// What happens to the objects at the other end of a relationship when an object is deleted.
public enum DeleteRule: String, Sendable, Hashable, CaseIterable {
    /// The other end stays as it is.
    case noAction
    /// The reference at the other end becomes nil.
    case nullify
    /// The objects at the other end are deleted, too.
    case cascade
    /// The save fails while objects remain at the other end.
    case deny
}

/// Declares an attribute of an ``Entity``. It has one of the stored properties for each aspect that you can declare.
public struct Attribute: Sendable, Hashable {
    /// The name, in camelCase.
    public var name: String
    /// The type.
    public var type: AttributeType
    /// Whether the value may be nil.
    public var isOptional = false
    /// Whether the value lives only in memory and is not kept by the store.
    public var isTransient = false
    /// The value of new objects.
    public var defaultValue: AttributeDefault?
    /// How the value is computed, for derived attributes.
    public var derivation: Derivation?
    /// The rules that values must satisfy at a save.
    public var rules = ValidationRules()
    /// The enumeration that the values of a string or a whole number belong to.
    public var enumeration: EnumerationType?
    /// The entity that a value of type ``AttributeType/uri`` refers to by key: a weak reference, which may lead to another
    /// store and to an object that no longer exists. Not part of the version hash.
    public var referencedEntity: String?
    /// Whether the store keeps an index of just this attribute.
    public var isIndexed = false
    /// Whether no two objects may share a value.
    public var isUnique = false
    /// Whether binary data above the store's threshold is kept in a file of its own.
    public var allowsExternalStorage = false
    /// Whether history keeps the values that a change or a delete replaces. Not part of the version hash.
    public var isPreservedInHistory = false
    /// The names that this attribute had in earlier versions, the latest first. Not part of the version hash.
    public var formerNames: [String] = []
    /// Custom information for your app. Not part of the version hash.
    public var userInfo: [String: String] = [:]
    /// A description, which becomes the comment of the generated code. Not part of the version hash.
    public var documentation: String?
    /// Where the attribute is declared.
    public var location: SourceLocation?

    /// Declares an attribute.
    /// - Parameters:
    ///   - name: The name, in camelCase.
    ///   - type: The type.
    ///   - optional: Whether the value may be nil.
    ///   - defaultValue: The value of new objects.
    public init(
        _ name: String, _ type: AttributeType, optional: Bool = false, default defaultValue: AttributeDefault? = nil,
        file: String = #fileID, line: Int = #line, column: Int = #column
    ) {
        self.name = name
        self.type = type
        self.isOptional = optional
        self.defaultValue = defaultValue
        self.location = SourceLocation(file: file, line: line, column: column)
    }
}

/// Declares a relationship of an ``Entity``. It has one of the stored properties for each aspect that you can declare.
public struct Relationship: Sendable, Hashable {
    /// The name, in camelCase.
    public var name: String
    /// The name of the entity at the other end.
    public var destination: String
    /// Whether the relationship leads to many objects.
    public var isToMany: Bool
    /// Whether the objects of a to-many relationship have an order.
    public var isOrdered = false
    /// Whether a to-one relationship may be nil. A to-many may always be empty unless ``minimumCount`` says otherwise.
    public var isOptional = true
    /// The name of the relationship that leads back.
    public var inverse: String?
    /// What happens at the other end when an object is deleted.
    public var deleteRule: DeleteRule = .nullify
    /// The minimum number of objects of a to-many relationship, checked at a save.
    public var minimumCount = 0
    /// The maximum number of objects of a to-many relationship, checked at a save; 0 means no limit.
    public var maximumCount = 0
    /// The names that this relationship had in earlier versions, the latest first. Not part of the version hash.
    public var formerNames: [String] = []
    /// Custom information for your app. Not part of the version hash.
    public var userInfo: [String: String] = [:]
    /// A description, which becomes the comment of the generated code. Not part of the version hash.
    public var documentation: String?
    /// Where the relationship is declared.
    public var location: SourceLocation?

    /// Whether a relationship leads to one object or to many.
    public enum Cardinality: Sendable, Hashable {
        /// To one object, which may be missing.
        case optionalToOne
        /// To one object, which must be there when the object is saved.
        case toOne
        /// To any number of objects without order.
        case toMany
        /// To any number of objects in an order.
        case orderedToMany
    }

    /// Declares a relationship.
    public init(
        _ name: String, to destination: String, _ cardinality: Cardinality = .optionalToOne, inverse: String? = nil,
        deleteRule: DeleteRule = .nullify, file: String = #fileID, line: Int = #line, column: Int = #column
    ) {
        self.name = name
        self.destination = destination
        self.isToMany = cardinality == .toMany || cardinality == .orderedToMany
        self.isOrdered = cardinality == .orderedToMany
        self.isOptional = cardinality != .toOne
        self.inverse = inverse
        self.deleteRule = deleteRule
        self.location = SourceLocation(file: file, line: line, column: column)
    }
}

/// Declares an index of an ``Entity``.
public struct Index: Sendable, Hashable {
    /// What an index is for.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Equality, ranges and order.
        case ordered
        /// Like ``ordered``, but no two objects may have the same values in all of the attributes. Nil values do not
        /// count as equal.
        case unique
        /// Areas: one geo point.
        case spatial
        /// Words: one or more strings.
        case fullText
    }

    /// The attributes and to-one relationships that the index covers, in order. A leading `-` sorts an element
    /// downwards.
    public var properties: [String]
    /// What the index is for.
    public var kind: Kind
    /// Where the index is declared.
    public var location: SourceLocation?

    /// Declares an index.
    public init(
        _ properties: String..., kind: Kind = .ordered, file: String = #fileID, line: Int = #line,
        column: Int = #column
    ) {
        self.init(properties, kind: kind, location: SourceLocation(file: file, line: line, column: column))
    }

    /// Declares an index at a given place.
    public init(_ properties: [String], kind: Kind, location: SourceLocation?) {
        self.properties = properties
        self.kind = kind
        self.location = location
    }
}

/// Declares an entity of a ``ManagedObjectModel``. It has one of the stored properties for each aspect that you can
/// declare.
public struct Entity: Sendable, Hashable {
    /// The name, in UpperCamelCase.
    public var name: String
    /// The name of the Swift class, if it is not the entity's name.
    public var className: String?
    /// The name of the entity that this one inherits from.
    public var parent: String?
    /// Whether the entity is abstract: only entities that inherit from it have objects.
    public var isAbstract = false
    /// Whether this is the entity of users, whose primary key is `username` unless ``primaryKey`` says otherwise.
    public var isUser = false
    /// The name of the primary-key attribute, where the convention does not find it.
    public var primaryKey: String?
    /// The attributes.
    public var attributes: [Attribute] = []
    /// The relationships.
    public var relationships: [Relationship] = []
    /// The fetched properties.
    public var fetchedProperties: [FetchedProperty] = []
    /// The indexes over several properties, and those of kinds that an attribute cannot declare on its own.
    public var indexes: [Index] = []
    /// The names that this entity had in earlier versions, the latest first. Not part of the version hash.
    public var formerNames: [String] = []
    /// Whether the generated class is a base class, named with the suffix `Base`, of a class that you write yourself.
    public var generatesBaseClass = false
    /// Custom information for your app. Not part of the version hash.
    public var userInfo: [String: String] = [:]
    /// A description, which becomes the comment of the generated code. Not part of the version hash.
    public var documentation: String?
    /// Where the entity is declared.
    public var location: SourceLocation?

    /// Declares an entity without properties; add them through the fields.
    public init(name: String, location: SourceLocation?) {
        self.name = name
        self.location = location
    }
}
