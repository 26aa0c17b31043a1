/// The value that an attribute of a new object has: the same for all objects, or one that is made for each.
///
///     Entity("Note") {
///         Attribute("noteId", .string, default: .newUUID)
///         Attribute("created", .date, default: .now)
///         Attribute("stars", .integer, default: .value(0))
///     }
///
/// A new object has its defaults before ``ManagedObject/awakeFromInsert()`` runs. Without a default, a required
/// attribute must get a value before you save; a required array begins empty.
///
/// The default of an attribute that you add to a model also fills the rows that exist already: with the same value,
/// with the time of the migration, or with a new UUID for each. The model checks that a default has the type of its
/// attribute and meets its rules. Composites, attributes of type `json` and derived attributes cannot have a default.
public enum AttributeDefault: Sendable, Hashable {
    /// The same value for every object: `.value(0)`, `.value("draft")`.
    case value(Value)
    /// The time of the insertion. For dates.
    case now
    /// A new random UUID for each object. For UUIDs, and in its text form for strings.
    case newUUID
}

/// How Strata computes the value of a derived attribute, which your code can read but not set.
///
///     Entity("Country") {
///         Attribute("name", .string)
///         Attribute("searchName", .string).derived(.canonical("name")).indexed()
///         Attribute("cityCount", .integer).derived(.count("cities"))
///         Relationship("cities", to: "City", .toMany, inverse: "country")
///     }
///
/// ``lowercase(_:)``, ``uppercase(_:)``, ``canonical(_:)`` and ``now`` are computed by each save that writes the
/// object. They have a column, and can be indexed. If a text has a ``canonical(_:)`` attribute, conditions with the
/// options `[cd]` read that attribute and its index.
///
/// ``count(_:)``, ``sum(_:_:)`` and ``path(_:)`` have no column and no index: the store computes them with a subquery
/// whenever it reads the row. An object in memory keeps the value that was read with it until you call
/// ``ManagedObjectContext/refresh(_:mergingChanges:)``.
public enum Derivation: Sendable, Hashable {
    /// The text of the attribute in lower case, computed at a save. Nil if the text is nil.
    case lowercase(String)
    /// The text of the attribute in upper case, computed at a save. Nil if the text is nil.
    case uppercase(String)
    /// The text of the attribute without case and diacritics, for searching: what ``TextComparison/fold(_:_:)`` makes
    /// of it. Computed at a save.
    case canonical(String)
    /// The time of the last save that wrote the row. For dates.
    case now
    /// The number of objects in a to-many relationship, computed when the row is read.
    case count(String)
    /// The sum of a numeric attribute over a to-many relationship, computed when the row is read:
    /// `.sum("cities", "population")`.
    case sum(String, String)
    /// The value of an attribute that to-one relationships lead to, computed when the row is read:
    /// `.path(["country", "name"])`. The attribute must have the same type, and be optional if a step may be nil.
    case path([String])
}

/// What the deletion of an object does to the objects at the other end of a relationship.
///
///     Entity("Country") {
///         Relationship("cities", to: "City", .toMany, inverse: "country", deleteRule: .cascade)
///         Relationship("embassies", to: "Embassy", .toMany, inverse: "country", deleteRule: .deny)
///     }
///
/// The rule belongs to the relationship of the object that you delete: that of `Country.cities` says what happens to
/// cities when their country is deleted. ``nullify`` is the default. ``ManagedObjectContext/delete(_:)`` applies
/// ``nullify`` and ``cascade`` immediately; a save checks ``deny``, so you can delete or move the members afterwards.
/// ``ManagedObjectContext/deleteAll(_:)`` applies the rules in the store, to whole sets of rows.
///
/// With ``nullify``, members whose own relationship is required fail validation at the save unless you delete them or
/// give them another object. Use ``cascade`` there. A change of the rule needs no migration.
public enum DeleteRule: String, Sendable, Hashable, CaseIterable {
    /// The objects at the other end are neither changed nor validated. A to-one relationship there reads as nil; a to-many
    /// one that is loaded keeps the deleted object until you refresh it. The save removes the links from the store, even
    /// those of required relationships.
    case noAction
    /// The relationship at the other end becomes nil, or loses the deleted object.
    case nullify
    /// The objects at the other end are deleted, too, and their own rules apply. Cycles and long chains are safe.
    case cascade
    /// The save fails with ``ValidationFailure/Rule/deny`` while objects remain at the other end.
    case deny
}

/// Declares an attribute of an ``Entity``: a value with a name and a type. It has one of the stored properties for each
/// aspect that you can declare.
///
///     Entity("City") {
///         Attribute("name", .string).length(1...80).indexed()
///         Attribute("population", .integer64, default: .value(0)).range(0...)
///         Attribute("founded", .date, optional: true)
///     }
///
/// A value is required unless you pass `optional: true` or call ``optional()``: a save of an object without it fails
/// with a ``ValidationError``. Modifiers such as ``indexed()`` and ``unique()`` return a changed copy, so you can chain
/// them. Creating the ``ManagedObjectModel`` checks all declarations together.
///
/// A new attribute needs no answer in a migration if it is optional or has a default. To rename one and keep its
/// values, declare the old name with ``renamed(from:)``.
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

    /// Declares an attribute. The place of the call becomes its ``location``, for messages.
    ///
    ///     Attribute("name", .string)
    ///     Attribute("visits", .integer, default: .value(0))
    ///     Attribute("note", .string, optional: true)
    /// - Parameters:
    ///   - name: The name, in camelCase. Each property of an entity has a name of its own, inherited ones included.
    ///   - type: The type.
    ///   - optional: Whether the value may be nil. If not, a save of an object without a value fails.
    ///   - defaultValue: The value of new objects; nil for none.
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

/// Declares a relationship of an ``Entity`` to one object or to many. It has one of the stored properties for each
/// aspect that you can declare.
///
///     Entity("Country") {
///         Relationship("cities", to: "City", .toMany, inverse: "country", deleteRule: .deny)
///     }
///     Entity("City") {
///         Relationship("country", to: "Country", .toOne, inverse: "cities")
///     }
///
/// Declare both ends, and name the inverse in both. Then a change at one end shows at the other immediately. A to-one
/// relationship is a column with an index. A to-many relationship whose inverse leads to one object reads that column;
/// many-to-many relationships, and to-many ones without an inverse, have a table of pairs.
///
/// A relationship stays within its store. For an object in another store, use an attribute of type
/// ``AttributeType/uri`` with ``Attribute/references(_:)``.
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

    /// Whether a relationship leads to one object or to many, and whether it may be empty.
    public enum Cardinality: Sendable, Hashable {
        /// To one object, or nil. The default.
        case optionalToOne
        /// To one object. The relationship is required: a save without an object fails.
        case toOne
        /// To any number of objects without an order: a set in Swift. For bounds, see ``Relationship/count(_:_:)``.
        case toMany
        /// To any number of objects in an order that you decide: an array in Swift. The store keeps each position.
        case orderedToMany
    }

    /// Declares a relationship. The place of the call becomes its ``location``, for messages.
    ///
    ///     Relationship("country", to: "Country", .toOne, inverse: "cities")
    ///     Relationship("sights", to: "Sight", .orderedToMany, inverse: "city", deleteRule: .cascade)
    ///     Relationship("twins", to: "City", .toMany, inverse: "twins")
    /// - Parameters:
    ///   - name: The name, in camelCase.
    ///   - destination: The name of the entity at the other end; entities that inherit from it count, too.
    ///   - cardinality: To one object or to many. The default may be nil.
    ///   - inverse: The name of the relationship that leads back, which must name this one; nil for none. A many-to-many
    ///     relationship can be its own inverse.
    ///   - deleteRule: What the deletion of an object does to those that the relationship leads to.
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

/// Declares an index of an ``Entity``, with which the store finds or sorts objects without reading all of them.
///
///     Entity("City") {
///         Attribute("name", .string)
///         Attribute("about", .string)
///         Attribute("population", .integer64)
///         Attribute("position", .geoPoint)
///         Index("name", "-population")
///         Index("name", "about", kind: .fullText)
///         Index("position", kind: .spatial)
///     }
///
/// For one attribute, call ``Attribute/indexed()`` or ``Attribute/unique()`` instead. To-one relationships have an
/// index already. The order of the properties matters: this ordered index serves conditions on the name, and on the
/// name and the population, but not on the population only.
///
/// Every index takes space and makes saves slower. ``FetchAdvisor`` tells you which index a fetch lacks. A store adds
/// and removes indexes when you open it with the changed model; indexes are not part of the version hash.
public struct Index: Sendable, Hashable {
    /// What an index is for.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Equality, ranges and order: an ordinary index.
        case ordered
        /// Like ``ordered``, but no two objects may have the same values in all of the properties. Objects with a nil
        /// among the values are not compared. A save that violates it is a conflict; see ``MergePolicy``.
        case unique
        /// Areas and distances: exactly one geo point, for the conditions of ``GeoCondition``.
        case spatial
        /// Words: one or more strings, for ``ComparisonOperator/matchesText``. Other stores than SQLite may search
        /// without the index.
        case fullText
    }

    /// The attributes and to-one relationships that the index covers, in order. A leading `-` sorts an element
    /// downwards.
    public var properties: [String]
    /// What the index is for.
    public var kind: Kind
    /// Where the index is declared.
    public var location: SourceLocation?

    /// Declares an index. The place of the call becomes its ``location``, for messages.
    /// - Parameters:
    ///   - properties: Attributes, to-one relationships and elements of composites (`address.zip`), in order. A leading `-`
    ///     sorts an element downwards, in ordered and unique indexes.
    ///   - kind: What the index is for.
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

/// Declares an entity of a ``ManagedObjectModel``: a kind of object, with its properties. It has one of the
/// stored properties for each aspect that you can declare.
///
///     let model = try ManagedObjectModel(name: "Atlas") {
///         Entity("Place", abstract: true) { Attribute("name", .string) }
///         Entity("City", inherits: "Place") { Attribute("population", .integer64) }
///         Entity("Harbour", inherits: "Place") { Attribute("depth", .double) }
///     }
///
/// An entity has the properties of the entity that it inherits from, and cannot declare them again. All entities of
/// such a hierarchy share a table and their keys, and a fetch of the parent returns objects of all of them. If few
/// properties are common, declare separate entities instead.
///
/// If you write the model as a YAML file, the build plug-in makes these declarations and a class for each entity.
/// Without it, use ``ManagedObject`` with access by name, or classes that you write.
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

    /// Declares an entity without properties; add them through the fields. In code that you write by hand, the initializer
    /// with a block is shorter: ``init(_:inherits:abstract:user:primaryKey:file:line:column:_:)``.
    public init(name: String, location: SourceLocation?) {
        self.name = name
        self.location = location
    }
}
