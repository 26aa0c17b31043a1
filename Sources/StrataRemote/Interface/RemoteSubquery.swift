import StrataStore

/// A condition on the objects of a query by what another query finds, which the server evaluates.
///
///     // Comments on posts with a picture, and posts by people who live where a team is at home.
///     let comments = FetchRequest<Comment>().options(
///         RemoteOptions(subqueries: [.leads("post", to: "Post", where: try FetchPredicate(format: "image != nil"))]))
///     let posts = FetchRequest<Post>().options(RemoteOptions(subqueries: [.has("city", sameAs: "home", of: "Team")]))
///
/// Several sub-queries and the condition of the fetch must all hold; `!` negates one. The entity and the properties are named
/// as in the model. The server may limit how many objects the other query finds; set ``limit`` and ``sorts`` to choose them.
///
/// The mirror cannot evaluate it: a fetch with sub-queries needs the network, and one under ``FetchPolicy/cacheOnly`` throws
/// `StoreError.unsupported`, as do back ends without ``RemoteCapabilities/Features/subqueries``.
public struct RemoteSubquery: Sendable, Hashable {
    /// The property of the fetched objects: a to-one relationship, or an attribute.
    public var property: String
    /// The attribute of the other query's objects that has the same value; nil if the relationship leads to those objects.
    public var key: String?
    /// The name of the entity of the other query.
    public var entity: String
    /// The condition of the other query; nil for all objects.
    public var predicate: FetchPredicate?
    /// The order of the other query, where it has a limit.
    public var sorts: [FetchSort] = []
    /// The maximum number of objects that the other query finds; nil for the server's own maximum.
    public var limit: Int?
    /// Whether to find the objects that do not meet it.
    public var isNegated: Bool

    /// Describes a condition.
    public init(
        property: String, key: String? = nil, entity: String, predicate: FetchPredicate? = nil, isNegated: Bool = false
    ) {
        self.property = property
        self.key = key
        self.entity = entity
        self.predicate = predicate
        self.isNegated = isNegated
    }

    /// A relationship leads to an object that a query finds.
    public static func leads(
        _ relationship: String, to entity: String, where predicate: FetchPredicate? = nil
    ) -> RemoteSubquery {
        RemoteSubquery(property: relationship, entity: entity, predicate: predicate)
    }

    /// An attribute has the value that another attribute has in an object that a query finds.
    public static func has(
        _ property: String, sameAs key: String, of entity: String, where predicate: FetchPredicate? = nil
    ) -> RemoteSubquery {
        RemoteSubquery(property: property, key: key, entity: entity, predicate: predicate)
    }

    /// The opposite.
    public static prefix func ! (subquery: RemoteSubquery) -> RemoteSubquery {
        var copy = subquery
        copy.isNegated.toggle()
        return copy
    }
}
