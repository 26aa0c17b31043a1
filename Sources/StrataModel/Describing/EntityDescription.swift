/// An entity of a checked model: its place among the others, its properties with those it inherits, and the layout of
/// its rows.
///
///     let entity = city.entity
///     for attribute in entity.attributes { print(attribute.name, attribute.type.name) }
///     for relationship in entity.relationships { print(relationship.name, relationship.destination) }
///
/// Use it where code does not know the classes. You get it from ``ManagedObject/entity`` or
/// ``ManagedObjectModel/entity(named:)``. Lookups by name take constant time. To change an entity, change its
/// ``declaration`` and create a new model.
///
/// Descriptions are immutable and belong to one ``ManagedObjectModel``; other entities are named by their position in
/// ``ManagedObjectModel/entities``. Those of two models are never equal, even if the declarations are. They have many
/// stored properties, because all that is asked for at each access is computed once.
public final class EntityDescription: Sendable {
    /// What the model declares.
    public let declaration: Entity
    /// The position in ``ManagedObjectModel/entities``.
    public let index: Int
    /// The position of the entity that this one inherits from.
    public let parentIndex: Int?
    /// The position of the topmost entity of the hierarchy; its own where it inherits from none. Keys are unique within
    /// a hierarchy.
    public let rootIndex: Int
    /// The name of the topmost entity of the hierarchy.
    public let rootName: String
    /// The positions of this entity and all that inherit from it, directly or not; this one first.
    public let descendantIndexes: [Int]
    /// All attributes, inherited ones first.
    public let attributes: [AttributeDescription]
    /// All relationships, inherited ones first.
    public let relationships: [RelationshipDescription]
    /// All fetched properties, inherited ones first.
    public let fetchedProperties: [FetchedProperty]
    /// The layout of rows.
    public let slots: [SlotDescription]
    /// The positions in ``relationships`` of those that lead to many.
    public let toManyIndexes: [Int]
    /// All indexes, inherited ones first, including those that attributes declare.
    public let indexes: [Index]
    /// The groups of slots in which no two objects may agree.
    public let uniqueConstraints: [[Int]]
    /// The name of the primary-key attribute: the declared one, `username` for users, or `<entity>Id`, `<entity>_id`;
    /// nil if there is none.
    public let primaryKeyField: String?
    /// A fingerprint of the layout of rows. Generated classes carry it, so that a class never meets a model with other
    /// slots.
    public let layoutHash: UInt64

    let attributeIndexesByName: [String: Int]
    let relationshipIndexesByName: [String: Int]
    let slotIndexesByName: [String: Int]
    let namesByStoredName: [String: String]

    /// The name.
    public var name: String { declaration.name }
    /// The name of the Swift class.
    public var className: String { declaration.className ?? declaration.name }
    /// Whether there are no objects of this entity itself.
    public var isAbstract: Bool { declaration.isAbstract }
    /// The type of the primary-key attribute; nil if there is none.
    public var primaryKeyType: AttributeType? { primaryKeyField.flatMap { attribute(named: $0)?.type } }
    /// Whether other entities inherit from it.
    public var hasSubentities: Bool { descendantIndexes.count > 1 }

    /// The attribute with the given name, inherited ones included; nil if there is none.
    public func attribute(named name: String) -> AttributeDescription? {
        attributeIndexesByName[name].map { attributes[$0] }
    }

    /// The relationship with the given name, inherited ones included; nil if there is none.
    public func relationship(named name: String) -> RelationshipDescription? {
        relationshipIndexesByName[name].map { relationships[$0] }
    }

    /// The position in ``fetchedProperties`` of the one with the given name, inherited ones included.
    public func fetchedPropertyIndex(named name: String) -> Int? {
        fetchedProperties.firstIndex { $0.name == name }
    }

    /// The slot with the given name: an attribute, a to-one relationship, or an element of a composite as
    /// `address.street`.
    public func slot(named name: String) -> SlotDescription? {
        slotIndexesByName[name].map { slots[$0] }
    }

    /// Whether a name is that of an attribute, or of an element of a composite, that is stored.
    package func hasStoredAttribute(named name: String) -> Bool {
        guard let index = slotIndexesByName[name] else { return false }
        let slot = slots[index]
        return slot.relationshipIndex == nil && !slot.isTransient
    }

    /// The name of the property, or `address.street` for the element of a composite, that is stored under a name: the
    /// exact way back of ``NamingConvention/storedName(ofProperty:)``. Relationships to many have a stored name, too,
    /// for the wire.
    public func property(storedName: String) -> String? {
        namesByStoredName[storedName]
    }

    /// The names of all properties, inherited ones included, and of the elements of composites as `address.street`.
    package var propertyNames: [String] {
        let whole = attributes.map(\.name) + relationships.map(\.name) + fetchedProperties.map(\.name)
        return whole + slots.map(\.name).filter { $0.contains(".") }
    }

    /// The slots with the texts of the first full-text index, inherited ones included; none without an index.
    public var indexedTextSlots: [SlotDescription] {
        let index = indexes.first { $0.kind == .fullText }
        return (index?.properties ?? []).compactMap { slot(named: $0) }.filter { $0.type == .string }
    }

    /// Whether the entity is the other one or inherits from it.
    public func isKind(of other: EntityDescription) -> Bool {
        other.descendantIndexes.contains(index)
    }

    init(
        declaration: Entity, index: Int, parentIndex: Int?, rootIndex: Int, rootName: String, descendantIndexes: [Int],
        attributes: [AttributeDescription], relationships: [RelationshipDescription],
        fetchedProperties: [FetchedProperty],
        slots: [SlotDescription],
        indexes: [Index], uniqueConstraints: [[Int]], primaryKeyField: String?, naming: NamingConvention
    ) {
        self.declaration = declaration
        self.index = index
        self.parentIndex = parentIndex
        self.rootIndex = rootIndex
        self.rootName = rootName
        self.descendantIndexes = descendantIndexes
        self.attributes = attributes
        self.relationships = relationships
        self.fetchedProperties = fetchedProperties
        self.slots = slots
        self.toManyIndexes = relationships.filter(\.isToMany).map(\.index)
        self.indexes = indexes
        self.uniqueConstraints = uniqueConstraints
        self.primaryKeyField = primaryKeyField
        self.attributeIndexesByName = Dictionary(
            uniqueKeysWithValues: attributes.enumerated().map { ($1.name, $0) })
        self.relationshipIndexesByName = Dictionary(
            uniqueKeysWithValues: relationships.enumerated().map { ($1.name, $0) })
        self.slotIndexesByName = Dictionary(uniqueKeysWithValues: slots.map { ($0.name, $0.index) })
        let names = attributes.map(\.name) + relationships.map(\.name) + slots.map(\.name)
        self.namesByStoredName = Dictionary(
            names.map { (naming.storedName(ofProperty: $0), $0) }, uniquingKeysWith: { first, _ in first })
        var fingerprint = StableHash()
        fingerprint.combine(declaration.name)
        for slot in slots {
            fingerprint.combine(slot.name)
            fingerprint.combine(UInt64(slot.storage.rawValue))
        }
        for relationship in relationships where relationship.isToMany { fingerprint.combine(relationship.name) }
        self.layoutHash = fingerprint.low
    }
}

extension EntityDescription: Hashable {
    /// Descriptions are equal if they are the same one.
    public static func == (a: EntityDescription, b: EntityDescription) -> Bool { a === b }
    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
