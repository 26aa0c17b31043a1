/// The typed keys of an entity, for predicates and sorts that the compiler checks: ``ObjectKeys``, or what is written by
/// hand. Keys stand for the object, too: `$0 == peru`, `$0.isIn(countries)`.
public protocol EntityKeys: ObjectOperand {
    /// The way that led here; empty for the object that is fetched.
    var path: TypedPath { get }
    /// Makes the keys at the end of a path.
    init(path: TypedPath)
}

/// The key of an attribute. Compare it with a value or another key, calculate with it, or sort by it.
public struct AttributeKey<Value>: PredicateOperand, Sendable {
    /// What the attribute holds.
    public typealias Operand = Value
    /// The way to the attribute.
    public let path: TypedPath

    /// Names an attribute.
    public init(_ path: TypedPath) { self.path = path }
    /// Names an attribute at the end of a path.
    public init(_ path: TypedPath, _ name: String) { self.path = path.appending(name) }

    /// The attribute as one side of a comparison.
    public var expression: FetchExpression { path.expression }
}

/// The key of a to-one relationship: its destination's keys continue the path. Where the relationship leads nowhere,
/// all that follows is nil.
@dynamicMemberLookup
public struct ToOneKey<Keys: EntityKeys>: ObjectOperand, RelationshipKey, Sendable {
    /// The class of the destination.
    public typealias Object = Keys.Object
    /// The way to the relationship.
    public let path: TypedPath

    /// Names a to-one relationship.
    public init(_ path: TypedPath) { self.path = path }
    /// Names a to-one relationship at the end of a path.
    public init(_ path: TypedPath, _ name: String) { self.path = path.appending(name) }

    /// The keys of the destination.
    public subscript<T>(dynamicMember member: KeyPath<Keys, T>) -> T { Keys(path: path)[keyPath: member] }
}

/// The key of a to-many relationship. Relationships of the members continue it: `$0.countries.cities` are the cities
/// of all the countries.
@dynamicMemberLookup
public struct ToManyKey<Keys: EntityKeys>: ToManyOperand, RelationshipKey, Sendable {
    /// The way to the relationship.
    public let path: TypedPath

    /// Names a to-many relationship.
    public init(_ path: TypedPath) { self.path = path }
    /// Names a to-many relationship at the end of a path.
    public init(_ path: TypedPath, _ name: String) { self.path = path.appending(name) }

    /// The members as a collection.
    public var expression: FetchExpression { path.expression }

    /// What a relationship of the members leads to, from all of them.
    public subscript<Key: RelationshipKey>(dynamicMember member: KeyPath<Keys, Key>) -> ToManyKey<Key.Keys> {
        ToManyKey<Key.Keys>(Keys(path: path)[keyPath: member].path)
    }
}

/// The key of a relationship.
public protocol RelationshipKey {
    /// The keys of the destination.
    associatedtype Keys: EntityKeys
    /// The way to the relationship.
    var path: TypedPath { get }
}
