import StrataStore

/// The members of a to-many relationship of one object, as the condition of a query.
///
/// Some services keep the members of a relationship apart from its object, and give them only on request:
///
///     var query = RemoteQuery(entity: model.entity(named: "Tag")!)
///     query.memberOf = RemoteMembership(entity: model.entity(named: "Post")!, id: "p1", relationship: "tags")
///
/// A store sends such a query when an app loads or prefetches the relationship, if the dialect says that records do not list
/// the members. See ``RemoteCapabilities/Features/memberQueries`` and ``RemoteDialect/lists(_:of:)``.
public struct RemoteMembership: Sendable {
    /// The entity of the object that has the relationship.
    public var entity: EntityDescription
    /// Its primary key.
    public var id: String
    /// The name of the relationship. The query is of its destination.
    public var relationship: String

    /// Names a relationship of an object.
    public init(entity: EntityDescription, id: String, relationship: String) {
        self.entity = entity
        self.id = id
        self.relationship = relationship
    }
}
