/// A relationship of an entity, as the checked model knows it: the declaration, the entity at the other end, and where
/// the store keeps it.
///
///     guard let entity = model.entity(named: "City") else { return }
///     for relationship in entity.relationships {
///         let inverse = model.inverse(of: relationship)?.name ?? "no inverse"
///         print(relationship.name, model.destination(of: relationship).name, inverse)
///     }
///
/// You get it from ``EntityDescription/relationships``, which includes inherited ones.
/// ``ManagedObjectModel/destination(of:)`` and ``ManagedObjectModel/inverse(of:)`` follow it in the model. Entities
/// that inherit a relationship have descriptions of their own for it, and descriptions are equal only if they are the
/// same one. Immutable; a class so that passing it around costs one reference.
public final class RelationshipDescription: Sendable {
    /// Where the store keeps a relationship.
    public enum Storage: Sendable, Hashable {
        /// To-one: a key in this slot of its own row.
        case slot(Int)
        /// To-many with a to-one inverse: a key in this slot of the rows at the other end.
        case inverseSlot(Int)
        /// Many-to-many, or to-many without an inverse: pairs of keys in a table of their own. The side that is
        /// `primary` gives the table its name and is in its first column.
        case pairs(isPrimary: Bool)
    }

    /// What the model declares.
    public let declaration: Relationship
    /// The position in ``EntityDescription/relationships``.
    public let index: Int
    /// The position of the destination in ``ManagedObjectModel/entities``.
    public let destinationIndex: Int
    /// The type of the primary key of the destination; nil if that has none.
    public let destinationKeyType: AttributeType?
    /// The position of the inverse in the destination's ``EntityDescription/relationships``.
    public let inverseIndex: Int?
    /// Where the store keeps it.
    public let storage: Storage
    /// The position among the to-many relationships of the entity; nil for a to-one.
    public let toManyIndex: Int?
    /// The name of the entity that declares it: the entity itself, or one that it inherits from.
    public let declaringEntity: String
    /// The position in the model of the entity that declares it.
    private let declaringEntityIndex: Int

    /// The name, in camelCase.
    public var name: String { declaration.name }
    /// The name of the entity at the other end.
    public var destination: String { declaration.destination }
    /// The name of the relationship that leads back.
    public var inverse: String? { declaration.inverse }
    /// Whether it leads to many objects.
    public var isToMany: Bool { declaration.isToMany }
    /// Whether the objects of a to-many relationship have an order.
    public var isOrdered: Bool { declaration.isOrdered }
    /// Whether a to-one relationship may be nil.
    public var isOptional: Bool { declaration.isOptional }
    /// What happens at the other end when an object is deleted.
    public var deleteRule: DeleteRule { declaration.deleteRule }

    /// The slot of a to-one relationship.
    public var slot: Int? {
        if case .slot(let slot) = storage { slot } else { nil }
    }

    /// Whether the other one has the same declaration, as the relationships have that two entities inherit. Entities next to
    /// each other in a hierarchy may declare relationships with the same name that lead elsewhere.
    package func hasSameDeclaration(as other: RelationshipDescription) -> Bool {
        // The relationships of an ancestor come first, in each entity at the same positions. Asked for each row of a batch.
        guard index == other.index else { return false }
        return declaringEntityIndex == other.declaringEntityIndex
    }

    init(
        declaration: Relationship, index: Int, destinationIndex: Int, destinationKeyType: AttributeType?,
        inverseIndex: Int?, storage: Storage, toManyIndex: Int?, declaringEntity: String, declaringEntityIndex: Int
    ) {
        self.declaration = declaration
        self.index = index
        self.destinationIndex = destinationIndex
        self.destinationKeyType = destinationKeyType
        self.inverseIndex = inverseIndex
        self.storage = storage
        self.toManyIndex = toManyIndex
        self.declaringEntity = declaringEntity
        self.declaringEntityIndex = declaringEntityIndex
    }
}

extension RelationshipDescription: Hashable {
    /// Descriptions are equal if they are the same one.
    public static func == (a: RelationshipDescription, b: RelationshipDescription) -> Bool { a === b }
    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
