/// The types of Core Data's attributes, with the numbers of `NSAttributeType`.
public enum CoreDataAttributeType: Int, Sendable, Hashable, CaseIterable {
    case undefined = 0
    case integer16 = 100
    case integer32 = 200
    case integer64 = 300
    case decimal = 400
    case double = 500
    case float = 600
    case string = 700
    case boolean = 800
    case date = 900
    case binary = 1000
    case uuid = 1100
    case uri = 1200
    case transformable = 1800
    case objectID = 2000
    case composite = 2100

    /// The name in model files: `Integer 16`, `String` and so on.
    public var name: String {
        switch self {
        case .undefined: "Undefined"
        case .integer16: "Integer 16"
        case .integer32: "Integer 32"
        case .integer64: "Integer 64"
        case .decimal: "Decimal"
        case .double: "Double"
        case .float: "Float"
        case .string: "String"
        case .boolean: "Boolean"
        case .date: "Date"
        case .binary: "Binary"
        case .uuid: "UUID"
        case .uri: "URI"
        case .transformable: "Transformable"
        case .objectID: "ObjectID"
        case .composite: "Composite"
        }
    }

    /// The type with the given name in model files.
    public init?(name: String) {
        guard let type = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = type
    }

    /// Whether values are numbers.
    public var isNumeric: Bool { (100...600).contains(rawValue) }
}

/// What a property is or is not; each is a `YES` in the file.
public struct CoreDataPropertyOptions: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int
    /// Makes a set of its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The value may be nil.
    public static let optional = CoreDataPropertyOptions(rawValue: 1)
    /// The store does not keep the value.
    public static let transient = CoreDataPropertyOptions(rawValue: 2)
    /// An index of its own (before Xcode 9).
    public static let indexed = CoreDataPropertyOptions(rawValue: 4)
    /// Large values are kept in files of their own.
    public static let externalStorage = CoreDataPropertyOptions(rawValue: 8)
    /// The value is encrypted in CloudKit.
    public static let cloudEncryption = CoreDataPropertyOptions(rawValue: 16)
    /// The value is kept in the history after a deletion.
    public static let preservedAfterDeletion = CoreDataPropertyOptions(rawValue: 32)
    /// Spotlight indexes the value.
    public static let spotlight = CoreDataPropertyOptions(rawValue: 64)
    /// The value is kept in an external record file.
    public static let truthFile = CoreDataPropertyOptions(rawValue: 128)
    /// The objects of a to-many relationship have an order.
    public static let ordered = CoreDataPropertyOptions(rawValue: 256)
    /// Sync Services; without effect.
    public static let syncable = CoreDataPropertyOptions(rawValue: 512)

    static let names: [(String, CoreDataPropertyOptions)] = [
        ("optional", .optional), ("transient", .transient), ("indexed", .indexed),
        ("allowsExternalBinaryDataStorage", .externalStorage), ("allowsCloudEncryption", .cloudEncryption),
        ("preserveAfterDeletion", .preservedAfterDeletion), ("spotlightIndexingEnabled", .spotlight),
        ("storedInTruthFile", .truthFile), ("ordered", .ordered), ("syncable", .syncable),
    ]
}

/// An attribute of an entity or composite type. It has one of the stored properties for each thing that the
/// file can say.
public struct CoreDataAttribute: Sendable, Hashable {
    /// What values have to meet.
    public struct Validation: Sendable, Hashable {
        /// The minimum number, or the minimum length of a string, as text.
        public var minimum: String?
        /// The maximum number, or the maximum length of a string, as text.
        public var maximum: String?
        /// The earliest date, in seconds since 2001-01-01 00:00 UTC.
        public var minimumDate: Double?
        /// The latest date, in seconds since 2001-01-01 00:00 UTC.
        public var maximumDate: Double?
        /// The ICU pattern that a string matches as a whole.
        public var pattern: String?

        /// Makes rules that every value meets.
        public init() {}
    }

    /// A default value.
    public enum Default: Sendable, Hashable {
        /// Text, as in `defaultValueString`: `0`, `YES`, or a string.
        case text(String)
        /// Seconds since 2001-01-01 00:00 UTC.
        case date(Double)
        /// Bytes; only compiled models have such defaults.
        case binary([UInt8])
    }

    /// The name.
    public var name: String
    /// The type.
    public var type: CoreDataAttributeType
    /// What it is or is not.
    public var options: CoreDataPropertyOptions = []
    /// The value of new objects.
    public var defaultValue: Default?
    /// The expression of a derived attribute.
    public var derivation: String?
    /// The name of the composite type.
    public var compositeName: String?
    /// Whether generated code uses a scalar; nil where the file does not say.
    public var usesScalar: Bool?
    /// What values have to meet.
    public var validation = Validation()
    /// The name of the value transformer.
    public var transformerName: String?
    /// The class of a transformable's values.
    public var valueClassName: String?
    /// The renaming identifier.
    public var elementID: String?
    /// A text that changes the version hash and nothing else.
    public var versionHashModifier: String?
    /// The attribute's user info.
    public var userInfo: [String: String] = [:]
    /// Other attributes of the element.
    public var other: [String: String] = [:]
    /// Where the file declares it.
    public var source = CoreDataSource()

    /// Makes a required attribute.
    public init(name: String, type: CoreDataAttributeType) {
        self.name = name
        self.type = type
    }

    /// Whether the value may be nil.
    public var isOptional: Bool { options.contains(.optional) }
    /// Whether the store does not keep the value.
    public var isTransient: Bool { options.contains(.transient) }
}

/// A relationship of an entity. It has one of the stored properties for each thing that the
/// file can say.
public struct CoreDataRelationship: Sendable, Hashable {
    /// What happens to the other end when an object is deleted, with the numbers of `NSDeleteRule`.
    public enum DeleteRule: Int, Sendable, Hashable, CaseIterable {
        case noAction = 0
        case nullify = 1
        case cascade = 2
        case deny = 3

        /// The name in model files.
        public var name: String {
            switch self {
            case .noAction: "No Action"
            case .nullify: "Nullify"
            case .cascade: "Cascade"
            case .deny: "Deny"
            }
        }
    }

    /// The name.
    public var name: String
    /// The name of the entity at the other end.
    public var destination: String
    /// The name of the relationship that leads back.
    public var inverse: String?
    /// The entity of the inverse, as the file names it; nearly always the destination.
    public var inverseEntity: String?
    /// What it is or is not.
    public var options: CoreDataPropertyOptions = []
    /// Whether it leads to many objects.
    public var isToMany: Bool
    /// The `minCount` of the file, 0 where it has none.
    public var minimumCount = 0
    /// The `maxCount`: 1 for to-one, 0 or less for no bound.
    public var maximumCount: Int
    /// What happens to the other end when an object is deleted.
    public var deleteRule = DeleteRule.nullify
    /// The renaming identifier.
    public var elementID: String?
    /// A text that changes the version hash and nothing else.
    public var versionHashModifier: String?
    /// The relationship's user info.
    public var userInfo: [String: String] = [:]
    /// Other attributes of the element.
    public var other: [String: String] = [:]
    /// Where the file declares it.
    public var source = CoreDataSource()

    /// Makes a required relationship.
    public init(name: String, destination: String, isToMany: Bool) {
        self.name = name
        self.destination = destination
        self.isToMany = isToMany
        self.maximumCount = isToMany ? 0 : 1
    }

    /// Whether a to-one relationship may be nil, or a to-many empty.
    public var isOptional: Bool { options.contains(.optional) }
    /// Whether the store does not keep it.
    public var isTransient: Bool { options.contains(.transient) }
    /// Whether the objects of a to-many relationship have an order.
    public var isOrdered: Bool { options.contains(.ordered) && isToMany }
}

/// A fetch request: a template of the model, or the request of a fetched property.
public struct CoreDataFetchRequest: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The name of the entity.
    public var entity: String
    /// The condition in the predicate format language; nil for all objects, or where a compiled model keeps it in a form
    /// that is not read.
    public var predicate: String?
    /// The maximum number of objects.
    public var limit: Int?
    /// Other settings as the file spells them: `resultType`, `fetchBatchSize`, `includeSubentities` and so on.
    public var other: [String: String] = [:]
    /// Where the file declares it.
    public var source = CoreDataSource()

    /// Makes a request for all objects of an entity.
    public init(name: String, entity: String) {
        self.name = name
        self.entity = entity
    }
}

/// A fetched property of an entity.
public struct CoreDataFetchedProperty: Sendable, Hashable {
    /// The name.
    public var name: String
    /// What it fetches.
    public var request: CoreDataFetchRequest
    /// The property's user info.
    public var userInfo: [String: String] = [:]
    /// Other attributes of the element.
    public var other: [String: String] = [:]
    /// Where the file declares it.
    public var source = CoreDataSource()

    /// Makes a fetched property.
    public init(name: String, request: CoreDataFetchRequest) {
        self.name = name
        self.request = request
    }
}
