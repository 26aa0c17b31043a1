/// A path through relationships of any kind, for ``FetchRequest/prefetch``: a typed key of a relationship, or text with
/// dots.
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
