/// The typed keys of a class: generated code adds a member for each property, in an extension for the objects of the
/// class. Keys of a subclass have those of its ancestors, too.
///
///     let large = City.keys.population > 100_000
///     let peruvian = City.keys.country.countryId == "PE"
///     let cities = try context.fetch(FetchRequest<City>(where: large && peruvian))
///
/// One generic struct for all classes, because a struct for each makes the compiler work for each.
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
