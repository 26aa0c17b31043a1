/// The typed keys of a class, for conditions and orders that the compiler checks.
///
///     let large = City.keys.population > 100_000
///     let peruvian = City.keys.country.countryId == "PE"
///     let cities = try context.fetch(FetchRequest<City>(where: large && peruvian))
///
/// You get the keys as `City.keys`, and as the argument of closures such as that of `City.where`. The generator adds a member
/// for each property, in an extension for the objects of the class. Keys of a subclass include those of its ancestors.
///
/// A property that does not exist, or a value of another type, is a compiler error. If you know names only at run time, write
/// the condition as a format: ``FetchPredicate/init(format:_:)``.
///
/// There is one generic struct for all classes, because a struct for each would make the compiler slower.
public struct ObjectKeys<Object: ManagedObject>: EntityKeys, Sendable {
    /// The way from the object of a fetch to the one whose keys these are.
    public let path: TypedPath

    /// Keys at the end of a way.
    public init(path: TypedPath = []) { self.path = path }
}

extension ManagedObjectProtocol where Self: ManagedObject {
    /// Typed keys for predicates and sorting.
    public static var keys: ObjectKeys<Self> { ObjectKeys() }
}
