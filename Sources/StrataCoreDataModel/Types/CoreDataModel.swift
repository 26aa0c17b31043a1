import Foundation

/// A model of Apple's Core Data as its file declares it, with everything that Strata has no counterpart for.
///
///     let file = try CoreDataModelFile.read(path: "Notes.xcdatamodeld")
///     for entity in file.model.entitiesInStoreOrder { print(entity.name, entity.parent ?? "") }
///
/// Entities refer to each other by name, as in the file. Reading checks little, because Core Data tolerates much;
/// `converted()` finds what Strata cannot represent.
public struct CoreDataModel: Sendable, Hashable {
    /// The name of the file without its ending.
    public var name: String
    /// The entities in the order of the file; those of compiled models in byte-wise order of names.
    public var entities: [CoreDataEntity] = []
    /// The composite types (Xcode 15 and later).
    public var compositeTypes: [CoreDataCompositeType] = []
    /// The fetch request templates.
    public var fetchRequests: [CoreDataFetchRequest] = []
    /// The configurations besides the default one, which holds all entities.
    public var configurations: [CoreDataConfiguration] = []
    /// The version identifiers of the model: its `userDefinedModelVersionIdentifier`.
    public var versionIdentifiers: [String] = []
    /// Everything else that the root element says, such as `lastSavedToolsVersion` and `sourceLanguage`.
    public var documentAttributes: [String: String] = [:]

    /// Makes a model without entities.
    public init(name: String) { self.name = name }

    /// The entity with the given name.
    public func entity(named name: String) -> CoreDataEntity? { entities.first { $0.name == name } }

    /// The composite type with the given name.
    public func compositeType(named name: String) -> CoreDataCompositeType? {
        compositeTypes.first { $0.name == name }
    }

    /// An entity and those that it inherits from, itself first. Ends where a parent is missing or comes again.
    public func lineage(of entity: CoreDataEntity) -> [CoreDataEntity] {
        var lineage = [entity]
        var seen: Set = [entity.name]
        while let parent = lineage[lineage.count - 1].parent, let next = self.entity(named: parent),
            seen.insert(parent).inserted
        {
            lineage.append(next)
        }
        return lineage
    }

    /// The entities as Core Data numbers them in stores, from 1 on: roots by name without regard to case, each followed
    /// by its subentities, depth first.
    public var entitiesInStoreOrder: [CoreDataEntity] {
        let names = Set(entities.map(\.name))
        let sorted = entities.sorted {
            let (a, b) = ($0.name.lowercased(), $1.name.lowercased())
            return a == b ? $0.name < $1.name : a < b
        }
        let children = Dictionary(grouping: sorted.filter { $0.parent.map(names.contains) ?? false }) {
            $0.parent ?? ""
        }
        var stack = Array(sorted.filter { !($0.parent.map(names.contains) ?? false) }.reversed())
        var ordered: [CoreDataEntity] = []
        while let next = stack.popLast() {
            ordered.append(next)
            stack += (children[next.name] ?? []).reversed()
        }
        return ordered
    }
}

/// An entity of a ``CoreDataModel``. It has one of the stored properties for each thing that the
/// file can say.
public struct CoreDataEntity: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The class; nil is `NSManagedObject`. A leading dot stands for the module of the product.
    public var className: String?
    /// The name of the entity that it inherits from.
    public var parent: String?
    /// Whether it has no objects of its own.
    public var isAbstract = false
    /// The renaming identifier: what the entity was called before.
    public var elementID: String?
    /// A text that changes the version hash and nothing else.
    public var versionHashModifier: String?
    /// The attributes that this entity declares itself.
    public var attributes: [CoreDataAttribute] = []
    /// The relationships that this entity declares itself.
    public var relationships: [CoreDataRelationship] = []
    /// The fetched properties.
    public var fetchedProperties: [CoreDataFetchedProperty] = []
    /// The indexes, including those of the older forms.
    public var indexes: [CoreDataFetchIndex] = []
    /// Groups of properties in which no two objects agree.
    public var uniquenessConstraints: [[String]] = []
    /// The entity's user info.
    public var userInfo: [String: String] = [:]
    /// Other attributes of the element: `codeGenerationType`, `syncable`, `coreSpotlightDisplayNameExpression` and unknown
    /// ones.
    public var other: [String: String] = [:]
    /// Where the file declares it.
    public var source = CoreDataSource()

    /// Makes an entity without properties.
    public init(name: String) { self.name = name }
}

/// A line of a file. All are equal, because where something stands does not change what it is.
public struct CoreDataSource: Sendable, Hashable {
    /// The line, from 1 on; nil in compiled models.
    public var line: Int?

    /// Makes a place in a file.
    public init(line: Int? = nil) { self.line = line }

    /// Always true.
    public static func == (a: CoreDataSource, b: CoreDataSource) -> Bool { true }
    /// Adds nothing.
    public func hash(into hasher: inout Hasher) {}
}

/// A named set of entities.
public struct CoreDataConfiguration: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The names of the entities, in the order of the file.
    public var entities: [String]
    /// Where the file declares it.
    public var source = CoreDataSource()

    /// Makes a configuration.
    public init(name: String, entities: [String]) {
        self.name = name
        self.entities = entities
    }
}

/// A composite type: named elements, among them other composites.
public struct CoreDataCompositeType: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The elements.
    public var attributes: [CoreDataAttribute] = []
    /// Where the file declares it.
    public var source = CoreDataSource()

    /// Makes a type without elements.
    public init(name: String) { self.name = name }
}

/// A fetch index, a compound index (Xcode 5 to 8), or an index of a single property that is `indexed`.
public struct CoreDataFetchIndex: Sendable, Hashable {
    /// One column of an index.
    public struct Element: Sendable, Hashable {
        /// The property; nil where the element is an expression.
        public var property: String?
        /// The expression with its type; nil where the element is a property.
        public var expression: String?
        /// The type of the expression's values.
        public var expressionType: String?
        /// `Binary` or `RTree`.
        public var kind = "Binary"
        /// Whether the column descends.
        public var isDescending = false

        /// Makes an ascending element.
        public init(property: String?) { self.property = property }
    }

    /// The name; nil for compound indexes.
    public var name: String?
    /// The columns.
    public var elements: [Element]
    /// The condition of a partial index.
    public var predicate: String?
    /// Where the file declares it.
    public var source = CoreDataSource()

    /// Makes an index.
    public init(name: String?, elements: [Element]) {
        self.name = name
        self.elements = elements
    }
}
