/// A path through relationships, for ``FetchRequest/prefetch``: the typed key of a relationship, or text with dots.
///
///     let request = FetchRequest<City>(prefetch: [City.keys.country.continent])
///     let same = FetchRequest<City>(prefetch: ["country.continent"])
///     let countries = FetchRequest<Country>(prefetch: [Country.keys.cities, Country.keys.neighbours.then(\.continent)])
///
/// All steps of a path are read, so `country.continent` includes `country`. To continue after a to-many relationship, use
/// `then(_:)`. Attributes are not steps: they come with their objects. In text, a name that is not a relationship makes the
/// fetch throw. The same paths tell ``ManagedObjectContext/load(_:of:options:)`` what to read, and
/// ``ManagedObject/encoding(including:excluding:includesNil:)`` what to encode in full.
public protocol PrefetchPath: Sendable {
    /// The names of the relationships, one after the other.
    var prefetchPath: [String] { get }
}

extension String: PrefetchPath {
    /// The names between the dots.
    public var prefetchPath: [String] { split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
}

extension ToOneKey: PrefetchPath {
    /// The path to the relationship.
    public var prefetchPath: [String] { path.names }
}

extension ToManyKey: PrefetchPath {
    /// The path to the relationship.
    public var prefetchPath: [String] { path.names }

    /// Goes on from the members: `Country.keys.cities.then(\.tags)`.
    public func then<Next: EntityKeys>(_ next: KeyPath<Keys, ToManyKey<Next>>) -> ToManyKey<Next> {
        Keys(path: path)[keyPath: next]
    }

    /// Goes on from the members: `Country.keys.cities.then(\.mayor)`.
    public func then<Next: EntityKeys>(_ next: KeyPath<Keys, ToOneKey<Next>>) -> ToOneKey<Next> {
        Keys(path: path)[keyPath: next]
    }
}
