/// The typed keys of one entity: ``ObjectKeys`` for generated classes, or a type that you write by hand.
///
///     struct BoatKeys: EntityKeys {
///         typealias Object = ManagedObject
///         let path: TypedPath
///         var name: AttributeKey<String> { AttributeKey(path, "name") }
///         var harbour: ToOneKey<BoatKeys> { ToOneKey(path, "harbour") }
///     }
///     let keys = BoatKeys(path: [])
///     let request = FetchRequest<ManagedObject>(entity: "Boat", where: keys.name == "Uros")
///
/// Write your own if you declare the model in Swift and use ``ManagedObject`` without subclasses; the generator does not run
/// for such models. A name that the entity does not have is an error of the fetch then.
///
/// Keys also stand for their object (``ObjectOperand``): `$0 == peru`, `$0.isIn(countries)`.
public protocol EntityKeys: ObjectOperand {
    /// The path that leads to the object; empty for the fetched object.
    var path: TypedPath { get }
    /// Creates the keys at the end of a path.
    init(path: TypedPath)
}

/// The key of an attribute: a name that the compiler checks, with the type of the values.
///
///     let population = City.keys.population  // AttributeKey<Int64>
///     let request = FetchRequest<City>(where: population > 1_000_000, sortedBy: [population.descending])
///     let names = try context.fetchValues(request.select { ($0.name, $0.country.name) })
///
/// Compare it with a value or another key, calculate with it, sort by it, or select it as a column. It is also the key of
/// ``FrozenObject`` and ``FetchedRow`` subscripts and of upserts (``UpsertKey``).
///
/// A key of an optional attribute has an optional `Value`. Through a to-one relationship that may be nil, the value may be
/// missing even if the attribute is required.
public struct AttributeKey<Value>: PredicateOperand, Sendable {
    /// The type of the attribute, optional if the attribute is.
    public typealias Operand = Value
    /// The path from the fetched object to the attribute.
    public let path: TypedPath

    /// Creates the key of the attribute that a path leads to.
    public init(_ path: TypedPath) { self.path = path }
    /// Creates the key of an attribute, by its name, of the object that a path leads to.
    public init(_ path: TypedPath, _ name: String) { self.path = path.appending(name) }

    /// The attribute as one side of a comparison.
    public var expression: FetchExpression { path.expression }
}

/// The key of a to-one relationship, from which the keys of the destination continue.
///
///     let inPeru = City.where { $0.country == peru }
///     let inAmerica = City.where { $0.country.continent.name.hasSuffix("America") }
///     let request = FetchRequest<City>(sortedBy: [City.keys.country.name.ascending], prefetch: [City.keys.country])
///
/// Compare it with an object, an ID or nil, continue to a property of the destination, or use it as a path to prefetch. If the
/// relationship is nil, everything after it is nil: `$0.country.name == nil` is true then, and `$0.country.population > 0` is
/// false.
///
/// To get the ID of the related object as a column, pass the key's `objectID` to `select`.
@dynamicMemberLookup
public struct ToOneKey<Keys: EntityKeys>: ObjectOperand, RelationshipKey, Sendable {
    /// The class of the destination.
    public typealias Object = Keys.Object
    /// The path from the fetched object to the relationship.
    public let path: TypedPath

    /// Creates the key of the to-one relationship that a path leads to.
    public init(_ path: TypedPath) { self.path = path }
    /// Creates the key of a to-one relationship, by its name, of the object that a path leads to.
    public init(_ path: TypedPath, _ name: String) { self.path = path.appending(name) }

    /// A key of the destination, with the path through this relationship.
    public subscript<T>(dynamicMember member: KeyPath<Keys, T>) -> T { Keys(path: path)[keyPath: member] }
}

/// The key of a to-many relationship, for conditions on its members, aggregates and prefetching.
///
///     let large = Country.where { $0.cities.any { $0.population > 1_000_000 } }
///     let sorted = FetchRequest<Continent>(sortedBy: [Continent.keys.countries.cities.count.descending])
///     let request = FetchRequest<Country>(prefetch: [Country.keys.cities, Country.keys.neighbours.then(\.continent)])
///
/// See ``ToManyOperand`` for what you can ask of the members. A relationship of the members continues the key:
/// `$0.countries.cities` are the cities of all countries of a continent. Attributes of the members do not continue it, because
/// there is a value for each member; use a closure such as that of `any`, or an aggregate such as `max(\.population)`.
///
/// To prefetch a relationship of the members, continue with `then`.
@dynamicMemberLookup
public struct ToManyKey<Keys: EntityKeys>: ToManyOperand, RelationshipKey, Sendable {
    /// The path from the fetched object to the relationship.
    public let path: TypedPath

    /// Creates the key of the to-many relationship that a path leads to.
    public init(_ path: TypedPath) { self.path = path }
    /// Creates the key of a to-many relationship, by its name, of the object that a path leads to.
    public init(_ path: TypedPath, _ name: String) { self.path = path.appending(name) }

    /// The members as a collection.
    public var expression: FetchExpression { path.expression }

    /// The key of a relationship of the members: of all objects that it leads to from any of them.
    public subscript<Key: RelationshipKey>(dynamicMember member: KeyPath<Keys, Key>) -> ToManyKey<Key.Keys> {
        ToManyKey<Key.Keys>(Keys(path: path)[keyPath: member].path)
    }
}

/// The key of a relationship, to-one or to-many: ``ToOneKey`` and ``ToManyKey`` conform.
///
///     func names<Key: RelationshipKey>(_ key: Key) -> [String] { key.path.names }
///     print(names(City.keys.country.continent))  // ["country", "continent"]
///
/// The protocol lets a to-many key continue with any relationship of its members, so `$0.countries.cities` and
/// `$0.cities.country` are keys. Use it in generic code that needs to know where a relationship leads. To name relationships that
/// a fetch reads together with its objects, there is ``PrefetchPath``, which also takes text.
public protocol RelationshipKey {
    /// The keys of the entity that the relationship leads to.
    associatedtype Keys: EntityKeys
    /// The path from the fetched object to the relationship.
    var path: TypedPath { get }
}
